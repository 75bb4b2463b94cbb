import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// A container in a temporary directory.
struct SampleContainer {
    let temporary: TemporaryDirectory
    let container: Container

    init(in place: String = TestFiles.directory) throws {
        temporary = try TemporaryDirectory(in: place)
        try TemporaryContainer.make(at: temporary.path)
        container = try Container(path: temporary.path)
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
