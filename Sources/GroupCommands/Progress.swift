import Dispatch
import GroupCommandLine
import GroupSystemCalls

/// A line on a terminal for what takes longer than a second: what is being done, how much of it, for how long.
///
/// It is drawn by a thread of its own, so that who works need say nothing, and drawn over when it ends. Where standard
/// error is no terminal, or with `--quiet` or `--json`, there is neither a line nor a thread.
package final class Progress: Sendable {
    /// The kinds of things that are counted.
    package enum Unit: Sendable { case bytes, items }

    private struct State {
        var what: String
        var done: UInt64 = 0
        var total: UInt64?
        var isDrawn = false
        var isOver = false
    }

    private let state: Guarded<State>
    private let unit: Unit
    private let begun = monotonicNanoseconds()
    /// Nil where nothing is drawn.
    private let ticker: Poller?

    private static let first: Int64 = 1_000_000_000
    private static let period: Int64 = 200_000_000

    /// `isShown`: somebody looks, and wants to.
    init(_ what: String, of unit: Unit, isShown: Bool) {
        state = Guarded(State(what: what))
        self.unit = unit
        ticker = isShown ? try? Poller() : nil
        if let ticker { Self.draw(self, at: ticker) }
    }

    deinit { end() }

    /// Says what is being done now.
    package func say(_ what: String) { state.withLock { $0.what = what } }

    /// Says how much is done, and of how much, where that is known.
    package func note(_ done: UInt64, of total: UInt64? = nil) {
        if ticker == nil { return }
        state.withLock { ($0.done, $0.total) = (done, total ?? $0.total) }
    }

    /// Adds to what is done.
    package func advance(by count: UInt64) {
        if ticker == nil { return }
        state.withLock { $0.done += count }
    }

    /// Takes the line away. Before anything else is printed; nothing is drawn any more when it returns.
    package func end() {
        guard let ticker else { return }
        state.withLock { state in
            if state.isDrawn { Self.write("\r\u{1B}[K") }
            (state.isOver, state.isDrawn) = (true, false)
        }
        ticker.wake()
    }

    /// The thread holds it weakly: who lets go of it has ended it.
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

    /// False: it is over.
    private func redraw() -> Bool {
        state.withLock { state in
            if state.isOver { return false }
            Self.write("\r\u{1B}[K" + Self.line(state, unit, after: monotonicNanoseconds() - begun))
            state.isDrawn = true
            return true
        }
    }

    private static func line(_ state: State, _ unit: Unit, after time: Int64) -> String {
        var text = TerminalText.visible(state.what)
        if state.done > 0 || state.total != nil {
            text += ": " + amount(state.done, unit) + (state.total.map { " of " + amount($0, unit) } ?? "")
        }
        // One line of the narrowest terminal: what is wider would not be drawn over.
        return String(text.suffix(68)) + ", " + Timestamp.duration(time)
    }

    /// `12.3 MiB`, `4 items`.
    static func amount(_ count: UInt64, _ unit: Unit) -> String {
        if unit == .items { return "\(count) \(count == 1 ? "item" : "items")" }
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        var (tenths, index) = (count * 10, 0)
        while tenths >= 10_240, index < units.count - 1 { (tenths, index) = (tenths / 1_024, index + 1) }
        return index == 0 ? "\(count) bytes" : "\(tenths / 10).\(tenths % 10) \(units[index])"
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
    /// A line that says on a terminal what is being done, once it has taken a second. `printing`, `reading`: what it is about
    /// goes to standard output, or comes from standard input, meanwhile: where that is a terminal, too, there is no line.
    package func progress(
        _ what: String, of unit: Progress.Unit = .items, printing: Bool = false, reading: Bool = false
    ) -> Progress {
        let isInTheWay =
            (printing && StandardOutput.isTerminal) || (reading && StandardOutput.isTerminalForInput)
        let isWanted = !options.isQuiet && !options.isJSON && !isInTheWay
        return Progress(what, of: unit, isShown: isWanted && StandardOutput.isTerminalForErrors)
    }
}
