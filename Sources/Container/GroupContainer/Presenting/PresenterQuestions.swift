// Imports nothing: no file, clock or process.

/// What a presenter is asked before another process gets its item, and what it answers.
public struct PresenterQuestions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// To let go of the item while others read it.
    public static let relinquishToReader = PresenterQuestions(rawValue: 1)
    /// To let go of the item while another one writes it.
    public static let relinquishToWriter = PresenterQuestions(rawValue: 2)
    /// To write what is not on the disk yet.
    public static let saveChanges = PresenterQuestions(rawValue: 4)
    /// To close the item, as it is about to be removed or replaced.
    public static let accommodateDeletion = PresenterQuestions(rawValue: 8)

    /// Every question.
    public static let all: PresenterQuestions = [
        .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion,
    ]

    /// Whether the item is to be let go of.
    var relinquishes: Bool { !isDisjoint(with: [.relinquishToReader, .relinquishToWriter]) }
}

extension AccessIntent {
    /// The questions that this access asks the presenters of its item.
    var questions: PresenterQuestions {
        switch kind {
        case .reading(let options):
            if options.contains(.immediatelyAvailableMetadataOnly) { return [] }
            return options.contains(.withoutChanges) ? .relinquishToReader : [.relinquishToReader, .saveChanges]
        case .writing(let options):
            if options.contains(.contentIndependentMetadataOnly) { return [] }
            var questions = PresenterQuestions.relinquishToWriter
            if options.contains(.forMerging) { questions.insert(.saveChanges) }
            if !options.isDisjoint(with: [.forDeleting, .forReplacing]) { questions.insert(.accommodateDeletion) }
            return questions
        }
    }
}

/// What a request asks of each item, and of which presenters.
struct PresenterConcern: Equatable, Sendable {
    private var parts: [Part] = []

    private struct Part: Equatable, Sendable {
        var item: ItemLocation
        var questions: PresenterQuestions
        /// Whether the request is for everything below the item, too.
        var isWhole: Bool
    }

    var isEmpty: Bool { parts.isEmpty }

    mutating func add(_ questions: PresenterQuestions, of item: ItemLocation, isWhole: Bool) {
        if !questions.isEmpty { parts.append(Part(item: item, questions: questions, isWhole: isWhole)) }
    }

    /// Returns what the presenter of an item is asked. A presenter of a directory presents everything below it. The
    /// question of a writer takes the place of a reader's.
    func questions(to presented: ItemLocation) -> PresenterQuestions {
        var questions: PresenterQuestions = []
        for part in parts
        where part.item == presented || part.item.isBelow(presented) || part.isWhole && presented.isBelow(part.item) {
            questions.formUnion(part.questions)
        }
        if questions.contains(.relinquishToWriter) { questions.remove(.relinquishToReader) }
        return questions
    }

    /// Returns the item by which a presenter is concerned: the first that goes, if any does.
    func item(of presented: ItemLocation) -> ItemLocation {
        let concerned = parts.filter {
            $0.item == presented || $0.item.isBelow(presented) || $0.isWhole && presented.isBelow($0.item)
        }
        return (concerned.first { $0.questions.contains(.accommodateDeletion) } ?? concerned.first)?.item ?? presented
    }

    /// The first item, for people.
    var label: [UInt8] { parts.first?.item.bytes ?? [] }
}
