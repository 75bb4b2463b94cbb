import FoundationEssentials
import GroupContainer

/// What a container keeps of a widget: how far it has looked, and what it showed last. One JSON file, so that both move
/// together.
struct WidgetRecord: Equatable, Sendable {
    /// Where the last refresh ended in a suite.
    enum SuitePlace: Equatable, Sendable {
        case behind(Cursor)
        /// There was no such suite.
        case absent
    }

    var cursor: Cursor
    /// Of the suites that the last refresh looked at.
    var suites: [String: SuitePlace] = [:]
    var snapshot: [UInt8]?

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

    /// Nil for a widget that was never refreshed. Only with the lease. Errors: `newerFormat`; `damaged`, once: the file
    /// is put aside, so that the next refresh begins anew.
    static func read(_ file: PrivateFile) throws(CoordinationError) -> WidgetRecord? {
        guard let content = try file.read() else { return nil }
        let data = Data(content)
        if let version = try? JSONDecoder().decode(Stored.Version.self, from: data).version, version > Stored.version {
            throw CoordinationError.newerWidgetRecord(file.label, version)
        }
        guard let stored = try? JSONDecoder().decode(Stored.self, from: data), let record = WidgetRecord(stored) else {
            throw CoordinationError.damagedWidgetRecord(file.label, putAsideAs: try file.putAside())
        }
        return record
    }

    func write(_ file: PrivateFile) throws(CoordinationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let content = try? encoder.encode(Stored(self)) else {
            throw CoordinationError.unencodableWidgetRecord(file.label)
        }
        try file.replace(by: Array(content))
    }
}

/// The file's content.
private struct Stored: Codable {
    /// Without a number: 1, which knew no suites.
    static let version = 2

    struct Version: Codable {
        var version: Int?
    }

    var version: Int?
    var cursor: String
    /// Cursors; an empty text where there was no such suite.
    var suites: [String: String]?
    var snapshot: Data?
}

extension WidgetRecord {
    fileprivate init?(_ stored: Stored) {
        guard let cursor = Cursor(stored.cursor) else { return nil }
        self.init(cursor: cursor, snapshot: stored.snapshot.map { Array($0) })
        for (suite, text) in stored.suites ?? [:] {
            if text.isEmpty {
                suites[suite] = .absent
            } else {
                guard let place = Cursor(text) else { return nil }
                suites[suite] = .behind(place)
            }
        }
    }
}

extension Stored {
    init(_ record: WidgetRecord) {
        let suites = record.suites.mapValues { place in
            switch place {
            case .behind(let cursor): cursor.description
            case .absent: ""
            }
        }
        self.init(
            version: Self.version, cursor: record.cursor.description, suites: suites.isEmpty ? nil : suites,
            snapshot: record.snapshot.map { Data($0) })
    }
}
