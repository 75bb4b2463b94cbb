import Testing

@testable import GroupContainer
@testable import GroupLocking

@Suite struct `Errors of public calls` {
    private func error(_ body: () throws -> Void) -> CoordinationError? {
        do {
            try body()
        } catch {
            return error as? CoordinationError
        }
        return nil
    }

    @Test func `an error of a public call names its container, also within a closure`() throws {
        let sample = try SampleContainer()
        let (path, tester) = (sample.container.path.description, sample.coordinator().blocking)
        let missing = error { _ = try tester.readBytes("a") }
        #expect(missing?.code == .notFound && missing?.containerPath == path && missing?.item == "a")
        #expect(missing?.remedy?.code == .checkPath && missing?.cause != nil)
        let text = "cannot read 'a' in '\(path)': No such file or directory; check the path"
        #expect(missing?.description == text)
        var within: CoordinationError?
        try tester.coordinate([.writing("a")]) { access in
            within = error { _ = try access.write(bytes: [1], to: "b") }
        }
        #expect(within?.containerPath == path && within?.remedy?.code == .nameInRequest)
        let malformed = error { try tester.remove("a/") }
        #expect(malformed?.containerPath == path && malformed?.code == .invalidArgument)
        let staged = error { _ = try tester.transaction(.writing("a")) { try $0.readBytes("a") } }
        #expect(staged?.containerPath == path && staged?.code == .notFound)
        let suite = try GroupDefaults(sample.container, suite: "s")
        let long = error { try suite.set(.string("x"), forKey: String(repeating: "k", count: 1 << 20)) }
        #expect(long?.containerPath == path && long?.code == .limitReached)
        #expect(error { _ = try GroupDefaults(sample.container, suite: "a/b") }?.containerPath == path)
        let channel = try GroupChannel(sample.container, name: "c")
        #expect(error { _ = try channel.listener(named: "") }?.containerPath == path)
    }

    @Test func `an error about the container itself, or of a closure's own, names no container`() throws {
        let none = error { _ = try Container(path: "/nowhere/at/all") }
        #expect(none?.item == "/nowhere/at/all" && none?.containerPath == nil && none?.remedy?.code == .createContainer)
        let sample = try SampleContainer()
        let own = CoordinationError(.conflict, operation: "print", item: "page", reason: "the printer is off")
        let thrown = error { try sample.coordinator().blocking.coordinate([.reading("a")]) { _ in throw own } }
        #expect(thrown == own && thrown?.description == "cannot print 'page': the printer is off")
    }

    @Test func `errors are compared without the error below them`() {
        var other = CoordinationError(.notFound, operation: "read", reason: "gone")
        let one = other
        other.cause = one
        #expect(one == other)
        other.remedy = CoordinationError.Remedy(.checkPath, "look")
        #expect(one != other)
    }

    @Test(arguments: [
        (Duration.zero, "at once"), (.seconds(30), "within 30 s"), (.milliseconds(1_500), "within 1.5 s"),
        (.nanoseconds(9_994_100_000), "within 10 s"), (.nanoseconds(1_001), "within 1 ms"),
    ]) func `an error about a lock names the time of the wait`(timeout: Duration, text: String) throws {
        let sample = try SampleContainer()
        let path = Array("a".utf8)
        let request = LockRequest(path, .exclusive, by: sample.container.opened.lockManager, for: [])
        let found = CoordinationError(.timedOut([]), operation: "write", of: request, timeout: timeout)
        #expect(found.reason == "the exclusive lock was not granted \(text)" && found.remedy == nil)
    }
}
