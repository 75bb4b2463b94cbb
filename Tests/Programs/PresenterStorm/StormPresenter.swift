import GroupContainer
import GroupSystemCalls
import PresenterModel

/// A presenter of a worker. It has a version that is not on the disk from its registration on, and after each
/// reacquisition.
final class StormPresenter: Sendable {
    private let plan: Schedule.Presentation
    private unowned let worker: StormWorker
    private let state = Guarded(State())

    private struct State: Sendable {
        var presentation: Presentation?
        var (version, saved) = (0, 0)
        var replies = 0
        /// The answer that is being made: how, and to which request.
        var reply = Schedule.Reply(action: .nothing)
        var request = ""
    }

    init(_ plan: Schedule.Presentation, of worker: StormWorker) { (self.plan, self.worker) = (plan, worker) }

    var isPresented: Bool { state.withLock { $0.presentation != nil } }

    func coordinator(purpose: String) -> Coordinator? {
        state.withLock(\.presentation)?.coordinator(purpose: purpose)
    }

    func present() throws {
        edit()
        write(.presenting, "item=\(plan.item) answers=\(plan.answers)")
        let item = ItemPath(plan.item)
        let presentation =
            worker.plan.isBlocking
            ? try worker.container.present(calls, at: item) : try worker.container.present(self, at: item)
        state.withLock { $0.presentation = presentation }
        write(.presented)
    }

    func withdraw() {
        // A question may come before this knows its presentation.
        guard let presentation = state.withLock(\.presentation) else { return }
        write(.withdrawing)
        presentation.end()
        write(.withdrawn)
    }

    private func write(_ word: StormEvent.Word, _ fields: String = "") {
        worker.events.write(word, "as=\(plan.name) \(fields)")
    }

    private func edit() {
        let version = state.withLock { state in
            state.version += 1
            return state.version
        }
        write(.edited, "version=\(version)")
    }

    // MARK: Answers

    /// Begins the answer to the next question.
    private func begin(_ questions: Questions, _ request: String) {
        // What is asked at the end of a schedule is answered at once.
        let isLast = request.hasPrefix("final") || worker.isOver
        if isLast { worker.events.disarm() }
        state.withLock { state in
            state.reply = isLast ? .init(action: .nothing) : plan.replies[state.replies % plan.replies.count]
            state.request = request
            state.replies += 1
        }
        write(.asked, "request=\(request) questions=\(questions)")
    }

    private func end(_ questions: Questions, failed: Bool = false) {
        let (request, saved, version) = state.withLock { ($0.request, $0.saved, $0.version) }
        write(
            failed ? .failed : .answered,
            "request=\(request) questions=\(questions) saved=\(saved) version=\(version)")
    }

    private func call(_ intent: Intent) -> StormCall {
        let request = Schedule.Request(name: worker.nextAnswer(), intents: [intent], timeout: 1_000_000, grace: 150_000)
        let own = coordinator(purpose: request.name)
        return StormCall(
            request: request, coordinator: own ?? worker.container.coordinator(purpose: request.name),
            presenter: own == nil ? nil : plan.name, answering: (state.withLock(\.request), plan.name))
    }

    private struct Refused: Error {}

    private enum Work {
        case none
        case save(StormCall, version: Int)
        case request(StormCall)
    }

    /// Returns the request that an answer makes. `isSaving`: whether what is not saved is to be.
    private func work(isSaving: Bool) throws -> Work {
        let reply = state.withLock(\.reply)
        switch reply.action {
        case .nothing: return .none
        case .fail: throw Refused()
        case .withdraw:
            withdraw()
            return .none
        case .read(let path): return .request(call(Intent(.read, path)))
        case .write(let path): return .request(call(Intent(.write, path)))
        case .save:
            let (saved, version) = state.withLock { ($0.saved, $0.version) }
            if !isSaving || saved == version { return .none }
            let item = state.withLock(\.presentation)?.path.description ?? plan.item
            let document = plan.document.isEmpty ? item : "\(item)/\(plan.document)"
            return .save(call(Intent(.write, document)), version: version)
        }
    }

    private func note(_ outcome: StormCall.Outcome, saved version: Int) {
        state.withLock { $0.saved = version }
        write(
            .saved, "version=\(version) item=\(outcome.item) generation=\(outcome.generation.map { "\($0)" } ?? "-")")
    }

    private var delay: Int64 { Int64(state.withLock(\.reply.delay)) * 1_000 }

    private func showAgain() {
        write(.reacquired)
        if !worker.isOver { edit() }
    }
}

// MARK: Calls that block

extension StormPresenter {
    private var calls: PresenterCalls {
        PresenterCalls(
            answers: PresenterQuestions(rawValue: plan.answers.rawValue),
            answer: { [self] wanted, accessor, _ in
                let questions = Questions(rawValue: wanted.rawValue)
                begin(questions, accessor.purpose)
                do {
                    pause(nanoseconds: delay)
                    switch try work(isSaving: true) {
                    case .none: break
                    case .save(let call, let version): note(try worker.performBlocking(call), saved: version)
                    case .request(let call): try worker.performBlocking(call)
                    }
                } catch {
                    end(questions, failed: true)
                    throw error
                }
                end(questions)
            },
            reacquire: { [self] _ in showAgain() })
    }
}

// MARK: Calls that suspend

extension StormPresenter: ItemPresenter {
    var answers: PresenterQuestions { PresenterQuestions(rawValue: plan.answers.rawValue) }

    func relinquish(to accessor: PresenterAccessor) async throws {
        let questions: Questions = accessor.isWriter ? .writer : .reader
        begin(questions, accessor.purpose)
        // A presenter that saves does so when it is asked to; before a writer, it has no later chance.
        try await answer(questions, isSaving: accessor.isWriter)
    }

    func saveChanges() async throws { try await answer(.save, isSaving: true) }

    func accommodateDeletion() async throws { end(.deletion) }

    func reacquire(after change: Change?) async { showAgain() }

    private func answer(_ questions: Questions, isSaving: Bool) async throws {
        do {
            pause(nanoseconds: delay)
            switch try work(isSaving: isSaving) {
            case .none: break
            case .save(let call, let version): note(try await worker.perform(call), saved: version)
            case .request(let call): try await worker.perform(call)
            }
        } catch {
            end(questions, failed: true)
            throw error
        }
        state.withLock { state in
            // What was done for one part of the question is not done again for the next one.
            if case .save = state.reply.action { return }
            state.reply = .init(action: .nothing)
        }
        end(questions)
    }
}
