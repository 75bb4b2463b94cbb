// Imports nothing: no file, clock or process.

/// What concerns a widget: items by their paths, or keys of a suite of the group defaults.
public struct WidgetInterest: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        case path(pattern: String)
        /// Items by their paths, also where they are only touched: mode, owner, dates.
        case metadata(pattern: String)
        /// Keys of a suite; a nil key means all of them.
        case defaults(suite: String, key: String?)
    }

    let subject: Subject

    private init(_ subject: Subject) { self.subject = subject }

    /// Returns an interest in items whose path matches: `*`, `?`, `[…]` within a component, `**` across directories. An
    /// item that is only touched (its mode, owner or dates, or the same bytes again) is news only if
    /// `includingMetadata` is true.
    public static func path(_ pattern: String, includingMetadata: Bool = false) -> WidgetInterest {
        WidgetInterest(includingMetadata ? .metadata(pattern: pattern) : .path(pattern: pattern))
    }

    /// Returns an interest in a key of a suite of the group defaults, or in all of its keys.
    public static func defaults(_ suite: String, key: String? = nil) -> WidgetInterest {
        WidgetInterest(.defaults(suite: suite, key: key))
    }

    /// The pattern of an interest in items.
    package var pattern: String? {
        switch subject {
        case .path(let pattern), .metadata(let pattern): pattern
        case .defaults: nil
        }
    }

    /// Parses the form of manifests and command lines; nil for `defaults:` with an empty suite or key, and for
    /// `metadata:` without a pattern.
    /// - `defaults:SUITE` and `defaults:SUITE:KEY`, where KEY may contain a ':' and SUITE does not
    /// - `metadata:PATTERN` for items also where they are only touched
    /// - any other text is a pattern for paths
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

/// The union of a widget's interests: where to look for changes, and for which.
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
    /// The patterns of the items that concern the widget also where they are only touched.
    package private(set) var metadata: [String] = []
    /// The keys by the names of their suites. Nothing is named where everything concerns the widget.
    package private(set) var suites: [String: Keys] = [:]

    /// Whether every item and every key concerns the widget.
    package var isEverything: Bool { items == .all }

    /// Returns the keys of a suite that concern the widget; nil if none does.
    package func keys(of suite: String) -> Keys? { isEverything ? .all : suites[suite] }

    /// Combines interests. An empty list means every item, and every key of every suite.
    package init(_ interests: [WidgetInterest]) {
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

    /// The interests as sorted texts: equal for equal interests in any order.
    package var texts: [String] {
        var texts: Set<String> = isEverything ? ["everything"] : []
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
