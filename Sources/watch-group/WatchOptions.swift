import GroupCommandLine
import GroupCommands
import GroupContainer

/// The options of a watch of items, checked before anything is opened.
struct WatchOptions {
    struct Debouncer: Sendable {
        var quiet: Duration
        /// Nil means ten times `quiet`.
        var atMost: Duration?
    }

    let origin: ChangeOrigin
    let filter: ChangeFilter
    let text: ChangeText
    /// --count
    let limit: Int?
    /// --timeout
    let silence: Duration?
    let settling: Debouncer?
    let saysBookmarks: Bool
    let command: [[UInt8]]?
    let separatesByNUL: Bool

    /// The debounce of a COMMAND without --settle: long enough to collect what one save, checkout or build changes, and
    /// too short to be noticed.
    static let settlingOfCommand = Duration.milliseconds(100)

    init(_ run: borrowing CommandRun) throws {
        let arguments = run.arguments
        origin = try Self.origin(arguments)
        filter = try FilterOptions.filter(arguments)
        text = try ChangeText(run)
        limit = try Self.limit(arguments)
        silence = run.options.timeout
        command = arguments.command
        saysBookmarks = arguments.flag("bookmarks")
        separatesByNUL = arguments.flag("null")
        let (quiet, atMost) = (try arguments.time("settle"), try arguments.time("settle-max"))
        settling = (quiet ?? (command == nil ? nil : Self.settlingOfCommand)).map {
            Debouncer(quiet: $0, atMost: atMost)
        }
        try Self.check(quiet, atMost, arguments)
        if atMost != nil && settling == nil { throw arguments.usageError("--settle-max needs --settle") }
        if command == nil && separatesByNUL {
            throw arguments.usageError("-0 is for what COMMAND reads; for lines, say --format '%w%f%0'")
        }
        let areForLines = ["format", "cursor", "sequence", "bookmarks"]
        if command != nil, let name = areForLines.first(where: { arguments.flag($0) }) {
            throw arguments.usageError("COMMAND reads paths: --\(name) is for lines")
        }
    }

    /// Checks --settle against --settle-max.
    static func check(_ quiet: Duration?, _ atMost: Duration?, _ arguments: ParsedArguments) throws(UsageError) {
        if let quiet, let atMost, quiet > atMost {
            throw arguments.usageError("--settle-max is at least as long as --settle")
        }
    }

    /// Returns the origin from --since.
    static func origin(_ arguments: ParsedArguments) throws(UsageError) -> ChangeOrigin {
        try OriginOption.origin(arguments, words: [("start", .start), ("snapshot", .snapshot), ("now", .now)]) ?? .now
    }

    /// Returns the limit from --count.
    static func limit(_ arguments: ParsedArguments) throws(UsageError) -> Int? {
        guard let text = try arguments.text("count") else { return nil }
        if let number = Int(text), number > 0 { return number }
        throw arguments.usageError("--count: '\(PipeText.escaped(Array(text.utf8)))' is not a positive number")
    }

    /// What follows a `rescan`: with `--since snapshot`, a new snapshot.
    var rescanPolicy: RescanPolicy { origin == .snapshot ? .snapshot : .marker }
}
