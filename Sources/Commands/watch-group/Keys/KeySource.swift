import GroupSystemCalls
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

/// The keys of a suite.
struct KeySource: WatchSource {
    struct Options: WatchSourceOptions {
        let common: WatchOptions
        let suite: String
        let filter: KeyFilter
        let text: KeyChangeText

        /// Returns nil without `--defaults`.
        init?(_ run: borrowing CommandRun) throws {
            let arguments = run.arguments
            guard let suite = try arguments.text("defaults") else { return nil }
            self.suite = suite
            common = try WatchOptions(run)
            filter = try KeyFilter(arguments)
            text = try KeyChangeText(run, times: .clock)
            for name in ["format", "timefmt", "bookmarks", "cursor", "sequence"] where arguments.flag(name) {
                throw arguments.usageError("--\(name) is for items; with --defaults, use --json")
            }
            for name in ["ignore", "ignore-file"] where arguments.flag(name) {
                throw arguments.usageError("--\(name) is for items; with --defaults, use --exclude")
            }
            if common.command == nil {
                if common.quiet != nil || common.atMost != nil {
                    throw arguments.usageError(
                        "--settle with --defaults needs COMMAND: without it, each change of a key is a line")
                }
                if common.separatesByNUL { throw arguments.usageError("-0 needs COMMAND") }
            }
        }
    }

    private let options: Options
    private var follower: Follower<DefaultsChange>
    /// True until all values of a snapshot were returned; then a bookmark is due.
    private var isInSnapshot: Bool

    /// How many changes in a row the filter may reject before `next` returns.
    private static let mostPassedOver = 1_024

    init(_ options: Options, in container: Container, since origin: ChangeOrigin, purpose: String) throws {
        self.options = options
        isInSnapshot = origin == .snapshot
        follower = try GroupDefaults(container, suite: options.suite, purpose: purpose).follow(since: origin)
    }

    /// The process that sets a key wakes the followers: no leader is necessary.
    var includedPaths: [[UInt8]] { [] }
    static func suite(of options: Options) -> String? { options.suite }
    static var isCompleteAtOnce: Bool { true }
    var resumeCursor: Cursor { follower.cursor }
    var readCursor: Cursor { follower.readPosition }

    mutating func next(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> KeyLine? {
        var timeout = timeout
        for _ in 0..<Self.mostPassedOver {
            if isInSnapshot && follower.isBetweenRecords {
                isInSnapshot = false
                return .bookmark(options.suite, at: follower.cursor)
            }
            guard let change = try follower.next(timeout: timeout, since: seen) else { return nil }
            // After a rescan, either all values follow, or the values that differ.
            if change.kind == .rescan { isInSnapshot = true }
            let line = KeyLine(change)
            if options.filter.wants(line) { return line }
            timeout = .zero
        }
        return nil
    }

    mutating func nextBatch(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> [KeyLine] {
        try next(timeout: timeout, since: seen).map { [$0] } ?? []
    }

    func text(of line: KeyLine) -> [UInt8] { options.text.line(line) }

    var emptyBatch: KeyBatch {
        let quiet = options.common.quiet ?? WatchOptions.settlingOfCommand
        return KeyBatch(
            quiet: quiet.nanoseconds, atMost: (options.common.atMost ?? quiet * 10).nanoseconds)
    }

    func complaint(about line: KeyLine) -> String? { line.reason.map { "a value that was set is lost: \($0)" } }

    func variables(of batch: KeyBatch) -> [(name: String, value: String)] {
        [
            ("GROUP_SUITE", options.suite), ("GROUP_KEYS", "\(batch.keys.count)"),
            ("GROUP_CLEARED", batch.isCleared ? "1" : ""),
        ]
    }
}

extension KeyBatch: WatchBatch {
    mutating func add(_ line: KeyLine, at now: Int64) {
        switch line.kind {
        case .set, .removed, .present: note(key: line.change.key, at: now)
        case .cleared: noteCleared(at: now)
        case .rescan: noteRescan(at: now)
        case .bookmark, .degraded: break
        }
    }

    func input(separatedByNUL: Bool) -> [UInt8] {
        keys.flatMap { key in
            separatedByNUL ? Array(key.utf8) + [0] : Array((PipeText.escaped(Array(key.utf8)) + "\n").utf8)
        }
    }
}
