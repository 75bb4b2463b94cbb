import GroupBytes
import GroupLocking
import GroupSystemCalls

/// The questions of one request to the presenters of its items, from its first look to the end of its access. Used by
/// one thread at a time.
///
///     lock ─▶ look: is a presenter in the way? ─ no ─▶ grant each answer ─▶ access ─▶ over ─▶ unlock
///      ▲        │ yes                                     │ one was withdrawn
///      │        ▼                                         │
///      └── ask side by side, and wait ◀── unlock ◀────────┘
///
/// No lock is held while presenters are asked, because their answers need locks. (The locks of a request around this
/// one are: a circle through them ends in `deadlock`.) So another presenter may come meanwhile; only that, and a
/// withdrawal, cause another round.
final class Inquiry: Sendable {
    private let container: OpenContainer
    private let request: AccessRequest
    private let deadline: Deadline
    /// The owner of the request in the graph of waits, and whether it may be waited for while it asks: it has locks
    /// around it, or helps to answer another question.
    private let owner: WaitGraph.Owner
    private let isAwaited: Bool
    private let state = Guarded(State())

    private struct State: Sendable {
        /// The presenters in the way that have to be asked.
        var missing: [Missing] = []
        var asked: [Asked] = []
        var unresponsive: [CoordinationError.Holder] = []
        /// The number of this request's questions; 0: none was asked.
        var round: UInt64 = 0
        var isCancelled = false
    }

    private struct Missing: Sendable {
        var entry: PresenterTable.Entry
        var wanted: PresenterQuestions
        /// The item that is requested: the presented one, or one above or below it.
        var item: ItemLocation
    }

    private struct Asked: Sendable {
        var presenter: PresenterTable.Entry
        var item: ItemLocation
        var wanted: PresenterQuestions
        /// Where the question is; nil until a slot is free.
        var question: (slot: Question.Slot, word: Question.Word)?
        var phase = Phase.waiting
        /// How long the presenter has had to answer, in nanoseconds.
        var waited: Int64 = 0
        /// What was in the slots of the presenter's questions when none was free.
        var others: [Question.Word] = []

        enum Phase: Sendable { case waiting, answered, granted, passedOver }
    }

    init(_ grant: GrantedRequest) {
        request = grant.request
        container = grant.request.container
        deadline = grant.deadline
        owner = grant.frame.lock.owner
        isAwaited = grant.frame.outer != nil || request.answering != nil
    }

    /// Returns whether a request has to look for presenters, with its locks held: whether there may be one in
    /// the way, or the request is part of an answer. A few loads.
    static func isNeeded(_ grant: GrantedRequest) -> Bool {
        if grant.request.answering != nil { return true }
        // The locks were taken before this: a presenter whose bit is not seen here comes after the grant.
        SharedMap.fence()
        return grant.request.container.memberTable.mayHavePresenter(of: grant.frame.lock)
    }

    /// The presenters that did not answer in time.
    var unresponsive: [CoordinationError.Holder] { state.withLock { $0.unresponsive } }

    // MARK: Under the locks

    /// Looks for presenters in the way of what was locked. Returns true if there is none, and every presenter that was
    /// asked knows that the request is granted. Otherwise the caller ends its locks, calls `ask`, and locks again.
    /// Errors: `conflict`, where the request is part of an answer that is no longer awaited; `damaged`, `newerFormat`
    func isGranted(_ concern: PresenterConcern) throws(CoordinationError) -> Bool {
        try request.answering?.checkStands(request.operation, item: concern.label)
        SharedMap.fence()
        if concern.isEmpty || container.isReadOnly { return true }
        let hasPresenters = container.memberTable.hasPresenters
        var departed = DepartedPresenters()
        let isGranted = try state.withLock { (state) throws(CoordinationError) -> Bool in
            if !hasPresenters && state.asked.isEmpty { return true }
            let table = try container.presenterTableInUse()
            try look(concern, table, &state, &departed)
            while state.missing.isEmpty {
                // Where entries were read as zeros, there may be more presenters.
                try container.locating { () throws(CoordinationError) in try table.checkIsWhole() }
                guard let withdrawn = grantAll(table, &state) else { return true }
                state.asked.remove(at: withdrawn)
                try look(concern, table, &state, &departed)
            }
            return false
        }
        departed.remove(from: container)
        return isGranted
    }

    /// The presenters whose bits a request met, and that are no longer there.
    private struct DepartedPresenters {
        var dead: [PresenterTable.Entry] = []
        var hasFreeEntry = false

