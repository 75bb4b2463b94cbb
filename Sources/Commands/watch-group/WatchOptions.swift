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
    /// --run-at-start
    let runsAtStart: Bool
    /// --restart
    let restarts: Bool
    /// --grace
    let grace: Duration
    /// --ready-fd
    let ready: ReadyDescriptor?

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
        (runsAtStart, restarts) = (arguments.flag("run-at-start"), arguments.flag("restart"))
        grace = try arguments.time("grace") ?? .seconds(5)
        if command == nil, let name = ["run-at-start", "restart", "grace"].first(where: { arguments.flag($0) }) {
            throw arguments.usageError("--\(name) needs COMMAND")
        }
        if !restarts && arguments.flag("grace") { throw arguments.usageError("--grace needs --restart") }
        if restarts && limit != nil {
            throw arguments.usageError(
                "--count counts runs that succeed: with --restart, COMMAND runs until it is ended")
        }
        ready = try ReadyDescriptor(arguments)
        quiet = try arguments.time("settle")
        atMost = try arguments.time("settle-max")
        if let quiet, let atMost, quiet > atMost {
            throw arguments.usageError("--settle-max must be at least as long as --settle")
        }
    }
}
