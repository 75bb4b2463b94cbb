// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The changes that a follower wants: by path, by kind, and by excluded purposes. A value; the order in which patterns
/// are added matters, since the last one that matches a path decides. An item that is ignored is out, whatever the other
/// patterns say.
///
/// A path that no pattern matches is in if the first pattern excludes, and out if it includes: `["Library/**"]` means
/// everything below Library, and a filter that only excludes means everything else. Patterns match whole paths: `*`,
/// `?` and `[…]` within a component, `**` across directories; `a/**` matches everything below `a`, not `a` itself.
///
/// A follower that keeps a copy of what is in gets what that copy needs:
///
/// - An item that is moved across the border is `created` where it comes in and `removed` where it goes out.
/// - A directory that comes in brings a `created` for each item in it that is in.
/// - An exchange across the border is `modified`, or `removed` and `created`.
/// - A directory that goes is returned if anything below it could be in.
public struct ChangeFilter: Hashable, Sendable, ExpressibleByArrayLiteral {
    private struct Rule: Hashable, Sendable {
        var includes: Bool
        var glob: Glob
    }
    private var rules: [Rule] = []
    private var ignored = IgnorePatterns()

    /// The kinds of changes of items that are in; nil for all. The markers `rescan`, `degraded` and `bookmark` are
    /// always in: without them a follower would take an incomplete stream for complete.
    public var kinds: Set<Change.Kind.Word>?

    /// Purposes whose changes under a lock are out: one's own, for example.
    public var excludedPurposes: Set<String> = []

    /// Every change.
    public static let everything = ChangeFilter()

    /// Makes a filter that lets every change through.
    public init() {}

    /// Makes a filter of what matches one of these patterns; with none, everything.
    public init(including patterns: [String]) {
        for pattern in patterns { include(pattern) }
    }

    /// Makes a filter of what matches one of these patterns; with none, everything.
    public init(arrayLiteral patterns: String...) { self.init(including: patterns) }

    /// Makes a filter of what matches one of these patterns and is not ignored: see `ignore(_:)`. Error:
    /// `invalidArgument`
    public init(including patterns: [String] = [], ignoring ignored: [String]) throws(CoordinationError) {
        self.init(including: patterns)
        for pattern in ignored { try ignore(pattern) }
    }