        /// Only tidies. Does not wait.
        func remove(from container: OpenContainer) {
            for entry in dead { container.removePresenter(entry.index, number: entry.number) }
            if hasFreeEntry && dead.isEmpty { container.hideFreeEntries() }
        }
    }

    /// Looks for the presenters that have to be asked. One that did not answer an earlier request, and has done nothing
    /// since, is passed over at once. Errors: `presenterUnresponsive` if the coordinator wants that
    private func look(
        _ concern: PresenterConcern, _ table: PresenterTable, _ state: inout State, _ departed: inout DepartedPresenters
    ) throws(CoordinationError) {
        state.missing = []
        for one in inTheWay(of: concern, table, state, &departed) {
            guard table.isPassedOver(one.entry.index) else {
                state.missing.append(one)
                continue
            }
            state.asked.append(
                Asked(presenter: one.entry, item: one.item, wanted: one.wanted, phase: .passedOver))
            // One that can do something does, and is asked the next time.
            table.wakePresenters(of: one.entry.slot)
            try passOver(state.asked.count - 1, &state)
        }
    }

    /// Returns the presenters in the way that have not been asked.
    private func inTheWay(
        of concern: PresenterConcern, _ table: PresenterTable, _ state: State, _ departed: inout DepartedPresenters
    ) -> [Missing] {
        var found: [Missing] = []
        for index in container.memberTable.presenterEntries() {
            guard let entry = table.entry(index) else {
                departed.hasFreeEntry = true
                continue
            }
            if entry.number == request.presenter?.number { continue }
            let wanted = concern.questions(to: entry.item).intersection(entry.answers)
            let isAsked = state.asked.contains {
                $0.presenter.number == entry.number && ($0.phase == .passedOver || $0.wanted.isSuperset(of: wanted))
            }
            if wanted.isEmpty || isAsked || request.answering?.exempts(entry) == true { continue }
            if container.isAlive(entry) {
                found.append(Missing(entry: entry, wanted: wanted, item: concern.item(of: entry.item)))
            } else {
                departed.dead.append(entry)
            }
        }
        return found
    }

    /// Grants every answer. Returns the index of one that was withdrawn; then none is granted.
    private func grantAll(_ table: PresenterTable, _ state: inout State) -> Int? {
        for index in state.asked.indices where state.asked[index].phase == .answered {
            guard let (slot, word) = state.asked[index].question else { continue }
            if table.change(slot, word, to: .granted) {
                state.asked[index].question?.word.state = .granted
                state.asked[index].phase = .granted
                continue
            }
            // A presenter that has ended is in no way any more, and is not asked again.
            ungrantAll(table, &state)
            return index
        }
        return nil
    }

    private func ungrantAll(_ table: PresenterTable, _ state: inout State) {
        for index in state.asked.indices where state.asked[index].phase == .granted {
            guard let (slot, word) = state.asked[index].question else { continue }
            if table.change(slot, word, to: .answered) { state.asked[index].question?.word.state = .answered }
            state.asked[index].phase = .answered
        }
    }

    // MARK: Without the locks

    /// Asks the presenters in the way, side by side, and waits for their answers, blocking the thread. Errors:
    /// `presenterFailed`, `presenterUnresponsive` if the coordinator wants that, `lockTimedOut`, `cancelled`. System
    /// calls: futex_waitv, fcntl(F_OFD_GETLK) each 100 ms
    func ask() throws(CoordinationError) {
        let table = try container.presenterTableInUse()
        state.withLock { state in
            if state.round == 0 { state.round = table.drawNumber() }
            state.asked += state.missing.map { Asked(presenter: $0.entry, item: $0.item, wanted: $0.wanted) }
            state.missing = []
        }
        do throws(CoordinationError) {
            if deadline.isOver { throw timedOut }
            try waitForAnswers(table)
        } catch {
            end()
            throw error
        }
    }

    /// The form of `ask` for a task: the wait has a thread of its own, and ends when the task is cancelled.
    func askElsewhere() async throws {
        try await withTaskCancellationHandler {
            try await OwnThread.run { try self.ask() }
        } onCancel: {
            cancel()
        }
    }

    /// How often each side looks whether the other one lives.
    static let period: Int64 = 100_000_000

