import GroupSystemCalls

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