    /// Makes a filter of one item, whatever characters are in its path.
    package init(only path: ItemPath) {
        include(bytes: path.bytes.flatMap { "*?[\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] })
    }

    /// Includes what matches a pattern, unless a later pattern matches it, too.
    public mutating func include(_ pattern: String) { include(bytes: Array(pattern.utf8)) }

    /// Excludes what matches a pattern, unless a later pattern matches it, too.
    public mutating func exclude(_ pattern: String) { exclude(bytes: Array(pattern.utf8)) }

    /// Includes what matches a pattern that is not UTF-8.
    public mutating func include(bytes: [UInt8]) { rules.append(Rule(includes: true, glob: Glob(bytes))) }

    /// Excludes what matches a pattern that is not UTF-8.
    public mutating func exclude(bytes: [UInt8]) { rules.append(Rule(includes: false, glob: Glob(bytes))) }

    /// Ignores what a pattern matches. The pattern means what it means in a `.gitignore` at the container's root
    /// (gitignore(5)): without a `/` but at its end, it is for names in whatever directory; with one, for paths; with a
    /// `/` at its end, for directories only. What is below an ignored directory is ignored, too. A pattern that begins
    /// with `!` is for items that are not ignored after all. The last pattern that matches decides.
    ///
    /// At most 1,000 patterns, each of at most 4,096 bytes. Not supported: classes such as `[[:alpha:]]`, a `\` or a
    /// `/` within `[…]`, and `[!]…]`. Error: `invalidArgument`, with the pattern as the item
    public mutating func ignore(_ pattern: String) throws(CoordinationError) { try ignore(bytes: Array(pattern.utf8)) }

    /// Ignores what a pattern matches that is not UTF-8. Error: as of `ignore(_:)`
    public mutating func ignore(bytes: [UInt8]) throws(CoordinationError) { try ignore(bytes, line: nil) }

    /// Ignores what the patterns in a `.gitignore` match: one in each line, without empty lines, comments (`#`) and
    /// spaces at the end of a line. Error: as of `ignore(_:)`; the reason names the line
    public mutating func ignore(linesOf content: [UInt8]) throws(CoordinationError) {
        for (index, line) in IgnorePattern.lines(of: content[...]).enumerated() {
            if let pattern = IgnorePattern.pattern(inLine: line) { try ignore(Array(pattern), line: index + 1) }
        }
    }

    private mutating func ignore(_ pattern: [UInt8], line: Int?) throws(CoordinationError) {
        do throws(IgnorePattern.Fault) {
            try ignored.append(pattern)
        } catch {
            let place = line.map { "line \($0): " } ?? ""
            throw CoordinationError(
                .invalidArgument, operation: "ignore", item: printable(Array(pattern.prefix(200))),
                reason: "\(place)\(error)")
        }
    }

    /// Returns whether an item at this path is in. Without a type, an ignoring pattern for directories only matches the
    /// directories above the item, and not the item.
    public func matches(_ path: ItemPath, type: ItemType? = nil) -> Bool {
        matches(path.bytes, isDirectory: type == .directory)
    }

    package var concernsPaths: Bool { !rules.isEmpty || !ignored.isEmpty }

    func matches(_ path: [UInt8], isDirectory: Bool) -> Bool {
        rulesInclude(path) && !ignored.ignores(path, isDirectory: isDirectory)
    }

    /// Returns whether an item is in or not depending on whether it is a directory.
    func dependsOnType(_ path: [UInt8]) -> Bool { rulesInclude(path) && ignored.dependOnType(path) }

    private func rulesInclude(_ path: [UInt8]) -> Bool {
        rules.last { $0.glob.matches(path) }?.includes ?? includesByDefault
    }

    private var includesByDefault: Bool { rules.first.map { !$0.includes } ?? true }

    /// The part of the items below a directory that is in.
    enum Coverage: Equatable, Sendable {
        case all, none
        /// The filter decides by item.
        case some
    }

    func coverage(below directory: [UInt8]) -> Coverage {
        if ignored.ignores(directory, isDirectory: true) { return .none }
        let included = rulesCoverage(below: directory)
        return included == .all && ignored.couldIgnoreBelow(directory) ? .some : included
    }

    private func rulesCoverage(below directory: [UInt8]) -> Coverage {
        var answers: Set<Bool> = []
        for rule in rules.reversed() where rule.glob.couldMatchBelow(directory) {
            answers.insert(rule.includes)
            if rule.glob.matchesEverythingBelow(directory) { return Self.coverage(answers) }
        }
        answers.insert(includesByDefault)
        return Self.coverage(answers)
    }

    private static func coverage(_ answers: Set<Bool>) -> Coverage {
        if answers.count > 1 { return .some }
        return answers == [true] ? .all : .none
    }

    /// Returns whether the same items are in below both directories, whatever those contain.
    func coversAlike(below directory: [UInt8], _ other: [UInt8]) -> Bool {
        let (here, there) = (coverage(below: directory), coverage(below: other))
        if here != .some || there != .some { return here == there }
        return (rules.map(\.glob) + ignored.patterns.map(\.glob)).allSatisfy { glob in
            glob.dependsOnNameAlone || (!glob.couldMatchBelow(directory) && !glob.couldMatchBelow(other))
        }
    }

    /// Returns whether a change that the paths let through is wanted.
    func wants(_ change: Change) -> Bool {
        if change.kind.isMarker { return true }
        if let kinds, !kinds.contains(change.kind.word) { return false }
        return change.author.map { !excludedPurposes.contains($0.purpose) } ?? true
    }
}

extension ChangeFilter {
    /// Returns why a pattern cannot match any path, or not the intended ones, and how to write it; nil for a correct
    /// pattern.
    package static func fault(ofPattern pattern: [UInt8]) -> String? {
        let slash = UInt8(ascii: "/")
        if pattern.isEmpty { return "the pattern is empty" }
        if pattern.starts(with: "./".utf8) { return "patterns are relative to the container, without './'" }
        if pattern.first == slash { return "patterns are relative to the container, without a '/' at the beginning" }
        if pattern.last == slash {
            return "a pattern has no '/' at the end: 'a' is a directory itself, 'a/**' what is below it"
        }
        for part in pattern.split(separator: slash, omittingEmptySubsequences: false) {
            if part.isEmpty { return "the pattern has an empty component" }
            if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
                return "no path has '.' or '..' in it: patterns are relative to the container"
            }
            if part.elementsEqual(".group".utf8) {
                return "nothing in '.group' is an item: the library keeps it for itself"
            }
            if let fault = Glob.fault(of: part) { return fault }
        }
        return nil
    }
}

extension Glob {
    /// Returns the fault of one component.
    package static func fault(of part: ArraySlice<UInt8>) -> String? {
        var rest = part
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.popFirst() == nil { return "nothing stands behind the '\\' at the end" }
            if byte == UInt8(ascii: "[") {
                guard let close = rest.dropFirst().firstIndex(of: UInt8(ascii: "]")) else {
                    return "a '[' has no ']' behind it; write '\\[' for one that is meant itself"
                }
                let set = rest[..<close]
                if zip(set, set.dropFirst()).contains(where: { $0 == byte && ":.=".utf8.contains($1) }) {
                    return "classes such as '[[:alpha:]]' are not known; write the bytes, as in '[a-zA-Z]'"
                }
                if set.contains(UInt8(ascii: "\\")) { return "a '\\' within '[…]' is not known" }
                rest = rest[(close + 1)...]
            }
        }
        return nil
    }
}
