import FoundationEssentials
import GroupContainer

/// The names of the presses of a kind that were performed last, in an item of the container. A press and its name are
/// written in one transaction, so the item says whether a press was performed, also after the process was killed.
struct PressRecord: Codable, Equatable, Sendable {
    private(set) var performed: [String] = []

    /// A host asks only for a press that it has just sent.
    private static let largest = 64

    static func path(ofKind kind: String) throws(CoordinationError) -> ItemPath {
        try WidgetRecord.checkKind(kind)
        return ItemPath("Library/Presses/\(kind).json")
    }

    /// The size of the largest file of a record, in bytes: a name has much less than 1,000.
    private static let largestFile = 64 << 10

    /// Reads a record; an empty one if there is none. Errors: `invalidContent` if the item is no record; those of
    /// `Access.read`
    static func read(_ path: ItemPath, by access: Access) throws -> PressRecord {
        guard try access.item(path) != nil else { return PressRecord() }
        guard let content = try access.read(path, { try $0.readAll(atMost: largestFile) }) else {
            throw CoordinationError.damagedPressRecord(path, "the item has more than \(largestFile) bytes")
        }
        if content.isEmpty { return PressRecord() }
        do {
            return try JSONDecoder().decode(PressRecord.self, from: Data(content))
        } catch {
            throw CoordinationError.damagedPressRecord(path, "\(error)")
        }
    }

    mutating func note(_ name: String) { performed = (performed + [name]).suffix(Self.largest) }
}

extension WidgetProvider {
    /// Performs a press, in a transaction of the items that it changes and of the record, unless it was performed
    /// before. Throws what the provider throws, and then nothing was changed; errors of `Coordinator.transaction`.
    /// `willCommit` is called when only the transaction's end is left: an error after it does not mean that nothing was
    /// changed.
    func perform(
        _ press: WidgetPress, by coordinator: Coordinator, timeout: Duration?,
        willCommit: @escaping @Sendable () -> Void = {}
    ) async throws {
        let record = try PressRecord.path(ofKind: kind)
        let intents = items(for: press.action) + [.writing(record)]
        _ = try await coordinator.transaction(intents, timeout: timeout) { access in
            // What is not a record is replaced by one: no host asks for a press of that long ago.
            var present = (try? PressRecord.read(record, by: access)) ?? PressRecord()
            if present.performed.contains(press.name) { return willCommit() }
            try perform(press.action, on: access)
            present.note(press.name)
            try access.write(json: present, to: record)
            willCommit()
        }
    }

    /// Returns whether a press was performed. Errors: those of `PressRecord.read`
    func hasPerformed(
        _ press: WidgetPress, by coordinator: Coordinator, timeout: Duration?
    ) async throws -> Bool {
        let record = try PressRecord.path(ofKind: kind)
        return try await coordinator.coordinate(.reading(record), timeout: timeout) { access in
            try PressRecord.read(record, by: access).performed.contains(press.name)
        }
    }
}
