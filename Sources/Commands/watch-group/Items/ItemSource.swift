import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The items of the container: each change or, with `--settle` or COMMAND, settled changes.
struct ItemSource: WatchSource {
    struct Options: WatchSourceOptions {
        let common: WatchOptions
        let filter: ChangeFilter
        let included: [[UInt8]]
        let text: ChangeText
        /// The time for which a path is quiet; nil where each change counts.
        let quiet: Duration?
        let saysBookmarks: Bool

        init(_ run: borrowing CommandRun) throws {
            let arguments = run.arguments
            common = try WatchOptions(run)
            filter = try FilterOptions.filter(arguments)
            included = arguments.values("include")
            text = try ChangeText(run, times: .clock)
            saysBookmarks = arguments.flag("bookmarks")
            quiet = common.quiet ?? (common.command == nil ? nil : WatchOptions.settlingOfCommand)
            if common.atMost != nil && quiet == nil { throw arguments.usageError("--settle-max needs --settle") }
            if common.command == nil && common.separatesByNUL {
                throw arguments.usageError("-0 needs COMMAND; for lines, use --format '%w%f%0'")
            }
            let areForLines = ["format", "cursor", "sequence", "bookmarks"]
            if common.command != nil, let name = areForLines.first(where: { arguments.flag($0) }) {
                throw arguments.usageError("COMMAND reads paths: --\(name) is for lines")
            }
        }
    }

    private let options: Options
    private var follower: Follower<Change>
    private var bookmarks = Bookmarks()
    private var changes = ChangeSummary()

    init(_ options: Options, in container: Container, since origin: ChangeOrigin, purpose: String) throws {
        self.options = options
        try FilterOptions.checkIsNoLink(options.included, in: container)
        // What follows a `rescan`: with `--since snapshot`, a new snapshot.
        follower = try container.follow(
            since: origin, matching: options.filter,
            afterRescan: options.common.origin == .snapshot ? .snapshot : .marker)
        if let quiet = options.quiet { follower = follower.debounced(for: quiet, atMost: options.common.atMost) }
    }

    var includedPaths: [[UInt8]] { options.included }
    static func suite(of options: Options) -> String? { nil }
    static var isCompleteAtOnce: Bool { false }
    var resumeCursor: Cursor { follower.cursor }
    var readCursor: Cursor { follower.readPosition }

    mutating func next(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> Change? {
        try follower.next(timeout: timeout, since: seen)
    }

    mutating func nextBatch(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> [Change] {
        try follower.nextBatch(timeout: timeout, since: seen)
    }

    /// False with a filter of paths, and with snapshots: these may look at all items, which takes the leader's thread
    /// too long.
    var allowsDirectDelivery: Bool {
        !options.saysBookmarks && options.quiet == nil && !options.filter.concernsPaths
            && options.common.origin != .snapshot
    }

    func awaitMore<Reader: DirectReader>(
        in container: Container, timeout: Duration?, since seen: Interruption, offering reader: inout Reader
    ) throws(CoordinationError) {
        try container.awaitMore(behind: follower, timeout: timeout, since: seen, offering: &reader)
    }

    mutating func text(of change: Change) -> [UInt8] {
        changes.note(change)
        switch change.kind {
        case .rescan: bookmarks.noteRescan()
        case .bookmark: bookmarks.noteBookmark(at: change.sequence.rawValue)
        default: break
        }
        return options.text.line(change, cursor: resumeCursor)
    }

    mutating func dueBookmark(idle: Int64) -> Change? {
        guard options.saysBookmarks, !follower.cursor.isInvalid else { return nil }
        let bookmark = follower.bookmark
        return bookmarks.isDue(at: bookmark.sequence.rawValue, idle: idle) ? bookmark : nil
    }

    func bookmarkWait(idle: Int64) -> Int64? {
        if !options.saysBookmarks || follower.cursor.isInvalid { return nil }
        return bookmarks.wait(at: follower.bookmark.sequence.rawValue, idle: idle)
    }

    func summary(after time: Int64) -> String? {
        if case .terminal = options.text.form { return changes.line(after: time) }
        return nil
    }

    var emptyBatch: ItemBatch { ItemBatch() }

    func complaint(about change: Change) -> String? {
        guard case .degraded(let reason) = change.kind else { return nil }
        return "watching is incomplete: '\(change.path)': \(reason)"
    }

    func variables(of batch: ItemBatch) -> [(name: String, value: String)] { [("GROUP_PATHS", "\(batch.count)")] }
}
