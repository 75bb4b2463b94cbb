import CommandLineKit
import ContainerCommands
import GroupContainer
import SystemCalls

/// The stream: follow, print, keep the cursor file current, end when asked to.
struct Watch {
    private let container: Container
    private var follower: ChangeFollower
    private let text: ChangeText
    private var cursorFile: CursorFile?
    private let limit: Int?
    private let silence: Duration?
    private let signals = TerminationSignals()
    /// Until the next look whether a steward watches; nil once it was said.
    private var announcing: Duration? = .milliseconds(1)

    /// How often, with nothing to print, it looks whether its reader or its container is gone and writes the cursor
    /// file.
    private static let heartbeat = Duration.milliseconds(100)

    init(_ run: inout CommandRun) throws {
        let arguments = run.arguments
        var origin = try Self.origin(arguments)
        limit = try arguments.text("count").map { text in
            guard let number = Int(text), number > 0 else {
                throw arguments.usageError("--count: '\(text)' is not a positive number")
            }
            return number
        }
        silence = run.options.timeout
        if let path = arguments.value("cursor-file") {
            let file = CursorFile(path: path)
            if let cursor = try file.read() { origin = .cursor(cursor) }
            cursorFile = file
        }
        container = try run.openContainer()
        _ = container.coordinator(purpose: run.options.purpose)
        follower = try container.follow(since: origin)
        text = ChangeText(run.options)
    }

    private static func origin(_ arguments: ParsedArguments) throws -> ChangeOrigin {
        switch try arguments.text("since") {
        case nil, "now"?: return .now
        case "start"?: return .start
        case let text?:
            guard let cursor = Cursor(text) else {
                throw arguments.usageError(
                    "--since: '\(PipeText.escaped(Array(text.utf8)))' is neither a cursor nor start nor now")
            }
            return .cursor(cursor)
        }
    }

    /// There is a steward that sees every change when it happens, and it has not been said yet.
    private mutating func isToBeAnnounced() -> Bool {
        guard let patience = announcing else { return false }
        announcing = min(patience * 2, Self.heartbeat)
        return container.isReadOnly || container.awaitSteward(timeout: .zero)
    }

    private mutating func announce(_ run: borrowing CommandRun) {
        announcing = nil
        let group = run.arguments.positional("GROUP").map { PipeText.escaped($0) } ?? ""
        run.explain("watching \(group) at \(follower.cursor)")
    }

    mutating func stream(_ run: inout CommandRun) throws -> ExitStatus {
        var lines = 0
        var quiet = Duration.zero
        try cursorFile?.note(follower.cursor, isDue: true)
        while true {
            if let number = signals.received {
                try cursorFile?.note(follower.cursor, isDue: true)
                return .signal(number)
            }
            let isWatched = isToBeAnnounced()
            let wait =
                [Self.heartbeat, silence.map { $0 - quiet }, announcing].compactMap(\.self).min() ?? Self.heartbeat
            let change = try follower.next(timeout: isWatched ? .zero : wait)
            if isWatched { announce(run) }
            if let change {
                try run.output.writeLine(text.line(change))
                try run.output.flush()
                quiet = .zero
                lines += 1
                // After the line: a kill in between repeats it, rather than skipping it.
                try cursorFile?.note(follower.cursor, isDue: lines == limit)
                if lines == limit { return .success }
            } else {
                quiet += wait
                try cursorFile?.note(follower.cursor, isDue: true)
                if run.output.readerIsGone() { return .success }
                if let silence, quiet >= silence { return .timedOut }
            }
        }
    }
}