    private func waitForAnswers(_ table: PresenterTable) throws(CoordinationError) {
        guard let slot = container.memberTable.slot else { return }
        var (last, looked) = (monotonicNanoseconds(), monotonicNanoseconds())
        while true {
            let seen = Interruption.latest
            let count = table.answerCount(of: slot)
            let now = monotonicNanoseconds()
            let isLooking = now - looked >= Self.period
            if isLooking { looked = now }
            // If this process was stopped, or the machine suspended, the presenters may have been, too.
            let passed = min(now - last, 2 * Self.period)
            last = now
            let isWaiting = try state.withLock { (state) throws(CoordinationError) -> Bool in
                if state.isCancelled { throw cancelled }
                try put(in: table, &state)
                try takeAnswers(table, &state, after: passed, looking: isLooking)
                return state.asked.contains { $0.phase == .waiting }
            }
            if !isWaiting { return }
            if deadline.isOver { throw timedOut }
            table.awaitAnswer(slot, after: count, since: seen, atMost: min(Self.period, deadline.remaining ?? .max))
        }
    }

    /// Writes questions into free slots, and wakes the presenters' processes. All slots are claimed, with the number
    /// of the round, before the first presenter can begin to answer: none of them asks another one of the round.
    private func put(in table: PresenterTable, _ state: inout State) throws(CoordinationError) {
        guard let slot = container.memberTable.slot else { return }
        var claimed: [Int] = []
        for index in state.asked.indices
        where state.asked[index].phase == .waiting && state.asked[index].question == nil {
            let presenter = state.asked[index].presenter
            let word = Question.Word(claimedBy: slot, nonce: container.memberTable.nonce, number: table.drawNumber())
            guard let free = Question.Slot.all(of: presenter.index).first(where: { table.claim($0, word) }) else {
                continue
            }
            table.write(
                Question.Content(
                    nonce: container.memberTable.nonce, presenter: presenter.number,
                    madeFor: request.presenter?.number ?? 0, round: state.round, owner: owner,
                    wanted: state.asked[index].wanted, deadline: deadline.moment, askedAt: wallNanoseconds(),
                    purpose: request.purpose,
                    item: state.asked[index].item.shortened(to: PresenterTableLayout.askedPathBytes - 1)),
                at: free)
            state.asked[index].question = (free, word)
            claimed.append(index)
        }
        for index in claimed {
            guard let (slot, word) = state.asked[index].question, table.change(slot, word, to: .asked) else {
                continue
            }
            state.asked[index].question?.word.state = .asked
            table.setTicket(container.memberTable.drawTicket(), at: slot)
            table.wakePresenters(of: state.asked[index].presenter.slot)
        }
        try lookForCircle(table, claimed.compactMap { state.asked[$0].question?.slot })
    }

    /// Throws if one of the presenters waits, in its answer to another question, for this request. Errors: `deadlock`
    private func lookForCircle(_ table: PresenterTable, _ slots: [Question.Slot]) throws(CoordinationError) {
        guard isAwaited, let ticket = slots.map(table.ticket).max() else { return }
        if container.lockManager.isInCircle(owner, ticket: ticket) {
            throw CoordinationError(
                .deadlock, operation: request.operation, item: printable(request.label),
                reason: "its presenter answers another request, and that waits for this one",
                remedy: .init(.releaseLocks, "request all items at once, or none while a question is answered"))
        }
    }

    /// Takes the answers that are there, and passes over presenters that are gone or whose time is over.
    private func takeAnswers(
        _ table: PresenterTable, _ state: inout State, after passed: Int64, looking: Bool
    ) throws(CoordinationError) {
        for index in state.asked.indices.reversed() where state.asked[index].phase == .waiting {
            let presenter = state.asked[index].presenter
            let isThere = table.entry(presenter.index)?.number == presenter.number
            if !isThere || looking && !container.isAlive(presenter) {
                // What it failed at last is an answer, too.
                if let (slot, word) = state.asked[index].question, let last = table.word(at: slot),
                    last.isSame(as: word), last.state == .failed
                {
                    throw failed(presenter, table.failure(at: slot))
                }
                let departed = state.asked.remove(at: index)
                end(departed, table)
                continue
            }
            guard let (slot, word) = state.asked[index].question else {
                try waitForSlot(index, table, &state, passed)
                continue
            }
            guard let present = table.word(at: slot), present.isSame(as: word) else {
                // The presenter has answered and withdrawn: it is asked again, if it is still in the way.
                state.asked.remove(at: index)
                continue
            }
            state.asked[index].question?.word = present
            switch present.state {
            case .answered: state.asked[index].phase = .answered
            case .failed: throw failed(presenter, table.failure(at: slot))
            case .over: state.asked.remove(at: index)
            default:
                state.asked[index].waited += passed
                if state.asked[index].waited < grace { continue }
                table.setPassedOver(true, presenter.index, of: presenter.number)
                if table.change(slot, present, to: .passedOver) {
                    try passOver(index, &state)
                } else {
                    // The presenter has just taken a step.
                    table.setPassedOver(false, presenter.index, of: presenter.number)
                }
            }
        }
    }

