// Imports ContentType only: no file, clock or process.

public import struct Extensions.ContentType

/// The contents that an extension takes: types with maximum counts. Each attachment counts once, for the most specific
/// of the entries that it matches.
public struct ActivationRule: Hashable, Sendable {
    /// A type, or several types.
    public enum Pattern: Hashable, Sendable, CustomStringConvertible {
        /// One type. `text` is matched by attachments of the type `text/plain`, too.
        case type(ContentType)
        /// All MIME types that begin with this name and a '/', such as `image`.
        case family(String)
        /// All MIME types.
        case anyMIME

        /// Parses a type, `NAME/*` or `*/*`. Returns nil for any other text.
        public init?(_ text: String) {
            if text == "*/*" {
                self = .anyMIME
            } else if let type = ContentType(text) {
                self = .type(type)
            } else {
                // With a name in place of the '*', it has to be a type.
                guard text.hasSuffix("/*"), let type = ContentType(text.dropLast() + "x") else { return nil }
                self = .family(String(type.rawValue.dropLast(2)))
            }
        }

        /// The text of the pattern, as a manifest has it.
        public var description: String {
            switch self {
            case .type(let type): type.rawValue
            case .family(let name): "\(name)/*"
            case .anyMIME: "*/*"
            }
        }

        /// Returns how specifically the pattern matches a type, the greater the more; nil if it does not match.
        func specificity(for type: ContentType) -> Int? {
            switch self {
            case .type(type): 3
            case .type(.text): type == .plainText ? 2 : nil
            case .type: nil
            case .family(let name): type.rawValue.hasPrefix("\(name)/") ? 1 : nil
            case .anyMIME: type.rawValue.contains("/") ? 0 : nil
            }
        }
    }

    /// A pattern, and how many attachments may count for it.
    public struct Entry: Hashable, Sendable {
        /// The types.
        public var pattern: Pattern
        /// The largest number of attachments.
        public var maximum: Int

        /// Creates an entry.
        public init(_ pattern: Pattern, maximum: Int) { (self.pattern, self.maximum) = (pattern, maximum) }
    }

    /// The reason why an extension does not take an input.
    public enum Refusal: Hashable, Sendable, CustomStringConvertible {
        /// The input has no attachments.
        case nothing
        /// An attachment matches no entry; `index` counts all attachments from 0.
        case notAccepted(ContentType, index: Int)
        /// More attachments count for an entry than it allows.
        case tooMany(Pattern, count: Int, maximum: Int)

        /// A sentence for people, about the extension.
        public var description: String {
            switch self {
            case .nothing: "there is nothing to take"
            case .notAccepted(let type, _): "it does not take '\(type)'"
            case .tooMany(let pattern, let count, let maximum):
                "it takes at most \(maximum) of '\(pattern)', and these are \(count)"
            }
        }
    }

    /// The entries. Of two with one pattern, the first counts.
    public let entries: [Entry]

    /// Creates a rule. A rule without entries refuses every input.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// Returns why an input with attachments of these types is refused; nil if it is accepted. A type that matches no
    /// entry comes before a count that is too large; of several, the first is returned.
    public func refusal(of types: [ContentType]) -> Refusal? {
        if types.isEmpty { return .nothing }
        var counts = [Int](repeating: 0, count: entries.count)
        for (index, type) in types.enumerated() {
            guard let entry = entry(for: type) else { return .notAccepted(type, index: index) }
            counts[entry] += 1
        }
        for (entry, count) in zip(entries, counts) where count > entry.maximum {
            return .tooMany(entry.pattern, count: count, maximum: entry.maximum)
        }
        return nil
    }

    /// Returns the index of the most specific entry that a type matches, the first of several.
    private func entry(for type: ContentType) -> Int? {
        var best: (index: Int, specificity: Int)?
        for (index, entry) in entries.enumerated() {
            guard let specificity = entry.pattern.specificity(for: type) else { continue }
            if best.map({ $0.specificity < specificity }) ?? true { best = (index, specificity) }
        }
        return best?.index
    }
}
