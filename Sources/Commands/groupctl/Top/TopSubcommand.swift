import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls
import GroupTerminal

func top(_ run: inout CommandRun) throws -> ExitStatus {
    if run.options.isJSON || !ScreenTerminal.isPossible {
        let group = run.arguments.positional("GROUP").map { PipeText.escaped($0) } ?? "GROUP"
        let instead = "groupctl status --watch \(run.options.isJSON ? "--json " : "")\(group)"
        throw run.arguments.usageError(
            run.options.isJSON
                ? "top draws on a terminal; for JSON: \(instead)"
                : "top needs a terminal, for input and output; for a pipe or a file: \(instead)")
    }
    let container = try run.openContainer()
    _ = container.coordinator(purpose: run.options.purpose)
    var view = try TopView(container, TerminalLook(run.options.color))
    try view.show()
    return .success
}

/// The view on a terminal: waits for changes of the status, keys and the time, looks and draws.
private struct TopView: ~Copyable {
    /// How long after a look or a picture the next one may come.
    private static let shortestPause: Int64 = 100_000_000
    private static let second: Int64 = 1_000_000_000
    /// The changes that are counted at one look; the rest is counted at the next.
    private static let mostChanges = 20_000

    private let container: Container
    private let watch: StatusWatch
    private var changes: Follower<Change>
    private var terminal: ScreenTerminal
    private var screen: TopScreen
    /// The terminal alone, the status alone, and both.
    private let keys: Poller
    private let status: Poller
    private let all: Poller

    /// Whether the status may have changed since the last look.
    private var isDue = true
    private var nextLook: Int64 = 0
    private var isChanged = true
    private var nextPicture: Int64 = 0
    /// When an age on the screen changes, by the wall clock.
    private var until: Int64?

    init(_ container: Container, _ look: TerminalLook) throws {
        let changes = try container.recordedChanges(since: .now)
        let watch = try StatusWatch(container)
        let pollers = (keys: try Poller(), status: try Poller(), all: try Poller())
        try pollers.status.add(watch.descriptor)
        try pollers.all.add(watch.descriptor)
        let terminal = try ScreenTerminal(look)
        if let descriptor = terminal.descriptor {
            try pollers.keys.add(descriptor)
            try pollers.all.add(descriptor)
        }
        screen = TopScreen(
            path: PipeText.lossyString(container.path.bytes), size: terminal.size, look: look,
            second: monotonicNanoseconds() / Self.second)
        self.container = container
        self.changes = changes
        self.watch = watch
        self.terminal = terminal
        keys = pollers.keys
        status = pollers.status
        all = pollers.all
    }

    /// Shows the view until the user quits, or the terminal is gone.
    mutating func show() throws {
        while true {
            let now = monotonicNanoseconds()
            if isDue, !screen.isPaused, now >= nextLook { try look() }
            advanceCurve()
            draw()
            if terminal.isGone { return }
            // While a look is due, its descriptor is ready all the time.
            let poller = isDue || screen.isPaused ? keys : all
            if try poller.wait(nanoseconds: wait()) {
                guard let typed = terminal.read() else { return }
                if terminal.size != screen.size {
                    screen.resize(to: terminal.size)
                    isChanged = true
                }
                if !press(typed) { return }
                if !isDue, !screen.isPaused { isDue = try status.wait(nanoseconds: 0) }
            }
            if !press(terminal.tick()) { return }
        }
    }

    private mutating func look() throws {
        let began = monotonicNanoseconds()
        // Whatever happens from here on is seen by another look.
        isDue = try watch.begin()
        let counts = try countChanges()
        screen.take(
            TopModel(try container.status(withLogs: false), of: container), at: wallNanoseconds(), changes: counts)
        let end = monotonicNanoseconds()
        // Looking takes a fifth of a processor at most, however many members there are.
        nextLook = end + max(Self.shortestPause - (end - began), 4 * (end - began))
        isChanged = true
    }

    private mutating func countChanges() throws -> [Int32?: Int] {
        advanceCurve()
        var counts: [Int32?: Int] = [:]
        for _ in 0..<Self.mostChanges {
            guard let change = try changes.next(timeout: .zero) else { return counts }
            switch change.kind {
            case .degraded(let reason): screen.notice = "watching is incomplete: \(reason)"
            case .rescan, .bookmark, .present: break
            default: counts[change.author?.processIdentifier, default: 0] += 1
            }
        }
        isDue = true
        return counts
    }

    private mutating func advanceCurve() {
        let second = monotonicNanoseconds() / Self.second
        if screen.isPaused || second <= screen.curve.second { return }
        if !screen.curve.isFlat { isChanged = true }
        screen.advance(to: second)
    }

    private mutating func draw() {
        let (now, wall) = (monotonicNanoseconds(), wallNanoseconds())
        let isOver = until.map { $0 <= wall } ?? false
        if !(isChanged || terminal.isBlank || isOver) || now < nextPicture { return }
        if isOver { screen.judgeWaits(at: wall) }
        let picture = screen.picture(
            at: TopMoment(now: wall, secondsFromGMT: secondsFromGMT(atSecond: wall / Self.second)))
        terminal.show(picture.frame)
        until = picture.until
        isChanged = false
        nextPicture = monotonicNanoseconds() + Self.shortestPause
    }

    /// Returns how long nothing is due without an event, in nanoseconds; nil if nothing is due at all.
    private func wait() -> Int64? {
        let now = monotonicNanoseconds()
        var times = [terminal.wait()]
        if isDue && !screen.isPaused { times.append(nextLook - now) }
        if isChanged || terminal.isBlank { times.append(nextPicture - now) }
        if let until { times.append(max(until - wallNanoseconds(), nextPicture - now)) }
        if !screen.isPaused, !screen.curve.isFlat { times.append((screen.curve.second + 1) * Self.second - now) }
        return times.compactMap { $0 }.map { max(0, $0) }.min()
    }

    /// Returns false if the user quits.
    private mutating func press(_ typed: [Key]) -> Bool {
        for key in typed {
            isChanged = true
            for action in screen.press(key) {
                switch action {
                case .quit: return false
                case .redrawAll: terminal.forget()
                case .suspend:
                    terminal.suspend()
                    screen.resize(to: terminal.size)
                case .pause: break
                case .proceed:
                    isDue = true
                    // What has changed meanwhile has no second on the curve.
                    if let now = try? container.recordedChanges(since: .now) { changes = now }
                }
            }
        }
        return true
    }
}
