import GroupBytes
import GroupLocking
import GroupSystemCalls

/// A question that a request asks a presenter, and its answer: one word, changed by compare-and-swap only, so that
/// neither side acts on a question that is over.
///
///     free ─▶ claimed ─▶ asked ─▶ answering ─▶ answered ⇄ granted ─▶ over ─▶ free
///                          │          │  └▶ failed ─▶ over   │          ▲
///                          └──────────┴▶ passedOver ─▶ over  └──────────┘ withdrawn: the request's deadline is over
///     every state ─▶ over: the request has ended, or its process is dead
///     asked ─▶ free: the request has ended, and the presenter has not begun to answer
///
/// The request makes the steps to claimed, asked, granted, passedOver and over. The process of the presenter makes
/// those to answering, answered, failed and free, and to over where it withdraws or the process that asks is dead. A
/// presenter reacquires when each of its questions is over.
struct Question: Sendable {
    enum State: UInt8, Sendable {
        case free = 0
        case claimed, asked, answering, answered, granted, over, passedOver, failed
    }

    /// The word of a question.
    struct Word: Equatable, Sendable {
        var state: State
        /// The slot of the process that asks.
        var asker: Int
        /// Which question it is, and which member has the slot: 24 bits of a number that is drawn for each question,
        /// and 16 bits of the member's nonce.
        var mark: UInt64

        var bits: UInt64 { mark << 24 | UInt64(asker) << 8 | UInt64(state.rawValue) }

        /// Reads a word; nil where no process has written it so.
        init?(_ bits: UInt64) {
            guard let state = State(rawValue: UInt8(truncatingIfNeeded: bits)), state != .free else { return nil }
            self.state = state
            asker = Int(bits >> 8 & 0xFFFF)
            mark = bits >> 24
            if asker >= MemberTableLayout.slotCount { return nil }
        }

        init(claimedBy asker: Int, nonce: UInt64, number: UInt64) {
            state = .claimed
            self.asker = asker
            mark = (number & 0xFF_FFFF) << 16 | nonce & 0xFFFF
        }

        /// Whether it is the same question, in whatever state.
        func isSame(as other: Word) -> Bool { (asker, mark) == (other.asker, other.mark) }

        /// Returns whether it may be of the member that has drawn `nonce`.
        func isOf(_ nonce: UInt64) -> Bool { mark & 0xFFFF == nonce & 0xFFFF }
    }

    /// Where a question is: the presenter's entry, and the slot in it.
    struct Slot: Hashable, Sendable {
        var entry: Int
        var index: Int

        var offset: Int { PresenterTableLayout.question(entry, index) }

        static func all(of entry: Int) -> [Slot] {
            (0..<PresenterTableLayout.questionCount).map { Slot(entry: entry, index: $0) }
        }
    }

    /// What the one that asks writes.
    struct Content: Sendable {
        var nonce: UInt64
        var presenter: UInt64
        var madeFor: UInt64
        var round: UInt64
        var owner: WaitGraph.Owner
        var wanted: PresenterQuestions
        var deadline: Int64
        var askedAt: Int64
        var purpose: [UInt8]
        var item: [UInt8]
    }
}

extension PresenterTable {
    private typealias Layout = PresenterTableLayout

    /// Returns the word of a slot; nil where it is free. A word that no process has written so is removed.
    func word(at slot: Question.Slot) -> Question.Word? {
        let bits = map.load64(slot.offset + Layout.questionWord)
        if bits == 0 { return nil }
        if let word = Question.Word(bits) { return word }
        _ = own?.exchange64(slot.offset + Layout.questionWord, bits, 0)
        return nil
    }

    /// Changes the state of a question. Returns false if it has another state, or is another question.
    func change(_ slot: Question.Slot, _ word: Question.Word, to state: Question.State) -> Bool {
        var next = word
        next.state = state
        let bits = state == .free ? 0 : next.bits
        guard own?.exchange64(slot.offset + Layout.questionWord, word.bits, bits) == true else { return false }
        noteStatus()
        return true
    }

    /// Claims a free slot for a question.
    func claim(_ slot: Question.Slot, _ word: Question.Word) -> Bool {
        own?.exchange64(slot.offset + Layout.questionWord, 0, word.bits) ?? false
    }

