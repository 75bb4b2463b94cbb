import GroupSystemCalls
import TestSupport

@testable import GroupContainer

/// A presenter that records its calls, and does what a test says for each question.
final class RecordingPresenter: ItemPresenter {
    let answers: PresenterQuestions
    private let calls = Guarded([String]())
    private let onSave: @Sendable () async throws -> Void
    private let onRelinquish: @Sendable () async throws -> Void

    init(
        _ answers: PresenterQuestions = .all, relinquish: @escaping @Sendable () async throws -> Void = {},
        save: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.answers = answers
        onRelinquish = relinquish
        onSave = save
    }

    /// The calls so far.
    var text: [String] { calls.withLock { $0 } }

    private func note(_ call: String) { calls.withLock { $0.append(call) } }

    func relinquish(to accessor: PresenterAccessor) async throws {
        note(accessor.isWriter ? "to writer" : "to reader")
        try await onRelinquish()
    }

    func saveChanges() async throws {
        note("save")
        try await onSave()
    }

    func accommodateDeletion() async throws { note("deletion") }

    func reacquire(after change: Change?) async {
        note("reacquire " + (change.map { "\($0.kind.name) \($0.path)" } ?? "-"))
    }

    func didChange(_ change: Change) async { note("\(change.kind.name) \(change.path)") }

    func didMove(to path: ItemPath) async { note("moved to \(path)") }

    func didEnd(_ error: CoordinationError) async { note("ended \(error.code.rawValue)") }

    /// Waits until a call was made, and returns all up to then.
    func calls(until last: String) async -> [String] {
        _ = await eventually { text.contains(last) }
        return text
    }
}
