import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The source of a watch: items or keys.
protocol WatchSource: Sendable {
    /// What is printed as a line.
    associatedtype Line
    /// What COMMAND reads.
    associatedtype Batch: WatchBatch<Line>
    /// The options, checked before anything is opened.
    associatedtype Options: WatchSourceOptions

    init(_ options: Options, in container: Container, since origin: ChangeOrigin, purpose: String) throws

    /// The position from which a restart misses nothing that was not returned.
    var resumeCursor: Cursor { get }
    /// The position in the log from which the source reads on.
    var readCursor: Cursor { get }
    /// The patterns of the items that count; empty where every item does, and for keys.
    var includedPaths: [[UInt8]] { get }
    /// The suite whose keys a source with these options reads; nil for items.
    static func suite(of options: Options) -> String?
    /// Whether the watch is complete from the beginning, rather than once a leader watches.
    static var isCompleteAtOnce: Bool { get }

    /// Returns the next line; waits for it once, at most `timeout` (nil: no limit), and returns nil also after an
    /// interruption since `seen`, or if it was woken early.
    mutating func next(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> Line?
    /// Returns the lines that come next together; waits as `next` does.
    mutating func nextBatch(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> [Line]
    /// Whether the leader's thread may read from the source and print, which takes no longer than a line.
    var allowsDirectDelivery: Bool { get }
    /// Sleeps until there may be more, and offers `reader`, which has a copy of this source: see `Container.awaitMore`.
    func awaitMore<Reader: DirectReader>(
        in container: Container, timeout: Duration?, since seen: Interruption, offering reader: inout Reader
    ) throws(CoordinationError)
    /// Returns the bytes of a line that is printed now.
    mutating func text(of line: Line) -> [UInt8]
    /// Returns the bookmark if it is due now that no line is ready; `idle` is the time since the last line.
    mutating func dueBookmark(idle: Int64) -> Line?
    /// Returns how long until the bookmark is due if no line comes, in nanoseconds; nil if none will be due.
    func bookmarkWait(idle: Int64) -> Int64?
    /// Returns the last line of the output after a time.
    func summary(after time: Int64) -> String?

    /// The first batch of COMMAND, empty.
    var emptyBatch: Batch { get }
    /// Returns what a user of COMMAND has to know about a line.
    func complaint(about line: Line) -> String?
    /// Returns the variables of COMMAND that are the source's own.
    func variables(of batch: Batch) -> [(name: String, value: String)]
}

extension WatchSource {
    var allowsDirectDelivery: Bool { false }
    func awaitMore<Reader: DirectReader>(
        in container: Container, timeout: Duration?, since seen: Interruption, offering reader: inout Reader
    ) throws(CoordinationError) {}
    mutating func dueBookmark(idle: Int64) -> Line? { nil }
    func bookmarkWait(idle: Int64) -> Int64? { nil }
    func summary(after time: Int64) -> String? { nil }
}

/// The options of a source.
protocol WatchSourceOptions {
    var common: WatchOptions { get }
}

/// The input of a COMMAND. Times are in nanoseconds.
protocol WatchBatch<Line> {
    associatedtype Line

    var isEmpty: Bool { get }
    var isRescan: Bool { get }
    mutating func add(_ line: Line, at now: Int64)
    /// Returns how long until the batch has settled: 0 if it has, `.max` if it is empty.
    func wait(from now: Int64) -> Int64
    /// Returns whether the batch has waited as long as it may, whatever else comes.
    func isOverdue(at now: Int64) -> Bool
    /// Returns a line for each path or key, escaped as in the lines of watch-group; or each unescaped, with a NUL after
    /// it.
    func input(separatedByNUL: Bool) -> [UInt8]
    /// An empty batch, as this one was.
    var successor: Self { get }
}