    private var grace: Int64 { request.presenterGrace.nanoseconds }

    /// A presenter with as many questions as there is room for counts as hanging if none of them moves.
    private func waitForSlot(
        _ index: Int, _ table: PresenterTable, _ state: inout State, _ passed: Int64
    ) throws(CoordinationError) {
        let others = Question.Slot.all(of: state.asked[index].presenter.index).compactMap(table.word)
        // A granted request keeps its slot for as long as it uses the item.
        let moves = others != state.asked[index].others || others.allSatisfy { $0.state == .granted }
        state.asked[index].others = others
        state.asked[index].waited = moves ? 0 : state.asked[index].waited + passed
        if state.asked[index].waited < grace { return }
        let presenter = state.asked[index].presenter
        table.setPassedOver(true, presenter.index, of: presenter.number)
        try passOver(index, &state)
    }

    private func passOver(_ index: Int, _ state: inout State) throws(CoordinationError) {
        state.asked[index].phase = .passedOver
        state.asked[index].question?.word.state = .passedOver
        // One that ends just now cannot answer any more, and is no one to wait for.
        guard let presenter = container.holder(state.asked[index].presenter) else { return }
        state.unresponsive.append(presenter)
        if request.needsAnswers { throw unresponsive(presenter) }
        container.diagnostics.report(
            .presenterUnresponsive, item: presenter.item,
            "\(presenter) presents it and did not answer in time; what it has not saved is not in the item")
    }

    /// Ends the wait for answers, because the request was cancelled.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        Interruption.raise()
    }

    // MARK: The end

    /// Ends all questions: their presenters reacquire. To be called before the locks are ended, so that a process that
    /// is stopped in between keeps no presenter waiting for anything but its lock. A second call does nothing.
    func end(changes: ClosedRange<UInt64>? = nil) {
        let asked = state.withLock { state in
            defer { (state.asked, state.missing) = ([], []) }
            return state.asked
        }
        guard !asked.isEmpty, let table = try? container.presenterTable() else { return }
        for one in asked { end(one, table, changes) }
    }

    private func end(_ asked: Asked, _ table: PresenterTable, _ changes: ClosedRange<UInt64>? = nil) {
        guard let (slot, word) = asked.question else { return }
        if let changes, table.word(at: slot)?.isSame(as: word) == true { table.setChanges(changes, at: slot) }
        while let present = table.word(at: slot), present.isSame(as: word), present.state != .over {
            // A question that was not begun needs nothing more of its presenter.
            let isBegun = present.state != .asked && present.state != .claimed
            if table.change(slot, present, to: isBegun ? .over : .free) { break }
        }
        table.wakePresenters(of: asked.presenter.slot)
    }

    deinit { end() }
}

extension Inquiry {
    private var cancelled: CoordinationError {
        CoordinationError(
            .cancelled, operation: request.operation, item: printable(request.label),
            reason: "the request was cancelled while presenters were asked")
    }

    private var timedOut: CoordinationError {
        let waiting = state.withLock { $0.asked.filter { $0.phase == .waiting } }
        return CoordinationError(
            .lockTimedOut, operation: request.operation, item: printable(request.label),
            reason: "a presenter did not answer within the time limit",
            holders: waiting.compactMap { container.holder($0.presenter) })
    }

    private func failed(_ presenter: PresenterTable.Entry, _ failure: String) -> CoordinationError {
        CoordinationError(
            .presenterFailed, operation: request.operation, item: printable(presenter.item.bytes),
            reason: "its presenter failed: \(failure)", holders: container.holder(presenter).map { [$0] } ?? [])
    }

    private func unresponsive(_ presenter: CoordinationError.Holder) -> CoordinationError {
        CoordinationError(
            .presenterUnresponsive, operation: request.operation, item: presenter.item,
            reason: "its presenter did not answer in time", holders: [presenter])
    }
}

extension ItemLocation {
    /// Returns the path, or that of the nearest directory above it which is not longer.
    fileprivate func shortened(to count: Int) -> [UInt8] {
        bytes.count <= count ? bytes : ancestors.last { $0.bytes.count <= count }?.bytes ?? []
    }
}
