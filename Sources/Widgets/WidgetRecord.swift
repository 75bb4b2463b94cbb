import FoundationEssentials
import GroupContainer

/// What a container keeps of a widget: how far it has looked, and what it showed last. One JSON file, so that both move
/// together.
package struct WidgetRecord: Codable, Equatable, Sendable {
    var cursor: String
    var snapshot: Data?

    /// Where it is kept. A kind is a name of letters, digits, '.', '-' and '_' that does not begin with '.'.
    static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        let isPlain = kind.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || ".-_".utf8.contains(byte)
        }
        if kind.isEmpty || kind.utf8.count > 200 || kind.hasPrefix(".") || !isPlain {
            throw CoordinationError.malformedWidgetKind(kind)
        }
        return PrivateFile("widgets/\(kind)", "record.json", in: container)
    }

    /// Nil for a widget that was never refreshed. Damaged: a typed error; nothing is thrown away.
    static func read(_ file: PrivateFile) throws(CoordinationError) -> WidgetRecord? {
        guard let content = try file.read() else { return nil }
        guard let record = try? JSONDecoder().decode(WidgetRecord.self, from: Data(content)), record.place != nil else {
            throw CoordinationError.damagedWidgetRecord(file.label)
        }
        return record
    }

    func write(_ file: PrivateFile) throws(CoordinationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let content = try? encoder.encode(self) else { throw CoordinationError.damagedWidgetRecord(file.label) }
        try file.replace(by: Array(content))
    }

    var place: Cursor? { Cursor(cursor) }
}
