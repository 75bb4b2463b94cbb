import FoundationEssentials
import GroupContainer

/// What a container keeps of a widget: how far it has read, and what it showed last. Both are in one JSON file, so that
/// they change together.
struct WidgetRecord: Equatable, Sendable {
    /// Where the last refresh ended in a suite.
    enum SuitePosition: Equatable, Sendable {
        case behind(Cursor)
        /// There was no such suite.
        case absent
    }

    var cursor: Cursor
    /// The positions in the suites that the last refresh read.
    var suites: [String: SuitePosition] = [:]
    /// What was shown; for a provider, the entries of its timeline as JSON.
    var snapshot: [UInt8]?
    /// When the snapshot was rendered, in nanoseconds since 1970.
    var renderedAt: Int64?
    /// The environment that the snapshot was rendered for.
    var environment: WidgetEnvironment?
    /// When its timeline requests a refresh, in nanoseconds since 1970.
    var refreshAt: Int64?
    /// When the timeline with `refreshAt` was rendered, in nanoseconds since 1970. Later than `renderedAt` if it looked
    /// the same.
    var refreshSetAt: Int64?
    /// The interests at the last refresh; nil if an older version has written the record.
    var interests: [String]?

    /// The policy of the timeline that was shown.
    var policy: TimelinePolicy { refreshAt.map { .after(Date(nanoseconds: $0)) } ?? .never }

    /// Returns the record's file. Errors: `invalidArgument` if `kind` is not a valid kind.
    static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try checkKind(kind)
        return PrivateFile("widgets/\(kind)", "record.json", in: container)
    }

    /// Checks a kind: up to 200 letters, digits, '.', '-' and '_', of which the first is not '.'. Errors:
    /// `invalidArgument`
    static func checkKind(_ kind: String) throws(CoordinationError) {
        let isPlain = kind.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || ".-_".utf8.contains(byte)
        }
        if kind.isEmpty || kind.utf8.count > 200 || kind.hasPrefix(".") || !isPlain {
            throw CoordinationError.malformedWidgetKind(kind)
        }
    }

    /// Reads the record; nil for a widget that was never refreshed. The caller holds the lock. Errors: `newerFormat`;
    /// `damaged`, once: the file is put aside, so that the next refresh begins anew.
    static func read(_ file: PrivateFile) throws(CoordinationError) -> WidgetRecord? {
        guard let content = try file.read() else { return nil }
        switch decoded(content) {
        case .content(let record): return record
        case .newer(let version): throw .newerWidgetRecord(file, version)
        case .none: throw try StoredFile.damaged(file)
        }
    }

    func write(_ file: PrivateFile) throws(CoordinationError) { try StoredFile.write(Stored(self), file) }

    /// Decodes the content of a record's file.
    static func decoded(_ content: [UInt8]) -> StoredFile.Decoded<WidgetRecord> {
        switch StoredFile.decoded(Stored.self, content) {
        case .content(let stored): WidgetRecord(stored).map { .content($0) } ?? .none
        case .newer(let version): .newer(version: version)
        case .none: .none
        }
    }

    /// The content of the record's file; nil if JSON cannot hold a number in it.
    var encoded: [UInt8]? { StoredFile.encoded(Stored(self)) }
}

/// The content of the record's file.
private struct Stored: VersionedContent {
    /// The version. A file without a version is of version 1, which had no suites; version 2 had no timelines.
    static let version = 3

    var version: Int?
    var cursor: String
    /// Cursors by the names of suites; an empty string if there was no such suite.
    var suites: [String: String]?
    var snapshot: Data?
    var renderedAt: Int64?
    var environment: WidgetEnvironment?
    var refreshAt: Int64?
    var refreshSetAt: Int64?
    var interests: [String]?
}

extension WidgetRecord {
    fileprivate init?(_ stored: Stored) {
        guard let cursor = Cursor(stored.cursor) else { return nil }
        self.init(
            cursor: cursor, snapshot: stored.snapshot.map { Array($0) }, renderedAt: stored.renderedAt,
            environment: stored.environment, refreshAt: stored.refreshAt, refreshSetAt: stored.refreshSetAt,
            interests: stored.interests)
        for (suite, text) in stored.suites ?? [:] {
            if !GroupDefaults.isName(ofSuite: suite) { return nil }
            if text.isEmpty {
                suites[suite] = .absent
            } else {
                guard let cursor = Cursor(text) else { return nil }
                suites[suite] = .behind(cursor)
            }
        }
    }
}

extension Stored {
    init(_ record: WidgetRecord) {
        let suites = record.suites.mapValues { position in
            switch position {
            case .behind(let cursor): cursor.description
            case .absent: ""
            }
        }
        self.init(
            version: Self.version, cursor: record.cursor.description, suites: suites.isEmpty ? nil : suites,
            snapshot: record.snapshot.map { Data($0) }, renderedAt: record.renderedAt,
            environment: record.environment, refreshAt: record.refreshAt, refreshSetAt: record.refreshSetAt,
            interests: record.interests)
    }
}
