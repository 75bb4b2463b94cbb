import GroupBytes
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// A container in a temporary directory.
struct SampleContainer {
    let temporary: TemporaryDirectory
    let container: Container

    /// Names of items that do not share a range of the lock file, as any two do once in 2,047 containers, nor a bucket
    /// of the member table, as any two do once in 256: tests hold one and expect another to be free.
    private static let apart = ["a", "b", "c", "d", "e", "n", "directory"]

    init(in place: String = TestFiles.directory) throws {
        var made = try Self.make(in: place)
        for _ in 0..<60 where try !Self.areApart(made.container.opened.hashKey) { made = try Self.make(in: place) }
        (temporary, container) = made
    }

    private static func make(in place: String) throws -> (temporary: TemporaryDirectory, container: Container) {
        let temporary = try TemporaryDirectory(in: place)
        return (temporary, try Container(path: temporary.path, creating: true))
    }

    private static func areApart(_ key: SipHash) throws -> Bool {
        let ranges = try apart.map { name in
            try LockRange(ItemPath(stringLiteral: name).location(for: "test"), key: key)
        }
        let buckets = ranges.flatMap { [$0.bucket, $0.subtree.bucket] }
        return Set(ranges.map(\.subtree.start)).count == apart.count && Set(buckets).count == buckets.count
    }

    func coordinator(_ purpose: String = "tester") -> Coordinator { container.coordinator(purpose: purpose) }

    /// Returns the accesses that members wait for.
    func waiting() throws -> [ContainerStatus.Lock] {
        try container.status().members.flatMap(\.locks).filter(\.isWaiting)
    }

    func holding() throws -> [ContainerStatus.Lock] {
        try container.status().members.flatMap(\.locks).filter { !$0.isWaiting }
    }

    func isWaited(for path: String) throws -> Bool { try waiting().contains { $0.path == path } }

    /// Returns whether no lock is held or awaited, and no trace of earlier ones is left.
    func isQuiet() throws -> Bool {
        try waiting().isEmpty && holding().isEmpty && container.opened.lockManager.turns.isQuiet
            && !container.opened.memberTable.isAnythingContended
    }

    /// Returns the journal's changes, each as kind and path.
    func history(since cursor: Cursor? = nil) throws -> [String] {
        var follower = try container.recordedChanges(since: cursor.map { .cursor($0) } ?? .start)
        var lines: [String] = []
        while let change = try follower.next(timeout: .zero) { lines.append("\(change.kind.name) \(change.path)") }
        return lines
    }
}

/// Locks of an open file description that no queue of this process knows of, as another process's locks are.
final class OtherMemberLock: Sendable {
    private let sample: SampleContainer
    private let handle: LockFile.Handle

    init(_ sample: SampleContainer, _ intents: AccessIntent...) throws {
        self.sample = sample
        handle = try sample.container.opened.lockFile.borrow()
        for intent in intents {
            let range = LockRange(try intent.path.location(for: "test"), key: sample.container.opened.hashKey)
            let mode = try #require(intent.mode(concernsDirectory: true))
            #expect(try handle.tryStep(LockPlan.Part(range, mode).whole))
        }
    }

    func end() { sample.container.opened.lockFile.giveBack(handle) }
}

/// A lock that another thread holds until `end`.
final class LockHolding: Sendable {
    private let granted = Event()
    private let released = Event()
    private let side: Side<Void>

    init(_ coordinator: Coordinator, _ intents: AccessIntent...) {
        side = Side { [granted, released] in
            try coordinator.blocking.run(ItemCall(operation: "hold", intents: intents), .relaxed, patience) { _ in
                granted.happen()
                _ = released.await()
            }
        }
        _ = granted.await()
    }

    func end() throws {
        released.happen()
        try side.answer()
    }
}
