import GroupBytes
import GroupSystemCalls

@testable import GroupContainer
@testable import GroupLocking

/// The bytes that a faulty member may have left in a presenter's entry: its fields, two questions, and its path.
extension Decoder {
    private typealias Layout = PresenterTableLayout

    private static let index = 3

    /// The parts of the entry that the input's bytes fill, one after the other.
    private static let parts = [
        (Layout.entry(index), 32), (Layout.question(index, 0), Layout.questionBytes),
        (Layout.question(index, 15), Layout.questionBytes), (Layout.entry(index) + Layout.paths, Layout.pathBytes),
    ]

    /// A table whose file has been removed.
    private static let table = Guarded<Result<PresenterTable, any Error>>(
        Result {
            let scratch = try ScratchDirectory()
            let directory = try ContainerDirectories(path: scratch.path, unixGroup: nil, creating: true)
            try PresenterTable.create(in: directory)
            guard let table = try PresenterTable.open(in: directory, isOnlyForReading: false) else {
                throw PresenterTable.removed
            }
            return table
        })

    private static func fill(_ table: PresenterTable, with bytes: [UInt8]) {
        var rest = bytes[...]
        for (offset, count) in parts {
            let part = rest.prefix(count)
            table.own?.write(part + [UInt8](repeating: 0, count: count - part.count), at: offset)
            rest = rest.dropFirst(count)
        }
    }

    private static func content(wanted: PresenterQuestions, round: UInt64) -> Question.Content {
        Question.Content(
            nonce: 4_242, presenter: 7, madeFor: 0, round: round, owner: .init(slot: 5, number: 12), wanted: wanted,
            deadline: .max, askedAt: 1_700_000_000_000_000_000, purpose: [UInt8]("sync"),
            item: [UInt8]("Library/todo.json"))
    }

    private static func writeSample(into table: PresenterTable) throws {
        fill(table, with: [])
        table.write(
            PresenterTable.Entry(
                index: index, number: 7, slot: 2, nonce: 9, answers: .all,
                item: try ItemLocation([UInt8]("Library/todo.json")), since: 1_700_000_000_000_000_000))
        let questions: [(Int, Question.State, PresenterQuestions)] = [
            (0, .answering, [.relinquishToReader, .saveChanges]), (15, .asked, .relinquishToWriter),
        ]
        for (place, state, wanted) in questions {
            let place = Question.Slot(entry: index, index: place)
            let word = Question.Word(claimedBy: 5, nonce: 4_242, number: 21)
            try expect(table.claim(place, word), "a free place is not free")
            table.write(content(wanted: wanted, round: 20), at: place)
            table.setTicket(33, at: place)
            table.setChanges(3...4, at: place)
            table.setFailure("the disk is full", at: place)
            try expect(table.change(place, word, to: state), "no step")
        }
    }

    private static var sample: [UInt8] {
        let bytes = table.withLock { table -> [UInt8] in
            guard let table = try? table.get(), (try? writeSample(into: table)) != nil else { return [] }
            return parts.flatMap { table.map.bytes($0.0, count: $0.1) }
        }
        return Array(bytes[...(bytes.lastIndex { $0 != 0 } ?? 0)])
    }

    static let presenters = Decoder("presenters", ["presenter": sample]) { bytes in
        try table.withLock { table in
            let table = try table.get()
            fill(table, with: bytes)
            let entry = table.entry(index)
            _ = table.waits(of: [index, index])
            for place in Question.Slot.all(of: index) { try check(place, entry, in: table) }
            guard let entry else { return false }
            try check(entry, in: table)
            return true
        }
    }

    private static func check(_ place: Question.Slot, _ entry: PresenterTable.Entry?, in table: PresenterTable) throws {
        guard let word = table.word(at: place) else {
            // A word that no process has written so is removed, so that the place can be used.
            let word = Question.Word(claimedBy: 1, nonce: 2, number: 3)
            try expect(table.claim(place, word) && table.change(place, word, to: .free), "a lost place")
            return
        }
        try expect(Question.Word(word.bits) == word, "another word comes back: \(word)")
        try expect(word.asker < MemberTableLayout.slotCount, "a slot that is none")
        let content = table.content(at: place)
        try expect(content.owner.slot < MemberTableLayout.slotCount && content.askedAt >= 0, "strange numbers")
        try expect(table.changes(at: place).map { !$0.isEmpty } ?? true, "no changes")
        for text in [printable(content.purpose), printable(content.item), table.failure(at: place)]
        where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Broken("a control character is shown: \(text.debugDescription)")
        }
        if let entry, word.state != .over, content.presenter == entry.number {
            try expect(table.isAsked(entry, in: content.round), "a question that is not found")
        }
        // Each side can end it, once.
        if word.state != .over { try expect(table.change(place, word, to: .over), "it does not end") }
        guard let over = table.word(at: place) else { throw Broken("the question is gone") }
        try expect(over.state == .over && over.isSame(as: word), "another question: \(over)")
        try expect(table.change(place, over, to: .free) && table.word(at: place) == nil, "the place is not free")
    }

    private static func check(_ entry: PresenterTable.Entry, in table: PresenterTable) throws {
        try expect(entry.slot < MemberTableLayout.slotCount && entry.since >= 0, "strange numbers: \(entry)")
        try expect(try ItemLocation(entry.item.bytes) == entry.item, "a place that is none: \(entry.item)")
        let other = try ItemLocation([UInt8]("moved"))
        table.move(entry, to: other)
        try expect(table.entry(index)?.item == other, "it was not moved")
        try expect(table.free(index, of: entry.number) && table.entry(index) == nil, "it was not freed")
        try expect(!table.free(index, of: entry.number), "it was freed twice")
    }
}
