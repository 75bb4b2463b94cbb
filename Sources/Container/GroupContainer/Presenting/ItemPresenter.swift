import GroupSystemCalls

/// An object that shows an item to its user, or a directory with everything below it, and may have changes of it that
/// are not on the disk. Other processes' requests for the item ask it first: see `Container.present(_:at:)`.
///
/// The methods are called one after the other, each when the one before has returned. Those that answer a question may
/// read and write the item with a coordinator: such a request carries the question, and does not ask this presenter.
/// A write that comes too late, when the request went on without the answer, ends in `conflict`. A request that is made
/// by an answer and waits for another presenter that waits for this one ends in `deadlock`.
public protocol ItemPresenter: AnyObject, Sendable {
    /// The questions that this presenter answers. A presenter that answers none is informed of changes, and no request
    /// takes longer for it.
    var answers: PresenterQuestions { get }

    /// Lets go of the item, because another process is about to read it, or to write it. `reacquire(after:)` follows
    /// exactly once.
    func relinquish(to accessor: PresenterAccessor) async throws

    /// Writes what is not on the disk yet.
    func saveChanges() async throws

    /// Closes the item, because it is about to be removed or replaced.
    func accommodateDeletion() async throws

    /// Shows the item again after `relinquish(to:)`, with the change that the other process made; nil where it made
    /// none, or has ended. Called before this: `didChange(_:)` with each change up to then.
    func reacquire(after change: Change?) async

    /// Takes note of a change of the item or of an item below it, which this presenter did not make; also of the
    /// markers `rescan` and `degraded`. Each change comes once, in order.
    func didChange(_ change: Change) async

    /// Takes note of the item's new path. Requests for the new path ask this presenter.
    func didMove(to path: ItemPath) async

    /// Takes note that nothing is presented any more, because the container was removed, or cannot be read.
    func didEnd(_ error: CoordinationError) async
}

extension ItemPresenter {
    /// All questions.
    public var answers: PresenterQuestions { .all }
    /// Does nothing.
    public func relinquish(to accessor: PresenterAccessor) async throws {}
    /// Does nothing.
    public func saveChanges() async throws {}
    /// Does nothing.
    public func accommodateDeletion() async throws {}
    /// Does nothing.
    public func reacquire(after change: Change?) async {}
    /// Does nothing.
    public func didChange(_ change: Change) async {}
    /// Does nothing.
    public func didMove(to path: ItemPath) async {}
    /// Does nothing.
    public func didEnd(_ error: CoordinationError) async {}
}

/// The process for which a presenter lets go of its item.
public struct PresenterAccessor: Hashable, Sendable {
    /// Whether the process writes the item, rather than reading it.
    public var isWriter: Bool
    /// The identifier of the process, in its own PID namespace.
    public var processIdentifier: Int32
    /// The purpose of the coordinator that asks.
    public var purpose: String
    /// The item that is requested: the presented one, or one above or below it. Of a path that is longer than 199
    /// bytes, a directory above it.
    public var item: ItemPath
}

/// A presenter whose methods block: for commands, which use no tasks.
package struct PresenterCalls: Sendable {
    package var answers: PresenterQuestions
    /// Answers a question: relinquishes, saves, accommodates deletion, as far as that is wanted.
    package var answer: @Sendable (PresenterQuestions, PresenterAccessor, AnsweredQuestion) throws -> Void
    /// The answer, or the failure, is there for the request, also if this process ends now.
    package var didAnswer: @Sendable () -> Void
    package var reacquire: @Sendable (Change?) -> Void
    package var didChange: @Sendable (Change) -> Void
    /// Gets the item's present path, and whether this presenter's own requester moved it.
    package var didMove: @Sendable (ItemPath, _ isOwn: Bool) -> Void
    package var didEnd: @Sendable (CoordinationError) -> Void

    package init(
        answers: PresenterQuestions,
        answer: @escaping @Sendable (PresenterQuestions, PresenterAccessor, AnsweredQuestion) throws -> Void,
        didAnswer: @escaping @Sendable () -> Void = {},
        reacquire: @escaping @Sendable (Change?) -> Void = { _ in },
        didChange: @escaping @Sendable (Change) -> Void = { _ in },
        didMove: @escaping @Sendable (ItemPath, _ isOwn: Bool) -> Void = { _, _ in },
        didEnd: @escaping @Sendable (CoordinationError) -> Void = { _ in }
    ) {
        self.answers = answers
        self.answer = answer
        self.didAnswer = didAnswer
        self.reacquire = reacquire
        self.didChange = didChange
        self.didMove = didMove
        self.didEnd = didEnd
    }
}

extension PresenterCalls {
    /// Makes the calls of a presenter, each in a task for which the calling thread waits.
    init(_ presenter: some ItemPresenter) {
        self.init(
            answers: presenter.answers,
            answer: { wanted, accessor, question in
                // The task does not have what the calling thread has.
                try Self.await {
                    try await question.within {
                        if wanted.relinquishes { try await presenter.relinquish(to: accessor) }
                        if wanted.contains(.saveChanges) { try await presenter.saveChanges() }
                        if wanted.contains(.accommodateDeletion) { try await presenter.accommodateDeletion() }
                    }
                }
            },
            reacquire: { change in Self.await { await presenter.reacquire(after: change) } },
            didChange: { change in Self.await { await presenter.didChange(change) } },
            didMove: { path, _ in Self.await { await presenter.didMove(to: path) } },
            didEnd: { error in Self.await { await presenter.didEnd(error) } })
    }

    private static func await(_ body: @escaping @Sendable () async -> Void) {
        let end = OneShotEvent<Void>()
        Task {
            await body()
            end.set(())
        }
        _ = end.block()
    }

    private static func await(_ body: @escaping @Sendable () async throws -> Void) throws {
        let end = OneShotEvent<Result<Void, any Error>>()
        Task {
            do {
                try await body()
                end.set(.success(()))
            } catch {
                end.set(.failure(error))
            }
        }
        if case .happened(let result) = end.block() { try result.get() }
    }
}
