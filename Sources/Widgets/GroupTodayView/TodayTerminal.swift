package import GroupSystemCalls

/// The view of today on a terminal, for a host's event loop: has the descriptor and the time to wait for, reads keys,
/// and draws.
package struct TodayTerminal: ~Copyable {
    private var terminal: ScreenTerminal
    private let known: () -> [KnownWidget]
    private var screen: TodayScreen
    /// The time until which the frame on the terminal is current by itself.
    private var until: Int64?
    private var isChanged = true

    /// Whether there is a terminal to draw on: see `ScreenTerminal.isPossible`.
    package static var isPossible: Bool { ScreenTerminal.isPossible }

    /// Takes the terminal over for this view. The descriptors stay their owner's. `known` returns the installed
    /// widgets, of which one can be added to the list. System calls: tcsetattr(3), sigaction(2), epoll_create1(2).
    package init(
        input: Int32 = 0, output: Int32 = 1, _ look: TerminalLook, known: @escaping () -> [KnownWidget]
    ) throws(Errno) {
        terminal = try ScreenTerminal(input: input, output: output, look)
        self.known = known
        screen = TodayScreen(size: terminal.size, look: look)
        screen.know(known())
    }

    /// The descriptor for which `inputReady` is due once it can be read; nil once the terminal is gone.
    package var descriptor: Int32? { terminal.descriptor }

    /// The largest room of a widget: the cells between the borders.
    package var room: WidgetSize {
        WidgetSize(columns: max(0, screen.size.columns - 4), rows: max(1, screen.panelRows))
    }

    /// Handles typed keys and signals, and returns the user's commands, in order; `draw` is due after it.
    package mutating func inputReady() -> [UserCommand] {
        var commands: [UserCommand] = []
        guard let keys = terminal.read() else { return [.quit] }
        takeSize()
        for key in keys { press(key, &commands) }
        return commands
    }

    /// Takes the new size of the window, for a host that handles SIGWINCH itself.
    package mutating func windowChanged() {
        terminal.takeSize()
        takeSize()
    }

    /// Returns how long nothing is due without an event, in nanoseconds; nil if nothing is due at all.
    package func wait() -> Int64? {
        let drawing = terminal.isGone ? nil : until.map { max(0, $0 - wallNanoseconds()) }
        return [drawing, terminal.wait()].compactMap { $0 }.min()
    }

    /// Handles keys that are complete by time, and returns the user's commands; `draw` is due after it.
    package mutating func tick() -> [UserCommand] {
        var commands: [UserCommand] = []
        for key in terminal.tick() { press(key, &commands) }
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
        if !terminal.isGone, isChanged || terminal.isBlank || until.map({ $0 <= now }) == true {
            let moment = TodayMoment(now: now, secondsFromGMT: secondsFromGMT(atSecond: now / 1_000_000_000))
            let picture = screen.picture(at: moment)
            terminal.show(picture.frame)
            if terminal.isGone { return [.quit] }
            (until, isChanged) = (picture.until, false)
        }
        return screen.visibilityChanges()
    }

    private mutating func press(_ key: Key, _ commands: inout [UserCommand]) {
        isChanged = true
        if key == .character("a") { screen.know(known()) }
        for action in screen.press(key) {
            switch action {
            case .command(let command): commands.append(command)
            case .redrawAll: terminal.forget()
            case .suspend:
                terminal.suspend()
                takeSize()
            }
        }
    }

    private mutating func takeSize() {
        if terminal.size == screen.size { return }
        screen.resize(to: terminal.size)
        isChanged = true
    }
}
