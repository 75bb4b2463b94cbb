import GroupCommandLine
import GroupCommands
import GroupContainer

/// The options of a watch with `--defaults`, checked before anything is opened.
struct KeyWatchOptions {
    let suite: String
    let origin: ChangeOrigin
    let filter: KeyFilter
    let text: KeyChangeText
    /// --count
    let limit: Int?
    /// --timeout
    let silence: Duration?
    /// The debounce of COMMAND.
    let settling: (quiet: Duration, atMost: Duration)
    let command: [[UInt8]]?
    let separatesByNUL: Bool

    /// Returns nil without `--defaults`.
    init?(_ run: borrowing CommandRun) throws {
        let arguments = run.arguments
        guard let suite = try arguments.text("defaults") else { return nil }
        self.suite = suite
        origin = try WatchOptions.origin(arguments)
        filter = try KeyFilter(arguments)
        text = KeyChangeText(run.options)
        limit = try WatchOptions.limit(arguments)
        silence = run.options.timeout
        command = arguments.command
        separatesByNUL = arguments.flag("null")
        for name in ["format", "timefmt", "bookmarks", "cursor", "sequence"] where arguments.flag(name) {
            throw arguments.usageError("--\(name) is for items; with --defaults say --json")
        }
        let (quiet, atMost) = (try arguments.time("settle"), try arguments.time("settle-max"))
        try WatchOptions.check(quiet, atMost, arguments)
        if command == nil {
            if quiet != nil || atMost != nil {
                throw arguments.usageError("--settle with --defaults is for COMMAND: each change of a key is a line")
            }
            if separatesByNUL { throw arguments.usageError("-0 is for what COMMAND reads") }
        }
        let pause = quiet ?? WatchOptions.settlingOfCommand
        settling = (pause, atMost ?? pause * 10)
    }
}
