import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// `groupctl status --watch`: prints the status, and again after each change.
struct StatusWatching {
    /// How long after a look the next one may come.
    private static let shortestPause: Int64 = 100_000_000

    private let limit: Int?
    private let silence: Duration?
    private var printed = 0
    /// The status that was printed last, without the ages that its text may have.
    private var last = ""

    init(_ run: borrowing CommandRun) throws {
        let arguments = run.arguments
        limit = try arguments.positiveNumber("count")
        silence = run.options.timeout
    }

    /// Prints until the limit, the end of the time, or the end of the output's reader. A signal ends the process: each
    /// status is written at once, and nothing is to be cleaned up.
    mutating func run(
        _ container: Container, _ run: inout CommandRun,
        _ lines: (ContainerStatus) -> [String]
    ) throws -> ExitStatus {
        let poller = try Poller()
        let watch = try StatusWatch(container)
        try poller.add(watch.descriptor)
        run.output.whenReaderIsGone(poller.wake)
        var changed = monotonicNanoseconds()
        while true {
            let began = monotonicNanoseconds()
            let isUnsure = try watch.begin()
            let status = try container.status()
            let content = status.json(of: container).encoded()
            if content != last {
                last = content
                changed = began
                let all = run.options.isJSON ? [content] : (printed == 0 ? [] : [""]) + lines(status)
                for line in all { try run.output.writeLine(line) }
                try run.output.flush()
                printed += 1
                if printed == limit { return .success }
            }
            // Many changes are shown together, and looking takes a fifth of a processor at most.
            let end = monotonicNanoseconds()
            pause(nanoseconds: max(Self.shortestPause - (end - began), 4 * (end - began)))
            let rest = silence.map { $0.nanoseconds - (monotonicNanoseconds() - changed) }
            let isWoken = try poller.wait(nanoseconds: isUnsure ? 0 : rest.map { max(0, $0) })
            if run.output.readerIsGone() { return .success }
            if !isWoken, !isUnsure, rest != nil { return .timedOut }
        }
    }
}
