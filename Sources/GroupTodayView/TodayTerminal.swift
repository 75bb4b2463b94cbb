import Glibc
package import GroupSystemCalls

/// The view of today on a terminal, for a host's event loop: it says which descriptors to wait for and until when, takes
/// what was typed, and draws. The screen and the mode of the terminal are restored when it goes, however it goes.
package struct TodayTerminal: ~Copyable {
    /// The other screen; no cursor; no wrapping at the border; what is pasted is marked as such.
    private static let drawing = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h"
    private static let resting = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// Keys begin with an Escape, too. What belongs together comes within this time, also from afar.
    private static let escapePatience: Int64 = 50_000_000

    private let terminal: DrawnTerminal
    private let poller: Poller
    private let known: () -> [KnownWidget]
    private let output: Int32
    private var screen: TodayScreen
    private var keys = KeyDecoder()
    /// What the terminal shows; nil: who knows.
    private var shown: Frame?
    /// Until when that is true by itself.
    private var until: Int64?
    /// When an Escape that nothing follows is the key; of the clock that does not jump.
    private var escapeDue: Int64?
    private var isChanged = true
    /// Nobody is there any more.
    private var isGone = false

    /// Whether there is one to draw on: standard input and output are terminals, and TERM does not say that it cannot.
    /// Library calls: isatty(3), getenv(3)
    package static var isPossible: Bool {
        isatty(0) == 1 && isatty(1) == 1 && !["", "dumb"].contains(TodayLook.environment("TERM") ?? "")
    }

    /// From now on the terminal is this view's. The descriptors stay their owner's. `known` is asked which widgets there
    /// are when somebody wants to put one onto the list. System calls: tcsetattr(3), sigaction(2), epoll_create1(2)
    package init(
        input: Int32 = 0, output: Int32 = 1, _ look: TodayLook, known: @escaping () -> [KnownWidget]
    ) throws(Errno) {
        let poller = try Poller()
        let terminal = try DrawnTerminal(input: input, output: output, drawing: Self.drawing, resting: Self.resting)
        try poller.add(input)
        try poller.add(terminal.wake)
        self.terminal = terminal
        (self.output, self.known, self.poller) = (output, known, poller)
        screen = TodayScreen(size: Self.size(of: output), look: look)
        screen.know(known())
    }

    private static func size(of output: Int32) -> WidgetSize {
        guard let size = DrawnTerminal.size(of: output) else { return WidgetSize(columns: 80, rows: 24) }
        return WidgetSize(columns: size.columns, rows: size.rows)
    }

    /// Where it can be read, `inputReady` is to be called; nil once the terminal is gone.
    package var descriptor: Int32? { isGone ? nil : poller.descriptor }

    /// The room that a widget has at most: what is between the borders.
    package var room: WidgetSize {
        WidgetSize(columns: max(0, screen.size.columns - 4), rows: max(1, screen.panelRows))
    }

    /// Something was typed, or a signal came. What people ask for, in order; `draw` is due then.
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

    /// The window has another size: for a host that gets SIGWINCH itself.
    package mutating func windowChanged() { resize() }

    /// In nanoseconds: until then nothing is to be done if nothing happens; nil: for ever.
    package func wait() -> Int64? {
        let drawing = isGone ? nil : until.map { max(0, $0 - wallNanoseconds()) }
        let escape = escapeDue.map { max(0, $0 - monotonicNanoseconds()) }
        if let drawing, let escape { return min(drawing, escape) }
        return drawing ?? escape
    }

    /// Time has passed. `draw` is due then.
    package mutating func tick() -> [UserCommand] {
        guard let due = escapeDue, monotonicNanoseconds() >= due else { return [] }
        var commands: [UserCommand] = []
        escapeDue = nil
        for key in keys.timeIsOver() { press(key, &commands) }
        return commands
    }

    /// Other panels, or in another order.
    package mutating func take(_ model: TodayModel) {
        screen.take(model)
        screen.know(known())
        isChanged = true
    }

    /// One that looks different.
    package mutating func take(_ panel: Panel) {
        screen.take(panel)
        isChanged = true
    }

    /// Something that somebody should know.
    package mutating func say(_ text: String) {
        screen.say(text)
        isChanged = true
    }

    /// Draws what differs from what is shown, if anything can. Which widgets came into sight or went out of it.
    /// System calls: write(2)
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
        // Of the signals that did it.
        _ = terminal.news()
        goOn()
    }

    /// Somebody else had the terminal meanwhile.
    private mutating func goOn() {
        // A shell that started us in the background would stop us here, which is right.
        terminal.leave()
        try? terminal.enter(drawing: Self.drawing, resting: Self.resting)
        resize()
        shown = nil
    }
}
