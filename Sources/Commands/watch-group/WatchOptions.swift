import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

/// The options that all sources have.
struct WatchOptions {
    let origin: ChangeOrigin
    /// --count
    let limit: Int?
    /// --timeout
    let silence: Duration?
    /// --settle
    let quiet: Duration?
    /// --settle-max
    let atMost: Duration?
    let command: [[UInt8]]?
    let separatesByNUL: Bool

    /// The debounce of a COMMAND without --settle: long enough to collect what one save, checkout or build changes, and
    /// too short to be noticed.
    static let settlingOfCommand = Duration.milliseconds(100)

    init(_ run: borrowing CommandRun) throws {
        let arguments = run.arguments
        origin =
            try OriginOption.origin(arguments, words: [("start", .start), ("snapshot", .snapshot), ("now", .now)])
            ?? .now
        limit = try arguments.positiveNumber("count")
        silence = run.options.timeout
        command = arguments.command
        separatesByNUL = arguments.flag("null")
        quiet = try arguments.time("settle")
        atMost = try arguments.time("settle-max")
        if let quiet, let atMost, quiet > atMost {
            throw arguments.usageError("--settle-max must be at least as long as --settle")
        }
    }
}
