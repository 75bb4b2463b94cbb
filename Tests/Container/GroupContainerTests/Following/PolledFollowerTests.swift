import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite(.ownThreads) struct `Followers with a descriptor` {
    private let sample: SampleContainer
    private let coordinator: BlockingCoordinator

    init() throws {
        sample = try SampleContainer()
        coordinator = sample.coordinator().blocking
    }

    /// Returns whether a descriptor becomes ready to be read within some milliseconds.
    private func isReady(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) == 1
    }

    /// Takes everything that there is.
    private func drain(_ follower: PolledFollower<Change>) throws -> [String] {
        var paths: [String] = []
        while let change = try follower.next() { paths.append(change.path.description) }
        return paths
    }

    private var longest: Int32 { Int32(patience.components.seconds * 1_000) }

    @Test func `the descriptor is ready at the beginning, then only when there is a change`() throws {
        let follower = try PolledFollower(sample.container.follow(since: .now))
        #expect(isReady(follower.fileDescriptor, within: longest))
        #expect(try drain(follower).isEmpty)
        // The leader's first records may come yet, which are no changes.
        try sample.container.noteUncoordinatedChanges()
        for _ in 0..<10 where isReady(follower.fileDescriptor, within: 50) { #expect(try drain(follower).isEmpty) }
        #expect(!isReady(follower.fileDescriptor, within: 50))
        try coordinator.write(bytes: [1], to: "a")
        #expect(isReady(follower.fileDescriptor, within: longest))
        #expect(try drain(follower) == ["a"])
        #expect(follower.cursor == (try sample.container.status().cursor))
    }

    @Test func `a change that is taken before the descriptor is ready leaves no change unreported`() throws {
        let follower = try PolledFollower(sample.container.follow(since: .now))
        var found = try drain(follower)
        for number in 0..<200 {
            try coordinator.write(bytes: [1], to: ItemPath("\(number)"), durability: .relaxed)
            // Half of the changes are taken at once, whether the descriptor is ready by then or not.
            if number % 2 == 0 { found += try drain(follower) }
        }
        while found.count < 200 && isReady(follower.fileDescriptor, within: longest) { found += try drain(follower) }
        #expect(found == (0..<200).map { "\($0)" })
    }

    @Test func `a debounced follower's descriptor is ready when the path has been quiet`() throws {
        let changes = try sample.container.follow(since: .now).debounced(for: .milliseconds(20))
        let follower = try PolledFollower(changes)
        _ = try drain(follower)
        try coordinator.write(bytes: [1], to: "a")
        try coordinator.write(bytes: [2], to: "a")
        var found: [String] = []
        while found.isEmpty && isReady(follower.fileDescriptor, within: longest) { found += try drain(follower) }
        #expect(found == ["a"])
    }

    @Test func `a listener's name is free at once when its last follower is closed`() throws {
        let channel = try GroupChannel(sample.container, name: "c")
        // Its thread is about to wait, or waits, when the follower is closed.
        for _ in 0..<1_000 {
            let follower = try PolledFollower(channel.listener(named: "l"))
            #expect(try follower.next() == nil)
        }
    }

    @Test func `a listener's descriptor is ready when there is a message`() throws {
        let channel = try GroupChannel(sample.container, name: "c")
        let follower = try PolledFollower(channel.listener(named: "l"))
        #expect(try follower.next() == nil)
        try channel.post(bytes: [7])
        #expect(isReady(follower.fileDescriptor, within: longest))
        #expect(try follower.next()?.bytes == [7] && follower.next() == nil)
    }

    @Test func `a wait with a limit ends with it, and with a token`() throws {
        let follower = try PolledFollower(sample.container.follow(since: .now))
        #expect(try follower.next(timeout: .milliseconds(1)) == nil)
        let token = CancellationToken()
        token.cancel()
        #expect(try follower.next(timeout: nil, orUntil: token) == nil)
        try coordinator.write(bytes: [1], to: "a")
        #expect(try follower.next(timeout: nil)?.path == "a")
    }

    @Test func `the container's removal makes the descriptor ready, and is an error`() throws {
        let follower = try PolledFollower(sample.container.follow(since: .now))
        _ = try drain(follower)
        try sample.temporary.run("rm", "-rf", ".group")
        var code: CoordinationError.Code?
        while code == nil && isReady(follower.fileDescriptor, within: longest) {
            do { _ = try drain(follower) } catch let error as CoordinationError { code = error.code }
        }
        #expect(code == .notFound)
    }

    @Test func `its thread and descriptors end with it`() throws {
        func descriptors() throws -> Int {
            try FileDescriptor.open(path: Array("/proc/self/fd".utf8), [.reading, .directory]).entryNames().count
        }
        let other = try sample.container.follow(since: .now)
        let before = try descriptors()
        for _ in 0..<50 {
            let follower = try PolledFollower(sample.container.follow(since: .now))
            _ = try follower.next()
        }
        withExtendedLifetime(other) {}
        // Other tests of this process open descriptors, too.
        #expect(try eventually { try descriptors() < before + 50 })
    }
}
