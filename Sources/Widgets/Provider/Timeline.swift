public import FoundationEssentials

/// When a widget is to be refreshed, although nothing that concerns it has changed.
public enum TimelinePolicy: Hashable, Sendable {
    /// When the last entry's moment has come.
    case atEnd
    case after(Date)
    case never
}

/// What a widget shows, and what it will show later: so that what only time changes needs no refresh.
public struct Timeline<Snapshot: Codable & Sendable>: Sendable {
    /// One snapshot, from some moment on.
    public struct Entry: Codable, Sendable {
        /// Nil: from the beginning.
        public var date: Date?
        /// What is shown then.
        public var snapshot: Snapshot

        /// From that moment on; nil: from the beginning.
        public init(date: Date? = nil, snapshot: Snapshot) { (self.date, self.snapshot) = (date, snapshot) }
    }

    /// When the widget is to be refreshed, although nothing that concerns it has changed.
    public typealias Policy = TimelinePolicy

    /// By date.
    public let entries: [Entry]
    /// When it is to be refreshed anyway.
    public var policy: Policy

    /// At least one entry; in the order of their dates, whatever the order here.
    public init(first: Entry, _ later: [Entry] = [], policy: Policy = .never) {
        let all = [first] + later
        // A stable sort: of two for the same moment the later one counts.
        entries = all.enumerated().sorted {
            ($0.element.date ?? .distantPast, $0.offset) < ($1.element.date ?? .distantPast, $1.offset)
        }.map(\.element)
        self.policy = policy
    }

    /// One snapshot, until something changes.
    public init(_ snapshot: Snapshot) { self.init(first: Entry(snapshot: snapshot)) }

    /// What is shown at that moment: of those whose moment has come, the last one; else the first one.
    public func entry(at now: Date) -> Entry? {
        entries.last { ($0.date ?? .distantPast) <= now } ?? entries.first
    }

    /// When another entry's turn comes, after that moment.
    public func nextChange(after now: Date) -> Date? { entries.compactMap(\.date).first { $0 > now } }

    /// When it is to be refreshed by its policy; nil: not at all.
    public var refreshDate: Date? {
        switch policy {
        case .atEnd: entries.last?.date
        case .after(let date): date
        case .never: nil
        }
    }

    /// The same with other snapshots.
    public func map<Other: Codable & Sendable>(_ transform: (Snapshot) throws -> Other) rethrows -> Timeline<Other> {
        let mapped = try entries.map { Timeline<Other>.Entry(date: $0.date, snapshot: try transform($0.snapshot)) }
        return Timeline<Other>(sorted: mapped, policy: policy)
    }

    fileprivate init(sorted: [Entry], policy: Policy) { (entries, self.policy) = (sorted, policy) }
}

extension Timeline.Entry: Equatable where Snapshot: Equatable {}
extension Timeline: Equatable where Snapshot: Equatable {}
extension Timeline.Entry: Hashable where Snapshot: Hashable {}
extension Timeline: Hashable where Snapshot: Hashable {}

extension TimelinePolicy: Codable {
    private enum Name: String, Codable {
        case atEnd, never
    }

    /// Either a name or a date.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        switch try? value.decode(Name.self) {
        case .atEnd: self = .atEnd
        case .never: self = .never
        case nil: self = .after(try value.decode(Date.self))
        }
    }

    /// As `init(from:)` reads it.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .atEnd: try value.encode(Name.atEnd)
        case .never: try value.encode(Name.never)
        case .after(let date): try value.encode(date)
        }
    }
}

extension Timeline: Codable {
    private enum Field: String, CodingKey {
        case entries, policy
    }

    /// An empty one is none.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let entries = try fields.decode([Entry].self, forKey: .entries)
        guard let first = entries.first else {
            throw DecodingError.dataCorruptedError(
                forKey: .entries, in: fields, debugDescription: "a timeline has at least one entry")
        }
        self.init(
            first: first, Array(entries.dropFirst()),
            policy: try fields.decodeIfPresent(TimelinePolicy.self, forKey: .policy) ?? .never)
    }

    /// As `init(from:)` reads it.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(entries, forKey: .entries)
        try fields.encode(policy, forKey: .policy)
    }
}
