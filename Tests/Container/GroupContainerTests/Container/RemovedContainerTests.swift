import GroupLocking
import TestSupport
import Testing

@testable import GroupContainer

/// A member whose container another program removes, or moves.
@Suite struct `A container that is gone` {
    private static func remove(_ sample: SampleContainer, moving: Bool) throws {
        let path = "\(sample.container.path)"
        let script = moving ? #"mv "$0" "$0.old" && mkdir "$0""# : #"rm -rf "$0""#
        try sample.temporary.run("sh", "-c", script, path)
    }

    @Test(arguments: [false, true]) func `durable sets and locks are refused at once`(moving: Bool) throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "n", durability: .durable)
        let channel = try GroupChannel(sample.container, name: "c")
        try channel.post(bytes: [1])
        try Self.remove(sample, moving: moving)
        func isGone(_ body: () throws -> Void) {
            let error = #expect(throws: CoordinationError.self) { try body() }
            let reason = error.map { "\($0)" } ?? ""
            #expect(error?.code == .notFound && reason.contains(moving ? "was moved" : "was removed"))
        }
        isGone { try defaults.set(2, forKey: "n", durability: .durable) }
        isGone { _ = try defaults.increment("n", durability: .durable) }
        isGone { try defaults.transaction(durability: .durable) { $0.set(3, forKey: "n") } }
        isGone { try channel.post(bytes: [2], durability: .durable) }
        isGone { try sample.container.coordinator(purpose: "test").blocking.lock(.writing("a")).unlock() }
    }

    @Test(arguments: [false, true]) func `other sets and requests are refused once a member has noted it`(moving: Bool)
        throws
    {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "n")
        let channel = try GroupChannel(sample.container, name: "c")
        try channel.post(bytes: [1])
        try Self.remove(sample, moving: moving)
        // As the leader does.
        sample.container.opened.memberTable.noteRemoval()
        for body in [
            { try defaults.set(2, forKey: "n") }, { _ = try defaults.increment("n") },
            { _ = try defaults.compareAndSet(forKey: "n", from: 1, to: 2) },
            { try channel.post(bytes: [2]) },
            { try sample.container.coordinator(purpose: "test").blocking.coordinate(.writing("a")) { _ in } },
        ] as [() throws -> Void] {
            #expect(throws: CoordinationError.self) { try body() }
        }
        #expect(defaults.value(forKey: "n") == 1)
    }

    @Test func `what is noted and not so refuses nothing`() throws {
        let sample = try SampleContainer()
        sample.container.opened.memberTable.noteRemoval()
        try GroupDefaults(sample.container).set(1, forKey: "n")
        try sample.container.coordinator(purpose: "test").blocking.coordinate(.writing("a")) { _ in }
    }
}
