import GroupBytes
import GroupLocking
import GroupSystemCalls

/// A presenter of this process, with the events that it has not got yet. Its calls are made one after the other, on a
/// thread that exists only while there are some.
final class PresentedItem: Sendable {
    let number: UInt64
    let entry: Int
    let calls: PresenterCalls
    /// The sequence number of the last change before the registration.
    let start: UInt64
    private let container: OpenContainer
    private let table: PresenterTable
    private let state: Guarded<State>

    private struct State: Sendable {
        var item: ItemLocation
        var inbox: [Event] = []
        var isWorking = false
        var hasEnded = false
        /// The questions that are in the inbox or were answered, by their slots.
        var questions: [Question.Slot: Known] = [:]
        /// The changes while questions were open.
        var recent: [Change] = []
        /// The operations of this presenter's own changes that were not met in the journal yet.
        var own = Set<[UInt8]>()
    }

    /// A question that was put into the inbox.
    private struct Known: Sendable {
        var word: Question.Word
        /// Whether its answer was begun, so that the presenter is to reacquire.
        var isBegun = false
        /// Whether its end is in the inbox.
        var isOver = false
    }

    enum Event: Sendable {
        case change(Change)
        /// The item is at another path; `isOwn` if this presenter's own requester moved it.
        case moved(ItemPath, isOwn: Bool)
        case question(Question.Slot, Question.Word)
        case over(Question.Slot, Question.Word)
        case ended(CoordinationError)
    }

    init(
        _ entry: PresenterTable.Entry, _ calls: PresenterCalls, start: UInt64, in container: OpenContainer,
        _ table: PresenterTable
    ) {
        number = entry.number
        self.entry = entry.index
        self.calls = calls
        self.start = start
        self.container = container
        self.table = table
        state = Guarded(State(item: entry.item))
    }

    var item: ItemLocation { state.withLock { $0.item } }

    // MARK: Questions

    /// Takes the questions in the table, and returns those that are to be put into the inbox; the presenter reacquires
    /// when all are over. `looking`: whether to ask the kernel which of the processes that ask live. Returns also
    /// whether there is any question.
    func takeQuestions(looking: Bool) -> (events: [Event], isOpen: Bool) {
        // While a call is made, only its end shows that the presenter can answer.
        if state.withLock({ !$0.isWorking }) { noteAble() }
        var (events, ended, isOpen, isAwaited) = ([Event](), [(Question.Slot, Question.Word)](), false, false)
        for slot in Question.Slot.all(of: entry) {
            guard let word = table.word(at: slot) else { continue }
            isOpen = true
            switch take(word, at: slot, looking: looking) {
            case .nothing: break
            case .new: (isAwaited, events) = (true, events + [.question(slot, word)])
            case .awaited: isAwaited = true
            case .over(let end): ended.append((slot, end))
            }
        }
        // While one request has an answer, the presenter must not change the item for the sake of another one's end.
        if !isAwaited { events += ended.compactMap(reacquisition) }
        if !isOpen { state.withLock { ($0.recent, $0.questions) = ([], [:]) } }
        return (events, isOpen)
    }

    /// Notes that the presenter does what it is asked: requests that had passed it over ask it again.
    private func noteAble() { table.setPassedOver(false, entry, of: number) }

    private enum Taken {
        case nothing, new, awaited
        case over(Question.Word)
    }

    private func take(_ word: Question.Word, at slot: Question.Slot, looking: Bool) -> Taken {
        if word.state == .claimed {
            let present = container.memberTable.map.load64(MemberTableLayout.slot(word.asker) + MemberTableLayout.nonce)
            if looking && !(word.isOf(present) && container.memberTable.isAlive(word.asker)) { free(slot, word) }
            return .nothing
        }
        let content = table.content(at: slot)
        // The entry was another presenter's when the question was written.
        if content.presenter != number {
            free(slot, word)
            return .nothing
        }
        if word.state != .over {
            if looking && !container.memberTable.isAlive(word.asker, nonce: content.nonce) {
                // What the process left half done is recorded before the presenter reacquires.
                container.repairDead(in: [word.asker])
                return end(word, at: slot)
            }
            let isPast = monotonicNanoseconds() > content.deadline
            if isPast && [.answered, .failed, .passedOver].contains(word.state) { return end(word, at: slot) }
        }
        switch word.state {
        case .asked:
            return state.withLock { state in
                if state.questions[slot]?.word.isSame(as: word) == true { return .awaited }
                state.questions[slot] = Known(word: word)
                return .new
            }
        case .over: return .over(word)
        default: return .awaited
        }
    }

    /// Ends a question whose request will not end it.
    private func end(_ word: Question.Word, at slot: Question.Slot) -> Taken {
        // An answer that is being made is awaited: its own step finds that the question is over.
        guard table.change(slot, word, to: .over) else { return .awaited }
        var end = word
        end.state = .over
        return .over(end)
    }

    /// Returns the event for a question that is over: the presenter reacquires where it has begun to answer; else the
    /// slot is free at once.
    private func reacquisition(_ slot: Question.Slot, _ word: Question.Word) -> Event? {
        let isBegun = state.withLock { state -> Bool? in
            guard let known = state.questions[slot], known.word.isSame(as: word) else { return false }
            if known.isOver { return nil }
            state.questions[slot]?.isOver = true
            return known.isBegun
        }
        if isBegun == false { free(slot, word) }
        return isBegun == true ? .over(slot, word) : nil
    }

    private func free(_ slot: Question.Slot, _ word: Question.Word) {
        if table.change(slot, word, to: .free) { table.wakeAskers(of: word.asker) }
    }

    // MARK: Changes

    /// Notes that this presenter makes a change, of which it is not informed.
    func noteOwn(_ operation: [UInt8]) {
        state.withLock { state in if !state.hasEnded { state.own.insert(operation) } }
    }

