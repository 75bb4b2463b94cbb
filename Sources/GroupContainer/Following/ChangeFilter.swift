// Imports nothing: no file, clock or process.

/// Which changes a follower wants: by path, by kind, and not by whom. A value; the order in which patterns are added
/// matters, since the last one that matches a path decides.
///
/// A path that no pattern matches is in if the first pattern excludes, and out if it includes: `["Library/**"]` is what
/// is below Library, and one that only excludes is everything else. Patterns are over whole paths: `*`, `?` and `[…]`
/// within a component, `**` across directories; `a/**` is everything below `a`, not `a` itself.
///
/// Who keeps a copy of what is in gets what that copy needs. What is moved across the border is `created` where it
/// comes in and `removed` where it goes out; a directory that comes in brings a `created` for each item in it that is
/// in, and an exchange across the border is `modified`, or `removed` and `created`. A directory that goes is told if
/// anything below it could be in.
public struct ChangeFilter: Hashable, Sendable, ExpressibleByArrayLiteral {
    private struct Rule: Hashable, Sendable {
        var includes: Bool
        var glob: Glob
    }
    private var rules: [Rule] = []

    /// The kinds of changes of items that are in; nil for all. The markers `rescan`, `degraded` and `bookmark` always
    /// are: who does not hear them takes what is missing for complete.
    public var kinds: Set<Change.Kind.Word>?

    /// Changes made under a lock by who calls himself so are out: one's own, for one.
    public var excludedPurposes: Set<String> = []

    /// Every change.
    public static let everything = ChangeFilter()

    /// Every change.
    public init() {}

    /// What matches one of these patterns; with none, everything.
    public init(including patterns: [String]) {
        for pattern in patterns { include(pattern) }
    }

    /// What matches one of these patterns; with none, everything.
    public init(arrayLiteral patterns: String...) { self.init(including: patterns) }

    /// What matches is in, unless a later pattern matches it, too.
    public mutating func include(_ pattern: String) { include(bytes: Array(pattern.utf8)) }

    /// What matches is out, unless a later pattern matches it, too.
    public mutating func exclude(_ pattern: String) { exclude(bytes: Array(pattern.utf8)) }

    /// For a pattern that is not UTF-8.
    public mutating func include(bytes: [UInt8]) { rules.append(Rule(includes: true, glob: Glob(bytes))) }

    /// For a pattern that is not UTF-8.
    public mutating func exclude(bytes: [UInt8]) { rules.append(Rule(includes: false, glob: Glob(bytes))) }

    /// Whether an item at this path is in.
    public func includes(_ path: ItemPath) -> Bool { includes(path.bytes) }

    var concernsPaths: Bool { !rules.isEmpty }

    func includes(_ path: [UInt8]) -> Bool {
        rules.last { $0.glob.matches(path) }?.includes ?? includesByDefault
    }

    private var includesByDefault: Bool { rules.first.map { !$0.includes } ?? true }

    /// What is in of whatever is below a directory.
    enum Coverage: Equatable, Sendable {
        case all, none
        /// It depends on the item.
        case some
    }

    func coverage(below directory: [UInt8]) -> Coverage {
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

    /// Whether the same items are in below both directories, whatever is in there.
    func coversAlike(below directory: [UInt8], _ other: [UInt8]) -> Bool {
        let (here, there) = (coverage(below: directory), coverage(below: other))
        if here != .some || there != .some { return here == there }
        return rules.allSatisfy { rule in
            rule.glob.dependsOnNameAlone
                || (!rule.glob.couldMatchBelow(directory) && !rule.glob.couldMatchBelow(other))
        }
    }

    /// Whether a change that the paths let through is wanted.
    func wants(_ change: Change) -> Bool {
        if change.kind.isMarker { return true }
        if let kinds, !kinds.contains(change.kind.word) { return false }
        return change.by.map { !excludedPurposes.contains($0.purpose) } ?? true
    }
}
