import Dispatch
import GroupCommandLine
import GroupSystemCalls

/// A line on a terminal about an operation that takes longer than a second: what is being done, how much of it, for how
/// long.
///
/// A thread of its own draws the line, so that the operation need not, and erases it at the end. Where standard error
/// is no terminal, or with `--quiet` or `--json`, there is neither a line nor a thread.
package final class Progress: Sendable {
    /// The kinds of things that are counted.
    package enum Unit: Sendable { case bytes, items }

    private struct State {
        var what: String
        var done: UInt64 = 0
        var total: UInt64?
        var perSecond: UInt64?
        var isDrawn = false
        var isOver = false
    }

    private let state: Guarded<State>
    private let unit: Unit
    /// Returns what the operation waits for, if it waits.
    private let awaited: @Sendable () -> String?
    private let begun = monotonicNanoseconds()
    /// Nil if no line is shown.
    private let ticker: Poller?

    private static let first: Int64 = 1_000_000_000
    private static let period: Int64 = 200_000_000

    /// Creates the line, and starts its thread if `isShown`.
    init(_ what: String, of unit: Unit, isShown: Bool, awaiting awaited: @escaping @Sendable () -> String? = { nil }) {
        state = Guarded(State(what: what))
        self.unit = unit
        self.awaited = awaited
        ticker = isShown ? try? Poller() : nil
        if let ticker { Self.draw(self, at: ticker) }
    }

    deinit { end() }

    /// Sets what is being done now.
    package func show(_ what: String) { state.withLock { $0.what = what } }

    /// Sets how much is done, and the total and the speed, if they are known.
    package func note(_ done: UInt64, of total: UInt64? = nil, perSecond: UInt64? = nil) {
        if ticker == nil { return }
        state.withLock { ($0.done, $0.total, $0.perSecond) = (done, total ?? $0.total, perSecond) }
    }

    /// Adds to how much is done.
    package func advance(by count: UInt64) {
        if ticker == nil { return }
        state.withLock { $0.done += count }
    }

    /// Erases the line, for good. To be called before anything else is printed.
    package func end() {
        guard let ticker else { return }
        state.withLock { state in
            if state.isDrawn { Self.write("\r\u{1B}[K") }
            (state.isOver, state.isDrawn) = (true, false)
        }
        ticker.wake()
    }

    /// Starts the thread, which holds the progress weakly: releasing the progress ends it.
    private static func draw(_ progress: Progress, at ticker: Poller) {
        let reference = Weak(progress)
        DispatchQueue(label: "group-container.progress").async {
            var wait = first
            while (try? ticker.wait(nanoseconds: wait)) != nil, let progress = reference.progress {
                wait = period
                if !progress.redraw() { return }
            }
        }
    }

    /// Returns false if the progress has ended.
    private func redraw() -> Bool {
        let awaited = awaited()
        return state.withLock { state in
            if state.isOver { return false }
            var shown = state
            // The end, which is the holder's command, can be missed most easily.
            if let awaited {
                shown = State(what: awaited.count > Self.longest ? awaited.prefix(Self.longest - 1) + "…" : awaited)
            }
            Self.write("\r\u{1B}[K" + Self.line(shown, unit, after: monotonicNanoseconds() - begun))
            state.isDrawn = true
            return true
        }
    }

    private static let longest = 68

    private static func line(_ state: State, _ unit: Unit, after time: Int64) -> String {
        var text = TerminalText.visible(state.what)
        if let total = state.total, total > 0 {
            text = shortened(text, to: 24) + " " + bar(state.done, of: total) + ", " + amount(state.done, unit)
        } else if state.done > 0 {
            text += ": " + amount(state.done, unit)
        }
        if let speed = state.perSecond, speed > 0 { text += ", " + amount(speed, unit) + "/s" }
        // The text fits one line of a narrow terminal: a wrapped line could not be erased.
        return shortened(text, to: longest) + ", " + Timestamp.duration(time)
    }

    /// Returns a text without its middle where it is longer than `limit`.
    static func shortened(_ text: String, to limit: Int) -> String {
        if text.count <= limit { return text }
        return text.prefix((limit - 1) / 2) + "…" + text.suffix(limit / 2)
    }

    /// Returns a bar such as `[########--------]  50 %`.
    static func bar(_ done: UInt64, of total: UInt64) -> String {
        let (cells, part) = (16, Double(min(done, total)) / Double(max(total, 1)))
        let full = Int(part * Double(cells))
        let percent = Int(part * 100)
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: cells - full)
            + "] \(percent) %"
    }

    /// Returns an amount such as `12.3 MiB` or `4 items`.
    package static func amount(_ count: UInt64, _ unit: Unit) -> String {
        if unit == .items { return "\(count) \(count == 1 ? "item" : "items")" }
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var index = 0
        while count >> (10 * (UInt64(index) + 1)) > 0, index < units.count - 1 { index += 1 }
        if index == 0 { return "\(count) bytes" }
        // The size of a sparse file may be near 2⁶³, so only the rest is multiplied.
        let unit = UInt64(1) << (10 * UInt64(index))
        return "\(count / unit).\(count % unit * 10 / unit) \(units[index])"
    }

    private static func write(_ text: String) {
        var errors = StandardOutput(descriptor: 2)
        try? errors.write(Array(text.utf8))
        try? errors.flush()
    }

    private final class Weak: Sendable {
        private let held: Guarded<Box>

        init(_ progress: Progress) { held = Guarded(Box(progress: progress)) }

        var progress: Progress? { held.withLock { $0.progress } }

        private struct Box: Sendable { weak var progress: Progress? }
    }
}

extension CommandRun {
    /// Starts a progress line, which appears on a terminal after a second. `printing`, `reading`: the operation writes
    /// to standard output, or reads standard input, meanwhile; if that is a terminal too, there is no line.
    package func progress(
        _ what: String, of unit: Progress.Unit = .items, printing: Bool = false, reading: Bool = false
    ) -> Progress {
        let isInTheWay =
            (printing && StandardOutput.isTerminal) || (reading && StandardOutput.isTerminalForInput)
        let isWanted = !options.isQuiet && !options.isJSON && !isInTheWay
        return Progress(what, of: unit, isShown: isWanted && StandardOutput.isTerminalForErrors, awaiting: awaitedLock)
    }
}
