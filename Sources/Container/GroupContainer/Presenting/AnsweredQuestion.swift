import GroupBytes
import GroupLocking
import GroupSystemCalls
import Synchronization

/// The question that the calling code answers: requests that it makes carry the question, so that they ask no presenter
/// that is asked in the same round, and change nothing once the question is over.
package final class AnsweredQuestion: Sendable {
    private let container: OpenContainer
    private let table: PresenterTable
    /// The presenter that answers.
    private let presenter: UInt64
    private let slot: Question.Slot
    private let word: Question.Word
    private let round: UInt64
    private let madeFor: UInt64
    /// The answer in the graph of waits.
    let owner: WaitGraph.Owner

    init(_ slot: Question.Slot, _ word: Question.Word, _ container: OpenContainer, _ table: PresenterTable) {
        self.slot = slot
        self.word = word
        self.container = container
        self.table = table
        let content = table.content(at: slot)
        presenter = content.presenter
        round = content.round
        madeFor = content.madeFor
        owner = table.answer(at: slot, word)
    }

    /// Returns whether a presenter need not be asked by this answer: it is asked in the same round, or what it has
    /// requested itself is being answered.
    func exempts(_ entry: PresenterTable.Entry) -> Bool {
        entry.number == presenter || entry.number == madeFor || table.isAsked(entry, in: round)
    }

    private static let ofThread = ThreadLocal<AnsweredQuestion>()
    @TaskLocal private static var ofTask: AnsweredQuestion?
    private static let ofProcess = Guarded<AnsweredQuestion?>(nil)
    private static let isSetForProcess = Atomic(false)

    private static var current: AnsweredQuestion? {
        ofThread.value ?? ofTask
            ?? (isSetForProcess.load(ordering: .acquiring) ? ofProcess.withLock { $0 } : nil)
    }

    /// Returns the question of the calling code, if it is one in this container.
    static func current(in container: OpenContainer) -> AnsweredQuestion? {
        guard let current, current.container === container else { return nil }
        return current
    }

    /// The question that the calling code answers, in whichever container.
    package static var ofCaller: AnsweredQuestion? { current }

    /// Runs code that is part of the answer to `other` where it is part of no answer in this container itself.
    package static func answering<Answer>(
        _ other: AnsweredQuestion?, in container: Container, _ body: () throws -> Answer
    ) rethrows -> Answer {
        try within(current(in: container.opened) == nil ? other : nil, body)
    }

    /// Runs code that is part of an answer, if there is one, on this thread.
    package static func within<Answer>(_ answering: AnsweredQuestion?, _ body: () throws -> Answer) rethrows -> Answer {
        try answering?.within(body) ?? body()
    }

    /// Runs an answer that does not suspend.
    package func within<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        let outer = Self.ofThread.value
        Self.ofThread.value = self
        defer { Self.ofThread.value = outer }
        return try body()
    }

    /// Runs an answer that may suspend.
    func within(_ body: () async throws -> Void) async rethrows {
        try await Self.$ofTask.withValue(self) { try await body() }
    }

    /// Whether the answer is still awaited.
    package var stands: Bool { table.word(at: slot) == word }

    /// Checks that the question is still awaited, and its presenter lives: otherwise the request may have been granted.
    /// To be called under the locks of what the answer changes. Errors: `conflict`
    func checkStands(_ operation: String, item: [UInt8]) throws(CoordinationError) {
        if stands, let entry = table.entry(slot.entry), entry.number == presenter, container.isAlive(entry) { return }
        throw CoordinationError(
            .conflict, operation: operation, item: printable(item),
            reason: "the question that this answers is over: the request went on without the answer, or has ended")
    }

    // MARK: Answers of another process

    /// The question as text, for a command that answers it: the value of `GROUP_QUESTION`.
    package var text: String { "\(container.format.container).\(slot.entry).\(slot.index).\(word.bits)" }

    /// The name of the variable in the environment of a command that answers a question.
    package static let variable = "GROUP_QUESTION"

    /// Makes all requests of this process part of the answer to a question of that text, unless it is a question in
    /// another container. Errors: `invalidArgument`; `conflict` if the question is over
    package static func answerInThisProcess(_ text: String, in container: Container) throws(CoordinationError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, String(parts[0]) != container.opened.format.container { return }
        guard parts.count == 4, let entry = Int(parts[1]), let index = Int(parts[2]), let bits = UInt64(parts[3]),
            (0..<PresenterTableLayout.entryCount).contains(entry),
            (0..<PresenterTableLayout.questionCount).contains(index),
            let word = Question.Word(bits), let table = try container.opened.presenterTable()
        else {
            throw CoordinationError(
                .invalidArgument, operation: "answer", item: text, reason: "that is no question of a presenter")
        }
        let slot = Question.Slot(entry: entry, index: index)
        let answered = AnsweredQuestion(slot, word, container.opened, table)
        try answered.checkStands("answer", item: Array(text.utf8))
        ofProcess.withLock { $0 = answered }
        isSetForProcess.store(true, ordering: .releasing)
    }
}

extension PresenterTable {
    /// Returns whether a presenter is asked in a round.
    func isAsked(_ entry: Entry, in round: UInt64) -> Bool {
        Question.Slot.all(of: entry.index).contains { slot in
            guard let word = word(at: slot), word.state != .over else { return false }
            let content = content(at: slot)
            return content.round == round && content.presenter == entry.number
                && self.word(at: slot)?.isSame(as: word) == true
        }
    }
}
