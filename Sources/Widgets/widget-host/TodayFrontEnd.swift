import GroupCommandLine
import GroupCommands
import GroupManifests
import GroupSystemCalls
import GroupTodayView
import GroupWidgetHosting

/// A front end that shows the host's widgets as a view in the terminal.
struct TodayFrontEnd: HostFrontEnd, ~Copyable {
    private var terminal: TodayTerminal
    private let isVerbose: Bool
    /// The widgets that a key of this round was about: a log line about such a widget answers the key.
    private var requested: Set<String> = []
    /// The rooms that the host has.
    private var knownRooms: [WidgetDisplayMode: WidgetSize] = [:]
    /// Nil once the terminal is gone.
    var input: Int32? { terminal.descriptor }

    /// Whether there is a terminal to draw on, and no option excludes the view.
    static func isWanted(_ options: CommonOptions, isOnce: Bool) -> Bool {
        !isOnce && !options.isJSON && TodayTerminal.isPossible
    }

    init(_ options: CommonOptions, _ directories: ManifestDirectories<WidgetManifest>) throws {
        isVerbose = options.isVerbose
        terminal = try TodayTerminal(TerminalLook(options.color)) {
            directories.read().manifests.map { KnownWidget(kind: $0.kind, title: $0.title) }
        }
        knownRooms = rooms
    }

    /// The room between the borders: a few lines for the compact mode, the screen for the expanded mode.
    var rooms: [WidgetDisplayMode: WidgetSize] {
        let all = terminal.room
        return [.compact: WidgetSize(columns: all.columns, rows: min(4, all.rows)), .expanded: all]
    }

    /// Nil, because the terminal shows a new frame instead of output that was left out.
    var blockedOutput: Int32? { nil }

    mutating func readInput() throws -> [HostEvent] {
        let commands = terminal.inputReady()
        for command in commands {
            switch command {
            case .open(let kind, _), .press(let kind, _, _), .expand(let kind), .collapse(let kind), .add(let kind),
                .remove(let kind):
                requested.insert(kind)
            default: break
            }
        }
        var events = commands.map { HostEvent.user($0) }
        if rooms != knownRooms {
            knownRooms = rooms
            events.append(.rooms(rooms))
        }
        return events
    }

    func wait(at now: Moment) -> Int64? { terminal.wait() }

    mutating func finishRound(_ today: TodayModel, at now: Moment) throws -> [HostEvent] {
        requested = []
        let events = terminal.tick().map { HostEvent.user($0) }
        return events + terminal.draw().map { .user($0) }
    }

    mutating func redraw(_ panel: Panel, at now: Moment) { terminal.take(panel) }

    mutating func rearrange(_ today: TodayModel, at now: Moment) { terminal.take(today) }

    mutating func log(_ line: HostLogLine, at now: Moment) {
        // A fault of a widget is shown on its panel.
        let isNews = line.kind.map(requested.contains) ?? line.isFault
        if isNews || isVerbose { terminal.show(notice: (line.kind.map { "\($0): " } ?? "") + line.text) }
    }

    mutating func resize() { terminal.windowChanged() }

    func started(_ run: WidgetRun, processIdentifier: Int32) {}

    func traffic(_ run: WidgetRun, isFromWidget: Bool, _ line: [UInt8]) {}
}
