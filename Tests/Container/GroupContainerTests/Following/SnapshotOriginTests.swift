import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Following from a snapshot` {
    private func all(_ follower: inout Follower<Change>) throws -> [Change] {
        var changes: [Change] = []
        while let change = try follower.next(timeout: .zero) { changes.append(change) }
        return changes
    }

    private func prepared() throws -> SampleContainer {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        for path in ["b/c/d", "a", "gone", "b-"] as [ItemPath] { _ = try tester.write(bytes: [1, 2], to: path) }
        try tester.remove("gone")
        try tester.move("a", to: "b/a")
        return sample
    }

    @Test func `a follower from a snapshot gets all items, directories first, then a bookmark, then changes`() throws {
        let sample = try prepared()
        var follower = try sample.container.follow(since: .snapshot)
        let changes = try all(&follower)
        #expect(
            changes.map(\.summary) == [
                "present b", "present b-", "present b/a", "present b/c", "present b/c/d", "bookmark ",
            ])
        // Cursors behind the same change differ if a new leader's record, which is not counted, lies between them.
        #expect(changes.last?.cursor.sequence == 8 && follower.cursor.sequence == 8)
        #expect(changes.allSatisfy { $0.sequence == 8 })
        #expect(changes[2].type == .file && changes[2].size == 2 && changes[2].generation == 8)
        #expect(changes[3].type == .directory && changes[3].author == nil)
        _ = try sample.coordinator().blocking.write(bytes: [1], to: "later")
        #expect(try all(&follower).map(\.summary) == ["created later"])
    }

    @Test func `resuming from a place within a snapshot gives a rescan`() throws {
        let sample = try prepared()
        var follower = try sample.container.follow(since: .snapshot)
        let first = try #require(try follower.next(timeout: .zero))
        for cursor in [first.cursor, follower.cursor] {
            var again = try sample.container.recordedChanges(since: .cursor(cursor))
            #expect(try all(&again).map(\.kind) == [.rescan])
        }
    }

    @Test func `a snapshot contains external changes from before, though no process watched`() throws {
        let sample = try prepared()
        try sample.temporary.run("sh", "-c", "mkdir f && echo x > f/foreign && rm b/a")
        var follower = try sample.container.recordedChanges(since: .snapshot)
        #expect(
            try all(&follower).map(\.path.description) == ["b", "b-", "b/c", "b/c/d", "f", "f/foreign", ""])
    }

    @Test func `a snapshot can follow a rescan, and is filtered as other changes are`() throws {
        let (sample, other) = (try prepared(), try prepared())
        let foreign = try other.container.status().cursor
        var follower = try sample.container.follow(
            since: .cursor(foreign), matching: ["b/**"], afterRescan: .snapshot)
        let changes = try all(&follower)
        #expect(
            changes.map(\.summary) == ["rescan ", "present b/a", "present b/c", "present b/c/d", "bookmark "])
        #expect(follower.cursor.sequence == 8)
        var again = try sample.container.recordedChanges(since: .cursor(changes[0].cursor))
        #expect(try again.next(timeout: .zero)?.kind == .rescan, "the place behind a rescan is not reached before")
    }

    @Test func `an asynchronous sequence from a snapshot gets all items`() async throws {
        let sample = try prepared()
        var paths: [String] = []
        for try await change in sample.container.changes(since: .snapshot) {
            paths.append(change.path.description)
            if change.kind == .bookmark { break }
        }
        #expect(paths == ["b", "b-", "b/a", "b/c", "b/c/d", ""])
    }

    @Test func `a snapshot and the changes after it make the tree, while another thread changes it`() throws {
        let sample = try SampleContainer()
        let container = sample.container
        let writer = Side {
            var random = SeededGenerator(seed: faultSeed)
            let coordinator = container.coordinator(purpose: "writer").blocking
            for number in 0..<400 {
                let path = ItemPath("f\(number % 7)/\(Int.random(in: 0..<20, using: &random))")
                if number % 5 == 4 {
                    _ = try? coordinator.remove(path, durability: .relaxed)
                } else {
                    _ = try coordinator.write(
                        bytes: [UInt8](repeating: 1, count: number), to: path, durability: .relaxed)
                }
            }
        }
        var copies: [ModelCopy] = []
        var followers: [Follower<Change>] = []
        for _ in 0..<20 {
            var follower = try container.recordedChanges(since: .snapshot)
            var copy = ModelCopy()
            while let change = try follower.next(timeout: .zero) {
                copy.apply(change)
                if change.kind == .bookmark { break }
            }
            copies.append(copy)
            followers.append(follower)
        }
        try writer.answer()
        var picture = ModelCopy()
        for change in try sample.container.recordedChanges(since: .start).collected() { picture.apply(change) }
        for index in copies.indices {
            for change in try followers[index].collected() { copies[index].apply(change) }
            #expect(copies[index] == picture)
        }
    }
}

extension Follower<Change> {
    /// Returns the changes that there are by now.
    func collected() throws -> [Change] {
        var follower = self
        var changes: [Change] = []
        while let change = try follower.next(timeout: .zero) { changes.append(change) }
        return changes
    }
}
