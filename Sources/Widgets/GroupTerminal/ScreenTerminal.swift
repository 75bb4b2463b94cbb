package import GroupSystemCalls

/// A terminal that shows frames, for an event loop: has the descriptor and the time to wait for, reads keys, and draws.
/// The screen and the mode of the terminal are restored when the value is destroyed, when the process ends, and before a
/// signal other than SIGKILL ends it.
package struct ScreenTerminal: ~Copyable {
    /// The alternate screen; no cursor; no wrapping at the border; clicks and the wheel are reported, in the form SGR;
    /// pasted text is marked.
    private static let drawing = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?1000h\u{1B}[?1006h\u{1B}[?2004h"
    private static let resting = "\u{1B}[0m\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// How long to wait for the rest of a key: other keys begin with an Escape, too. The bytes of a key come within
    /// this time, also over a slow connection.
    private static let escapePatience: Int64 = 50_000_000

    private let terminal: DrawnTerminal
    private let poller: Poller
    private let output: Int32
    private let look: TerminalLook
    private var keys = KeyDecoder()
    /// The frame that the terminal shows; nil if it is not known.
    private var shown: Frame?
    /// When a single Escape becomes a key, in monotonic time.
    private var escapeDue: Int64?
    /// The size in cells.
    package private(set) var size: WidgetSize
    /// Whether the terminal is gone.
    package private(set) var isGone = false

    /// Whether there is a terminal to draw on: standard input and output are terminals, and TERM is neither empty nor
    /// `dumb`. Library calls: isatty(3), getenv(3).
    package static var isPossible: Bool {
        StandardStreams.kind(of: 0) == .terminal && StandardStreams.kind(of: 1) == .terminal
            && !["", "dumb"].contains(environmentValue("TERM") ?? "")
    }

    /// Takes the terminal over. The descriptors stay their owner's. System calls: tcsetattr(3), sigaction(2),
    /// epoll_create1(2).
    package init(input: Int32 = 0, output: Int32 = 1, _ look: TerminalLook) throws(Errno) {
        let poller = try Poller()
        let terminal = try DrawnTerminal(input: input, output: output, drawing: Self.drawing, resting: Self.resting)
        try poller.add(input)
        try poller.add(terminal.wake)
        self.terminal = terminal
        self.output = output
        self.poller = poller
        self.look = look
        size = Self.size(of: output)
    }

    private static func size(of output: Int32) -> WidgetSize {
        guard let size = DrawnTerminal.size(of: output) else { return WidgetSize(columns: 80, rows: 24) }
        return WidgetSize(columns: size.columns, rows: size.rows)
    }

    /// The descriptor for which `read` is due once it can be read; nil once the terminal is gone.
    package var descriptor: Int32? { isGone ? nil : poller.descriptor }

    /// Whether the content of the terminal is not known, so that a frame has to be shown whatever has changed.
    package var isBlank: Bool { shown == nil }

    /// Returns typed keys; nil once the terminal is gone. Handles signals; `size` is the present one after it.
    package mutating func read() -> [Key]? {
        let news = terminal.news()
        if news.contains(.resized) { takeSize() }
        if news.contains(.stopping) { suspend() } else if news.contains(.continued) { goOn() }
        guard let bytes = terminal.typed() else {
            isGone = true
            return nil
        }
        let typed = keys.take(bytes)
        escapeDue = keys.isWaiting ? monotonicNanoseconds() + Self.escapePatience : nil
        return typed
    }

    /// Reads the size of the window anew.
    package mutating func takeSize() { size = Self.size(of: output) }

    /// Returns how long until a key may be complete by time, in nanoseconds; nil where none is.
    package func wait() -> Int64? { escapeDue.map { max(0, $0 - monotonicNanoseconds()) } }

    /// Returns keys that are complete by time.
    package mutating func tick() -> [Key] {
        guard let due = escapeDue, monotonicNanoseconds() >= due else { return [] }
        escapeDue = nil
        return keys.timeIsOver()
    }

    /// Shows a frame: draws what differs from the terminal's content. System calls: write(2).
    package mutating func show(_ frame: Frame) {
        if isGone { return }
        var stream = StandardOutput(descriptor: output)
        do throws(OutputError) {
            try stream.write(FrameDifference.bytes(from: shown, to: frame, isColored: look.isColored))
            try stream.flush()
            shown = frame
        } catch {
            isGone = true
        }
    }

    /// Has the next frame drawn wholly.
    package mutating func forget() { shown = nil }

    /// Gives the terminal back until this process is continued, and takes it again.
    package mutating func suspend() {
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
        takeSize()
        shown = nil
    }
}
