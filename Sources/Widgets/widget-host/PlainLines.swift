import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupSystemCalls
import GroupWidgetHosting
import Widgets

/// A front end without a view: prints a line whenever a panel has changed, and reads commands as lines from standard
/// input.
struct PlainLines: HostFrontEnd, ~Copyable {
    private var output = StandardOutput()
    private var errors = StandardOutput(descriptor: 2)
    private var lines = InputLines(limit: 65_536)
    private(set) var input: Int32?
    private let options: CommonOptions
    private let text: PanelText
    /// Whether panels are printed only at the end.
    private let isOnce: Bool
    private let isForDebugging: Bool
    private var lastLine = monotonicNanoseconds()
    private(set) var hasTimedOut = false
    private(set) var today = TodayModel()
    /// The last line of each kind, without the time: if a panel's line is the same as the last one, it is not printed
    /// again.
    private var printed: [String: String] = [:]
    /// The panels that a slow reader gets later, each only in its latest state, in the order in which they changed.
    private var deferredPanels: [Panel] = []
    /// The largest number of unread bytes in `output`; if there are more, changed panels go to `deferredPanels`.
    private static let pendingLimit = 65_536

    init(_ options: CommonOptions, isOnce: Bool = false, isForDebugging: Bool = false) {
        self.options = options
        self.isOnce = isOnce
        self.isForDebugging = isForDebugging
        text = PanelText(isJSON: options.isJSON)
        input = isOnce || isForDebugging ? nil : 0
    }

    mutating func readInput() throws -> [HostEvent] {
        try lines.wait()
        var events: [HostEvent] = []
        while true {
            do throws(InputError) {
                switch try lines.next() {
                case .line(let line): if let event = command(line) { events.append(event) }
                case .dry: return events
                case .end:
                    input = nil
                    return events
                }
            } catch {
                guard case .tooLarge(let limit) = error else { throw error }
                complain("a line of more than \(limit) bytes on standard input is ignored")
            }
        }
    }

    private mutating func command(_ line: [UInt8]) -> HostEvent? {
        do {
            let words = try ShellWords.of(line).map { String(decoding: $0, as: UTF8.self) }
            return try UserCommand(words: words).map { .user($0) }
        } catch {
            complain("'\(PipeText.escaped(line))': \(error)")
            return nil
        }
    }

    var blockedOutput: Int32? { output.pendingCount > 0 ? 1 : nil }

    func wait(at now: Moment) -> Int64? {
        guard let timeout = options.timeout, !hasTimedOut else { return nil }
        return max(0, lastLine + timeout.nanoseconds - now.monotonic)
    }

    mutating func finishRound(_ today: TodayModel, at now: Moment) throws -> [HostEvent] {
        self.today = today
        while try output.flushReady(), !deferredPanels.isEmpty {
            let panels = deferredPanels
            deferredPanels = []
            for panel in panels { print(panel, at: now) }
        }
        if output.readerIsGone() { throw OutputError.closedPipe }
        guard let timeout = options.timeout, !hasTimedOut, lastLine + timeout.nanoseconds <= now.monotonic else {
            return []
        }
        hasTimedOut = true
        return [.user(.quit)]
    }

    mutating func redraw(_ panel: Panel, at now: Moment) throws {
        if isOnce { return }
        deferredPanels.removeAll { $0.kind == panel.kind }
        if output.pendingCount < Self.pendingLimit { return print(panel, at: now) }
        deferredPanels.append(panel)
    }

    private mutating func print(_ panel: Panel, at now: Moment) {
        if printed.updateValue(text.content(panel), forKey: panel.kind) == text.content(panel) { return }
        lastLine = now.monotonic
        output.keepLine(text.line(panel, at: now))
    }

    mutating func rearrange(_ today: TodayModel, at now: Moment) throws {
        let kinds = Set(today.panels.map(\.kind))
        deferredPanels.removeAll { !kinds.contains($0.kind) }
        // A reader without the removal would show the last line of the widget for ever. These lines are not deferred:
        // there is at most one for each line that was printed.
        for panel in self.today.panels
        where !kinds.contains(panel.kind) && printed.removeValue(forKey: panel.kind) != nil {
            lastLine = now.monotonic
            output.keepLine(text.removal(ofKind: panel.kind, title: panel.title, at: now))
        }
        for panel in today.panels { try redraw(panel, at: now) }
    }

    /// Writes the remaining lines, for at most a second.
    mutating func end(at now: Moment) throws {
        for panel in deferredPanels { print(panel, at: now) }
        deferredPanels = []
        _ = try output.flushReady(within: 1_000_000_000)
    }

    /// Whether a panel has a note about a fault.
    var hasFaults: Bool { today.panels.contains { $0.note?.isFault == true } }

    /// Has all panels printed by `flush`, for `--once`.
    mutating func keepAll() {
        let now = Moment(monotonic: monotonicNanoseconds(), wall: wallNanoseconds())
        for panel in today.panels { output.keepLine(text.line(panel, at: now)) }
    }

    /// Writes what is to be printed, for at most a tenth of a second. Returns true once everything is written.
    mutating func flush() throws -> Bool { try output.flushReady(within: 100_000_000) }

    mutating func log(_ line: HostLogLine, at now: Moment) throws {
        if !line.isFault && !options.isVerbose { return }
        let text = (line.kind.map { "\($0): " } ?? "") + line.text
        if line.isFault { complain(text) } else { remark(text) }
    }

    /// Reports a fault: in a line, with --json in an object.
    private mutating func complain(_ text: String) {
        if !options.isJSON { return remark(text) }
        if options.isQuiet { return }
        try? errors.writeLine(ErrorReport.object(Complaint(description: text)).encoded())
        try? errors.flush()
    }

    private mutating func remark(_ text: String) {
        if options.isQuiet { return }
        try? errors.writeLine("widget-host: " + TerminalName.shown(Array(text.utf8)))
        try? errors.flush()
    }

    mutating func resize() {}

    mutating func started(_ run: WidgetRun, processIdentifier: Int32) throws {
        if isForDebugging { remark("\(run.kind) is process \(processIdentifier)") }
    }

    mutating func traffic(_ run: WidgetRun, isFromWidget: Bool, _ line: [UInt8]) throws {
        if isForDebugging && options.isVerbose {
            remark("\(isFromWidget ? "<" : ">") \(PipeText.lossyString(line))")
        }
    }
}