    /// Returns the events for a record's changes.
    func events(for changes: [Change], operation: [UInt8]) -> [Event] {
        state.withLock { state in
            let isOwn = state.own.remove(operation) != nil
            var events: [Event] = []
            for change in changes where change.sequence.rawValue > start {
                if change.kind.isMarker {
                    events.append(.change(change))
                    continue
                }
                guard let location = try? ItemLocation(change.path.bytes) else { continue }
                let other = change.kind.otherPath.flatMap { try? ItemLocation($0.bytes) }
                if let other, let moved = state.item.afterMove(change.kind, from: other, to: location) {
                    state.item = moved
                    events.append(.moved(ItemPath(bytes: moved.bytes), isOwn: isOwn))
                    continue
                }
                guard [location, other].contains(where: { $0.map { state.item.isConcerned(by: $0, change) } == true })
                else {
                    continue
                }
                if !isOwn { events.append(.change(change)) }
                if !state.questions.isEmpty { state.recent = state.recent.suffix(255) + [change] }
            }
            return events
        }
    }

    /// Writes the item's location into the table where it is another one: the item was moved by a program that did not
    /// do that, or the entry by a member that moved something else which was at this location before. Does nothing if
    /// there is more to be read, as the entry may be ahead.
    func updateEntry(unless hasMore: () -> Bool) {
        let item = self.item
        guard let entry = table.entry(entry), entry.number == number, entry.item != item else { return }
        try? container.withPresenterEntries("move the presenter of", patience: .seconds(1)) {
            (table) throws(CoordinationError) in
            guard !hasMore(), let now = table.entry(entry.index), now.number == number, now.item != item else { return }
            container.move(now, to: item, in: table)
        }
    }

    // MARK: Calls

    /// Adds events to the inbox, and starts the thread that makes the calls.
    func deliver(_ events: [Event]) {
        let starts = state.withLock { state in
            if state.hasEnded { return false }
            state.inbox += events
            if state.inbox.isEmpty { return false }
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if starts { start { self.work() } }
    }

    private func start(_ work: @escaping WorkThread.Work) {
        do throws(Errno) {
            try WorkThread.start(work)
        } catch {
            // The calls are made when there is a thread again: the next look at the questions tries.
            state.withLock { $0.isWorking = false }
        }
    }

    private func work() {
        while true {
            let event = state.withLock { state -> Event? in
                if state.inbox.isEmpty || state.hasEnded {
                    state.isWorking = false
                    return nil
                }
                return state.inbox.removeFirst()
            }
            guard let event else { return }
            switch event {
            case .change(let change): calls.didChange(change)
            case .moved(let path, let isOwn): calls.didMove(path, isOwn)
            case .question(let slot, let word): answer(slot, word)
            case .over(let slot, let word): reacquire(slot, word)
            case .ended(let error): calls.didEnd(error)
            }
            noteAble()
        }
    }

    private func answer(_ slot: Question.Slot, _ word: Question.Word) {
        // The request may have ended meanwhile.
        let isBegun = state.withLock { state in
            guard state.questions[slot]?.word.isSame(as: word) == true, table.change(slot, word, to: .answering)
            else {
                return false
            }
            state.questions[slot]?.isBegun = true
            return true
        }
        if !isBegun { return }
        var answering = word
        answering.state = .answering
        let content = table.content(at: slot)
        let accessor = PresenterAccessor(
            isWriter: content.wanted.contains(.relinquishToWriter),
            processIdentifier: container.memberTable.member(at: word.asker)?.process.identifier ?? 0,
            purpose: printable(content.purpose), item: ItemPath(bytes: content.item))
        let question = AnsweredQuestion(slot, answering, container, table)
        var outcome = Question.State.answered
        do {
            try question.within { try calls.answer(content.wanted, accessor, question) }
        } catch {
            outcome = .failed
            if table.word(at: slot) == answering { table.setFailure("\(error)", at: slot) }
        }
        // Where this fails, the request went on without the answer, or has ended.
        _ = table.change(slot, answering, to: outcome)
        table.wakeAskers(of: word.asker)
        calls.didAnswer()
    }

    private func reacquire(_ slot: Question.Slot, _ word: Question.Word) {
        let content = table.content(at: slot)
        let made = table.changes(at: slot)
        let change = state.withLock { state in
            made.flatMap { made in state.recent.last { made.contains($0.sequence.rawValue) } }
        }
        if content.wanted.relinquishes { calls.reacquire(change) }
        free(slot, word)
        state.withLock { state in
            if state.questions[slot]?.word.isSame(as: word) == true { state.questions[slot] = nil }
        }
    }

    /// Makes no further call. The one that is being made may still run.
    func end() { state.withLock { ($0.hasEnded, $0.inbox) = (true, []) } }
}

extension ItemLocation {
    fileprivate func isConcerned(by changed: ItemLocation, _ change: Change) -> Bool {
        self == changed || changed.isBelow(self) || change.takesDirectory && isBelow(changed)
    }

    /// Returns the location after a change that moved it; nil where the change did not.
    fileprivate func afterMove(_ kind: Change.Kind, from other: ItemLocation, to location: ItemLocation)
        -> ItemLocation?
    {
        switch kind {
        case .moved: following(other, to: location)
        case .exchanged: following(other, to: location) ?? following(location, to: other)
        case .created, .modified, .removed, .touched, .present, .bookmark, .rescan, .degraded: nil
        }
    }

    /// Returns the location after a move of this item, or of a directory around it; nil where it is not concerned.
    func following(_ origin: ItemLocation, to location: ItemLocation) -> ItemLocation? {
        self == origin ? location : moved(from: origin, to: location)
    }
}
