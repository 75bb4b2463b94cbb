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
        isGone { try defaults.flush() }
        // What has found it has noted it for the others.
        isGone { try defaults.set(2, forKey: "n") }
        isGone { _ = try defaults.increment("n") }
        isGone { try channel.post(bytes: [2]) }
        isGone { try sample.container.coordinator(purpose: "test").blocking.lock(.writing("a")).unlock() }
    }

    @Test func `durable changes of items in a moved container are refused, although nobody follows it`() throws {
        let sample = try SampleContainer()
        let coordinator = sample.container.coordinator(purpose: "test").blocking
        try coordinator.coordinate(.writing("a")) { try $0.write(bytes: [1], to: "a") }
        // The access lasts while the container is moved.
        let error = #expect(throws: CoordinationError.self) {
            try coordinator.coordinate(.writing("a")) { access in
                try Self.remove(sample, moving: true)
                try access.write(bytes: [2], to: "a")
            }
        }
        #expect(error?.code == .notFound && error.map { "\($0)".contains("was moved") } == true)
        for body in [
            { _ = try coordinator.coordinate(.writing("a")) { try $0.write(bytes: [1], to: "a") } },
            { _ = try coordinator.coordinate(.writing("b")) { try $0.write(bytes: [2], to: "b") } },
            { _ = try coordinator.coordinate(.writing("a", .forDeleting)) { try $0.remove("a") } },
        ] as [() throws -> Void] {
            let error = #expect(throws: CoordinationError.self) { try body() }
            #expect(error?.code == .notFound)
        }
        let script = #"cd "$0.old" && test "$(ls)" = a && test "$(wc -c < a)" = 1"#
        try sample.temporary.run("sh", "-c", script, "\(sample.container.path)")
    }

    @Test(arguments: [false, true]) func `a request that waits for a lock meanwhile is refused`(moving: Bool) throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        let holding = LockHolding(coordinator, .writing("a"))
        let waiting = Side {
            try coordinator.blocking.coordinate(.writing("a"), durability: .relaxed) {
                try $0.write(bytes: [1], to: "a")
            }
        }
        #expect(try eventually { try sample.isWaited(for: "a") })
        try Self.remove(sample, moving: moving)
        try holding.end()
        let error = #expect(throws: CoordinationError.self) { try waiting.answer() }
        let reason = error.map { "\($0)" } ?? ""
        #expect(error?.code == .notFound && reason.contains(moving ? "was moved" : "was removed"), "\(reason)")
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
