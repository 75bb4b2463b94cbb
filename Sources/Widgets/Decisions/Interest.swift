/// What concerns a widget: items by their paths, or keys of a suite of the group defaults.
public struct Interest: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        case path(pattern: String)
        /// The same, with what is only touched: mode, owner, dates.
        case metadata(pattern: String)
        /// Nil: all of its keys.
        case defaults(suite: String, key: String?)
    }

    let subject: Subject

    private init(_ subject: Subject) { self.subject = subject }

    /// Items whose path matches: `*`, `?`, `[…]` within a component, `**` across directories. What is only touched
    /// (mode, owner or dates, or the same bytes again) is no news, unless `includingMetadata` says so.
    public static func path(_ pattern: String, includingMetadata: Bool = false) -> Interest {
        Interest(includingMetadata ? .metadata(pattern: pattern) : .path(pattern: pattern))
    }

    /// A key of a suite of the group defaults, or all of its keys.
    public static func defaults(_ suite: String, key: String? = nil) -> Interest {
        Interest(.defaults(suite: suite, key: key))
    }

    /// As it is said at a shell: `defaults:SUITE`, `defaults:SUITE:KEY`, where KEY may have a ':' in it and SUITE has
    /// none; `metadata:PATTERN` for what is only touched as well; anything else is a pattern for paths. Nil: it names
    /// no suite, or an empty key or pattern.
    public init?(text: String) {
        let prefix = "defaults:"
        let metadata = "metadata:"
        if text.hasPrefix(metadata) {
            if text.count == metadata.count { return nil }
            self = .path(String(text.dropFirst(metadata.count)), includingMetadata: true)
            return
        }
        guard text.hasPrefix(prefix) else {
            self = .path(text)
            return
        }
        let parts = text.dropFirst(prefix.count).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let suite = parts.first, !parts.contains(where: \.isEmpty) else { return nil }
        self = .defaults(String(suite), key: parts.count > 1 ? String(parts[1]) : nil)
    }
}

/// What a widget's interests come to: where to look for changes, and for which.
package struct Concerns: Equatable, Sendable {
    package enum Items: Equatable, Sendable {
        case none, all
        case matching([String])
    }

    package enum Keys: Equatable, Sendable {
        case all
        case only(Set<String>)
    }

    package private(set) var items: Items
    /// The patterns of those that concern the widget also where they are only touched.
    package private(set) var metadata: [String] = []
    /// By the names of the suites.
    package private(set) var suites: [String: Keys] = [:]

    /// No interests at all: every item, and no suite.
    package init(_ interests: [Interest]) {
        items = interests.isEmpty ? .all : .none
        var patterns: [String] = []
        for interest in interests {
            switch interest.subject {
            case .path(let pattern): patterns.append(pattern)
            case .metadata(let pattern):
                patterns.append(pattern)
                metadata.append(pattern)
            case .defaults(let suite, nil): suites[suite] = .all
            case .defaults(let suite, let key?): add(key, of: suite)
            }
        }
        if !patterns.isEmpty { items = .matching(patterns) }
    }

    /// The same for the same interests, in whatever order.
    package var texts: [String] {
        var texts: Set<String> = items == .all ? ["all"] : []
        if case .matching(let patterns) = items {
            texts.formUnion(patterns.map { (metadata.contains($0) ? "metadata:" : "path:") + $0 })
        }
        for (suite, keys) in suites {
            switch keys {
            case .all: texts.insert("defaults:\(suite)")
            case .only(let keys): texts.formUnion(keys.map { "defaults:\(suite):\($0)" })
            }
        }
        return texts.sorted()
    }

    private mutating func add(_ key: String, of suite: String) {
        switch suites[suite] {
        case .all: break
        case .only(let keys): suites[suite] = .only(keys.union([key]))
        case nil: suites[suite] = .only([key])
        }
    }
}
