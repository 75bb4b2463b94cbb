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
    /// What was shown; of a provider its timeline's entries, as JSON.
    var snapshot: [UInt8]?
    /// When that was rendered, in nanoseconds since 1970.
    var renderedAt: Int64?
    /// What it was rendered for.
    var environment: WidgetEnvironment?
    /// When its timeline asks for a refresh, in nanoseconds since 1970.
    var refreshAt: Int64?
    /// What concerned it; nil where an older version has written it.
    var interests: [String]?

    /// Of what was shown.
    var policy: TimelinePolicy { refreshAt.map { .after(Date(nanoseconds: $0)) } ?? .never }

    /// Where it is kept.
    static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try checkKind(kind)
        return PrivateFile("widgets/\(kind)", "record.json", in: container)
    }

    /// A kind is a name of letters, digits, '.', '-' and '_' that does not begin with '.'.
    static func checkKind(_ kind: String) throws(CoordinationError) {
        let isPlain = kind.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || ".-_".utf8.contains(byte)
        }
        if kind.isEmpty || kind.utf8.count > 200 || kind.hasPrefix(".") || !isPlain {
            throw CoordinationError.malformedWidgetKind(kind)
        }
    }

    /// Nil for a widget that was never refreshed. Only with the lock. Errors: `newerFormat`; `damaged`, once: the file
    /// is put aside, so that the next refresh begins anew.
    static func read(_ file: PrivateFile) throws(CoordinationError) -> WidgetRecord? {
        guard let content = try file.read() else { return nil }
        switch decoded(content) {
        case .content(let record): return record
        case .newer(let version): throw .newerWidgetRecord(file.label, version)
        case .none: throw try StoredFile.damaged(file)
        }
    }

    func write(_ file: PrivateFile) throws(CoordinationError) { try StoredFile.write(Stored(self), file) }

    /// What bytes are, apart from any file.
    static func decoded(_ content: [UInt8]) -> StoredFile.Decoded<WidgetRecord> {
        switch StoredFile.decoded(Stored.self, content) {
        case .content(let stored): WidgetRecord(stored).map { .content($0) } ?? .none
        case .newer(let version): .newer(version: version)
        case .none: .none
        }
    }

    /// Nil: it holds a number that JSON cannot hold.
    var encoded: [UInt8]? { StoredFile.encoded(Stored(self)) }
}

/// The file's content.
private struct Stored: VersionedContent {
    /// Without a number: 1, which knew no suites. 2 knew no timelines.
    static let version = 3

    var version: Int?
    var cursor: String
    /// Cursors; an empty text where there was no such suite.
    var suites: [String: String]?
    var snapshot: Data?
    var renderedAt: Int64?
    var environment: WidgetEnvironment?
    var refreshAt: Int64?
    var interests: [String]?
}

extension WidgetRecord {
    fileprivate init?(_ stored: Stored) {
        guard let cursor = Cursor(stored.cursor) else { return nil }
        self.init(
            cursor: cursor, snapshot: stored.snapshot.map { Array($0) }, renderedAt: stored.renderedAt,
            environment: stored.environment, refreshAt: stored.refreshAt, interests: stored.interests)
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
            snapshot: record.snapshot.map { Data($0) }, renderedAt: record.renderedAt,
            environment: record.environment, refreshAt: record.refreshAt, interests: record.interests)
    }
}
