import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Locks on items` {
    // fault: lock-timeout
    @Test func `a lock that is not granted in time names its holder`() throws {
        let sample = try SampleContainer()
        let start = wallNanoseconds()
        let waiter = sample.coordinator("waiter")
        let held = LockHolding(sample.coordinator("holder"), .writing("file"))
        let error = #expect(throws: CoordinationError.self) {
            try waiter.blocking.write(bytes: [1], to: "file", timeout: .milliseconds(20))
        }
        #expect(error?.code == .lockTimedOut)
        #expect(error?.item == "file" && error?.operation == "write")
        #expect(error?.holders.map(\.processIdentifier) == [processIdentifier()])
        #expect(error?.holders.map(\.purpose) == ["holder"])
        #expect(
            error?.holders.allSatisfy { $0.sinceNanoseconds >= start && $0.sinceNanoseconds <= wallNanoseconds() }
                == true)
        #expect(error?.description.contains("process \(processIdentifier()) (holder, '") == true)
        try held.end()
        #expect(try sample.isQuiet())
    }

    @Test func `an error about a lock names its holder's purpose, also where the process has another`() throws {
        let sample = try SampleContainer()
        let held = LockHolding(sample.coordinator("holder"), .writing("file"))
        let error = #expect(throws: CoordinationError.self) {
            try sample.coordinator("waiter").blocking.readBytes("file", timeout: .zero)
        }
        #expect(error?.holders.map(\.purpose) == ["holder"])
        #expect(error?.holders.map(\.item) == ["file"] && error?.holders.map(\.isWriting) == [true])
        #expect(error?.holders.map(\.condition) == [.running])
        #expect(error?.holders.first?.command?.isEmpty == false)
        try held.end()
    }

    @Test func `a request that only tries is not noticed by other requests`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = LockHolding(tester, .writing("file"))
        let tickets = { sample.container.opened.memberTable.map.load64(MemberTableLayout.ticket) }
        let before = tickets()
        for _ in 0..<3 {
            let error = await #expect(throws: CoordinationError.self) {
                try await tester.coordinate(.writing("file"), .writing("other"), timeout: .zero) { (_: Access) in }
            }
            #expect(error?.code == .lockTimedOut && error?.holders.count == 1)
        }
        #expect(tickets() == before, "each request that waits draws a ticket")
        await #expect(throws: CoordinationError.self) {
            try await tester.readBytes("file", timeout: .milliseconds(500))
        }
        #expect(tickets() > before)
        try held.end()
        #expect(try await tester.write(bytes: [1], to: "file", timeout: .zero).isChanged)
        #expect(try sample.isQuiet())
    }

    @Test func `a task whose lock is not granted in time gets an error that names the holder`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = LockHolding(tester, .writing("file"))
        for timeout in [Duration.zero, .milliseconds(20)] {
            let error = await #expect(throws: CoordinationError.self) {
                try await tester.readBytes("file", timeout: timeout)
            }
            #expect(error?.code == .lockTimedOut)
            #expect(error?.holders.map(\.purpose) == ["tester"])
        }
        try held.end()
        #expect(try await tester.write(bytes: [1], to: "file", timeout: .zero) == .written(1))
    }

    @Test func `a lock with a timeout of zero is granted at once or not at all`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        #expect(try tester.blocking.write(bytes: [1], to: "file", timeout: .zero) == .written(1))
        let held = LockHolding(tester, .writing("file"))
        for timeout in [Duration.zero, .seconds(-5)] {
            #expect(code { try tester.blocking.readBytes("file", timeout: timeout) } == .lockTimedOut)
        }
        try held.end()
        #expect(try tester.blocking.readBytes("file", timeout: .zero) == [1])
    }

    @Test func `a lock for reading is shared, and a lock for writing is exclusive`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        _ = try tester.blocking.write(bytes: [1], to: "file")
        let held = LockHolding(tester, .reading("file"))
        #expect(try tester.blocking.readBytes("file", timeout: .zero) == [1])
        #expect(code { try tester.blocking.write(bytes: [2], to: "file", timeout: .zero) } == .lockTimedOut)
        #expect(try tester.blocking.write(bytes: [2], to: "other", timeout: .zero) == .written(2))
        try held.end()
    }

    // fault: readers-without-pause
    @Test func `a lock is not given to later readers before a waiting writer`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = LockHolding(tester, .reading("file"))
        let writer = Side { try tester.blocking.write(bytes: [1], to: "file", timeout: patience) }
        #expect(try eventually { try sample.isWaited(for: "file") })
        #expect(code { try tester.blocking.readBytes("file", timeout: .zero) } == .lockTimedOut)
        try held.end()
        #expect(try writer.answer() == .written(1))
        #expect(try tester.blocking.readBytes("file", timeout: .zero) == [1])
    }

    @Test func `the container's status shows the locks that are held and awaited`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = LockHolding(tester, .reading("read"), .writing("written"))
        let holding = try sample.holding().sorted { $0.path < $1.path }
        #expect(holding.map(\.path) == ["read", "written"])
        #expect(holding.map(\.isWriting) == [false, true])
        let waiter = Side { try tester.blocking.write(bytes: [1], to: "read", timeout: patience) }
        #expect(try eventually { try sample.waiting().map(\.path) == ["read"] })
        try held.end()
        _ = try waiter.answer()
        #expect(try sample.holding().isEmpty && sample.waiting().isEmpty)
    }

    @Test func `a request for more than 1,024 items is refused`() throws {
        let sample = try SampleContainer()
        let intents = (0...1_024).map { AccessIntent.reading("item-\($0)") }
        func request(_ intents: [AccessIntent]) throws {
            try sample.coordinator().blocking.run(ItemCall(operation: "read", intents: intents), .relaxed, .zero) { _ in
            }
        }
        #expect(code { try request(intents) } == .limitReached)
        try request(Array(intents.dropLast()))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Accesses to items` {
    @Test func `an access that is kept after its closure is refused`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        var kept: Access?
        try tester.coordinate(.writing("file")) { access in
            _ = try access.write(bytes: [1], to: "file")
            kept = access
        }
        let access = try #require(kept)
        #expect(code { try access.readBytes("file") } == .invalidArgument)
        #expect(code { try access.write(bytes: [2], to: "file") } == .invalidArgument)
        #expect(try tester.readBytes("file") == [1])
    }

    @Test func `an access covers only its items, and only as they were requested`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        try tester.coordinate(.reading("a"), .writing("b")) { (access) throws in
            #expect(try access.readBytes("a") == [1])
            #expect(code { try access.write(bytes: [2], to: "a") } == .invalidArgument)
            #expect(code { try access.readBytes("c") } == .invalidArgument)
            #expect(try access.readBytesIfPresent("b") == nil)
            #expect(try access.write(bytes: access.readBytes("a"), to: "b") == .written(2))
            #expect(try access.readBytes("b") == [1])
        }
    }
}
