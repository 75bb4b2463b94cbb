public import FoundationEssentials

/// When to refresh a widget although nothing that concerns it has changed.
public enum TimelinePolicy: Hashable, Sendable {
    /// When the last entry's moment has come.
    case atEnd
    case after(Date)
    case never
}

/// What a widget shows now and later, so that changes by time alone need no refresh.
public struct Timeline<Snapshot: Codable & Sendable>: Sendable {
    /// A snapshot that is shown from a moment on.
    public struct Entry: Codable, Sendable {
        /// The moment; nil: from the beginning.
        public var date: Date?
        /// What is shown from that moment on.
        public var snapshot: Snapshot

        /// Creates an entry for a moment; nil: from the beginning.
        public init(date: Date? = nil, snapshot: Snapshot) { (self.date, self.snapshot) = (date, snapshot) }
    }

    /// When to refresh the widget although nothing that concerns it has changed.
    public typealias Policy = TimelinePolicy

    /// The entries, sorted by date.
    public let entries: [Entry]
    /// When to refresh the widget anyway.
    public var policy: Policy

    /// Creates a timeline of at least one entry. The entries may come in any order.
    public init(first: Entry, later: [Entry] = [], policy: Policy = .never) {
        let all = [first] + later
        // A stable sort: of two entries for the same moment, the later one counts.
        entries = all.enumerated().sorted {
            ($0.element.date ?? .distantPast, $0.offset) < ($1.element.date ?? .distantPast, $1.offset)
        }.map(\.element)
        self.policy = policy
    }

    /// Creates a timeline of one snapshot, until something changes.
    public init(_ snapshot: Snapshot) { self.init(first: Entry(snapshot: snapshot)) }

    /// Returns the entry for a moment: the last one whose date has come, else the first one.
    public func entry(at now: Date) -> Entry? {
        entries.last { ($0.date ?? .distantPast) <= now } ?? entries.first
    }

    /// Returns the date of the next entry after a moment; nil if there is none.
    public func nextChange(after now: Date) -> Date? { entries.compactMap(\.date).first { $0 > now } }

    /// The date of a refresh by the policy; nil if there is none.
    public var refreshDate: Date? {
        switch policy {
        case .atEnd: entries.last?.date
        case .after(let date): date
        case .never: nil
        }
    }

    /// Returns the timeline with transformed snapshots.
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

    /// Decodes a policy: a name or a date.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        switch try? value.decode(Name.self) {
        case .atEnd: self = .atEnd
        case .never: self = .never
        case nil: self = .after(try value.decode(Date.self))
        }
    }

    /// Encodes the policy in the form that `init(from:)` decodes.
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

    /// Decodes a timeline. A timeline without entries is an error.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let entries = try fields.decode([Entry].self, forKey: .entries)
        guard let first = entries.first else {
            throw DecodingError.dataCorruptedError(
                forKey: .entries, in: fields, debugDescription: "a timeline has at least one entry")
        }
        self.init(
            first: first, later: Array(entries.dropFirst()),
            policy: try fields.decodeIfPresent(TimelinePolicy.self, forKey: .policy) ?? .never)
    }

    /// Encodes the timeline in the form that `init(from:)` decodes.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(entries, forKey: .entries)
        try fields.encode(policy, forKey: .policy)
    }
}