    /// Writes the content of a question that was claimed.
    func write(_ content: Question.Content, at slot: Question.Slot) {
        guard let own else { return }
        let base = slot.offset
        own.store64(base + Layout.askerNonce, content.nonce)
        own.store64(base + Layout.askedPresenter, content.presenter)
        own.store64(base + Layout.madeFor, content.madeFor)
        own.store64(base + Layout.round, content.round)
        own.store64(base + Layout.ticket, 0)
        own.store64(base + Layout.owner, content.owner.number)
        own.store32(base + Layout.ownerSlot, UInt32(clamping: content.owner.slot))
        own.store32(base + Layout.wanted, content.wanted.rawValue)
        own.store64(base + Layout.deadline, UInt64(bitPattern: content.deadline))
        own.store64(base + Layout.askedAt, UInt64(bitPattern: content.askedAt))
        own.store64(base + Layout.firstChange, 0)
        own.store64(base + Layout.lastChange, 0)
        own.write(content.purpose, at: base + Layout.askerPurpose, terminatedWithin: Layout.askerPurposeBytes)
        own.write(content.item, at: base + Layout.askedPath, terminatedWithin: Layout.askedPathBytes)
        own.write([], at: base + Layout.failure, terminatedWithin: Layout.failureBytes)
    }

    func content(at slot: Question.Slot) -> Question.Content {
        let base = slot.offset
        return Question.Content(
            nonce: map.load64(base + Layout.askerNonce), presenter: map.load64(base + Layout.askedPresenter),
            madeFor: map.load64(base + Layout.madeFor), round: map.load64(base + Layout.round),
            owner: WaitGraph.Owner(
                slot: min(Int(map.load32(base + Layout.ownerSlot)), MemberTableLayout.slotCount - 1),
                number: map.load64(base + Layout.owner)),
            wanted: PresenterQuestions(rawValue: map.load32(base + Layout.wanted)),
            deadline: Int64(bitPattern: map.load64(base + Layout.deadline)),
            askedAt: max(0, Int64(bitPattern: map.load64(base + Layout.askedAt))),
            purpose: text(base + Layout.askerPurpose, Layout.askerPurposeBytes),
            item: text(base + Layout.askedPath, Layout.askedPathBytes))
    }

    /// The ticket of a question's wait; 0: not drawn yet.
    func ticket(at slot: Question.Slot) -> UInt64 { map.load64(slot.offset + Layout.ticket) }

    func setTicket(_ ticket: UInt64, at slot: Question.Slot) { own?.store64(slot.offset + Layout.ticket, ticket) }

    /// Returns the answer to a question in the graph of waits: no request of the presenter's member has its number.
    func answer(at slot: Question.Slot, _ word: Question.Word) -> WaitGraph.Owner {
        let member = Int(map.load32(Layout.entry(slot.entry) + Layout.slot))
        return WaitGraph.Owner(slot: min(member, MemberTableLayout.slotCount - 1), number: 1 << 47 | word.mark)
    }

    /// Returns the questions to the presenters of these entries that are making an answer.
    func waits(of entries: [Int]) -> [WaitGraph.QuestionWait] {
        entries.flatMap { index -> [WaitGraph.QuestionWait] in
            if map.load64(Layout.entry(index) + Layout.presenter) == 0 { return [] }
            let slots = Question.Slot.all(of: index)
            let words = slots.compactMap { slot in word(at: slot).map { (slot: slot, word: $0) } }
            guard let answered = words.first(where: { $0.word.state == .answering }) else { return [] }
            let answer = answer(at: answered.slot, answered.word)
            return words.filter { [.asked, .answering].contains($0.word.state) }.map { entry in
                WaitGraph.QuestionWait(
                    owner: content(at: entry.slot).owner, ticket: ticket(at: entry.slot), answer: answer)
            }
        }
    }

    /// The sequence numbers of the changes that the request made; nil: none.
    func changes(at slot: Question.Slot) -> ClosedRange<UInt64>? {
        let first = map.load64(slot.offset + Layout.firstChange)
        let last = map.load64(slot.offset + Layout.lastChange)
        return last == 0 || first > last ? nil : first...last
    }

    func setChanges(_ changes: ClosedRange<UInt64>, at slot: Question.Slot) {
        own?.store64(slot.offset + Layout.firstChange, changes.lowerBound)
        own?.store64(slot.offset + Layout.lastChange, changes.upperBound)
    }

    func failure(at slot: Question.Slot) -> String {
        printable(text(slot.offset + Layout.failure, Layout.failureBytes))
    }

    func setFailure(_ failure: String, at slot: Question.Slot) {
        own?.write(Array(failure.utf8), at: slot.offset + Layout.failure, terminatedWithin: Layout.failureBytes)
    }

    private func text(_ offset: Int, _ count: Int) -> [UInt8] {
        Array(map.bytes(offset, count: count).prefix { $0 != 0 })
    }
}
