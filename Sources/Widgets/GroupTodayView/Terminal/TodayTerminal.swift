package import GroupSystemCalls

/// The view of today on a terminal, for a host's event loop: has the descriptor and the time to wait for, reads keys,
/// and draws. The screen and the mode of the terminal are restored when the value is destroyed, when the process ends,
/// and before a signal other than SIGKILL ends it.
package struct TodayTerminal: ~Copyable {
    /// The alternate screen; no cursor; no wrapping at the border; clicks and the wheel are reported, in the form SGR;
    /// pasted text is marked.
    private static let drawing = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?1000h\u{1B}[?1006h\u{1B}[?2004h"
    private static let resting = "\u{1B}[0m\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// How long to wait for the rest of a key: other keys begin with an Escape, too. The bytes of a key come within
    /// this time, also over a slow connection.
    private static let escapePatience: Int64 = 50_000_000

    private let terminal: DrawnTerminal
    private let poller: Poller
    private let known: () -> [KnownWidget]
    private let output: Int32
    private var screen: TodayScreen
    private var keys = KeyDecoder()
    /// The frame that the terminal shows; nil if it is not known.
    private var shown: Frame?
    /// The time until which `shown` is current by itself.
    private var until: Int64?
    /// When a single Escape becomes a key, in monotonic time.
    private var escapeDue: Int64?
    private var isChanged = true
    /// Whether the terminal is gone.
    private var isGone = false

    /// Whether there is a terminal to draw on: standard input and output are terminals, and TERM is neither empty nor
    /// `dumb`. Library calls: isatty(3), getenv(3).
    package static var isPossible: Bool {
        StandardStreams.kind(of: 0) == .terminal && StandardStreams.kind(of: 1) == .terminal
            && !["", "dumb"].contains(environmentValue("TERM") ?? "")
    }

    /// Takes the terminal over for this view. The descriptors stay their owner's. `known` returns the installed
    /// widgets, of which one can be added to the list. System calls: tcsetattr(3), sigaction(2), epoll_create1(2).
    package init(
        input: Int32 = 0, output: Int32 = 1, _ look: TodayLook, known: @escaping () -> [KnownWidget]
    ) throws(Errno) {
        let poller = try Poller()
        let terminal = try DrawnTerminal(input: input, output: output, drawing: Self.drawing, resting: Self.resting)
        try poller.add(input)
        try poller.add(terminal.wake)
        self.terminal = terminal
        self.output = output
        self.known = known
        self.poller = poller
        screen = TodayScreen(size: Self.size(of: output), look: look)
        screen.know(known())
    }

    private static func size(of output: Int32) -> WidgetSize {
        guard let size = DrawnTerminal.size(of: output) else { return WidgetSize(columns: 80, rows: 24) }
        return WidgetSize(columns: size.columns, rows: size.rows)
    }

    /// The descriptor for which `inputReady` is due once it can be read; nil once the terminal is gone.
    package var descriptor: Int32? { isGone ? nil : poller.descriptor }

    /// The largest room of a widget: the cells between the borders.
    package var room: WidgetSize {
        WidgetSize(columns: max(0, screen.size.columns - 4), rows: max(1, screen.panelRows))
    }

    /// Handles typed keys and signals, and returns the user's commands, in order; `draw` is due after it.
    package mutating func inputReady() -> [UserCommand] {
        var commands: [UserCommand] = []
        let news = terminal.news()
        if news.contains(.resized) { resize() }
        if news.contains(.stopping) { suspend() } else if news.contains(.continued) { goOn() }
        guard let bytes = terminal.typed() else {
            isGone = true
            return [.quit]
        }
        for key in keys.take(bytes) { press(key, &commands) }
        escapeDue = keys.isWaiting ? monotonicNanoseconds() + Self.escapePatience : nil
        return commands
    }

    /// Takes the new size of the window, for a host that handles SIGWINCH itself.
    package mutating func windowChanged() { resize() }

    /// Returns how long nothing is due without an event, in nanoseconds; nil if nothing is due at all.
    package func wait() -> Int64? {
        let drawing = isGone ? nil : until.map { max(0, $0 - wallNanoseconds()) }
        let escape = escapeDue.map { max(0, $0 - monotonicNanoseconds()) }
        if let drawing, let escape { return min(drawing, escape) }
        return drawing ?? escape
    }

    /// Handles keys that are complete by time, and returns the user's commands; `draw` is due after it.
    package mutating func tick() -> [UserCommand] {
        guard let due = escapeDue, monotonicNanoseconds() >= due else { return [] }
        var commands: [UserCommand] = []
        escapeDue = nil
        for key in keys.timeIsOver() { press(key, &commands) }
        return commands
    }

    /// Replaces the panels, or their order.
    package mutating func take(_ model: TodayModel) {
        screen.take(model)
        screen.know(known())
        isChanged = true
    }

    /// Replaces one panel that looks different.
    package mutating func take(_ panel: Panel) {
        screen.take(panel)
        isChanged = true
    }

    /// Shows a notice.
    package mutating func show(notice text: String) {
        screen.show(notice: text)
        isChanged = true
    }

    /// Draws what differs from the terminal's content, if the content may have changed. Returns commands for the
    /// widgets that came into sight or went out of it. System calls: write(2).
    package mutating func draw() -> [UserCommand] {
        let now = wallNanoseconds()
        if !isGone, isChanged || shown == nil || until.map({ $0 <= now }) == true {
            let moment = TodayMoment(now: now, secondsFromGMT: secondsFromGMT(atSecond: now / 1_000_000_000))
            let picture = screen.picture(at: moment)
            do throws(OutputError) {
                try write(FrameDifference.bytes(from: shown, to: picture.frame, isColored: screen.look.isColored))
            } catch {
                isGone = true
                return [.quit]
            }
            (shown, until, isChanged) = (picture.frame, picture.until, false)
        }
        return screen.visibilityChanges()
    }

    private func write(_ bytes: [UInt8]) throws(OutputError) {
        var stream = StandardOutput(descriptor: output)
        try stream.write(bytes)
        try stream.flush()
    }

    private mutating func press(_ key: Key, _ commands: inout [UserCommand]) {
        isChanged = true
        if key == .character("a") { screen.know(known()) }
        for action in screen.press(key) {
            switch action {
            case .command(let command): commands.append(command)
            case .redrawAll: shown = nil
            case .suspend: suspend()
            }
        }
    }

    private mutating func resize() {
        screen.resize(to: Self.size(of: output))
        isChanged = true
    }

    private mutating func suspend() {
        terminal.stop()
        // Discards the events of the signals that stopped the program.
        _ = terminal.news()
        goOn()
    }

    /// Takes the terminal back, which another program has used meanwhile.
    private mutating func goOn() {
        // If a shell has continued this program in the background, the kernel stops it here, as it should.
        terminal.leave()
        try? terminal.enter(drawing: Self.drawing, resting: Self.resting)
        resize()
        shown = nil
    }
}
