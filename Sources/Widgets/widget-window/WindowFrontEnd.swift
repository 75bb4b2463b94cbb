import GroupBytes
import GroupContainer
import GroupManifests
import GroupSystemCalls
import GroupWidgetHosting
import Widgets

/// A front end that shows the host's widgets as cards of a window.
struct WindowFrontEnd: HostFrontEnd, ~Copyable {
    private let window: Window
    private let container: Container
    private let directories: ManifestDirectories<WidgetManifest>
    private let isVerbose: Bool
    private var today = TodayModel()
    private var isChanged = true
    /// When a text with a time changes, in nanoseconds since 1970.
    private var until: Int64?
    /// The widgets that the user has done something with in this round: a line of the log about one answers that.
    private var requested: Set<String> = []

    let input: Int32?
    var blockedOutput: Int32? { nil }

    /// The largest room of a widget, in cells, as providers count it.
    static let rooms: [WidgetDisplayMode: WidgetSize] = [
        .compact: WidgetSize(columns: 60, rows: 6), .expanded: WidgetSize(columns: 60, rows: 40),
    ]

    init(_ window: Window, _ container: Container, _ settings: HostSettings, isVerbose: Bool) {
        self.window = window
        self.container = container
        directories = settings.directories
        self.isVerbose = isVerbose
        input = window.descriptor
    }

    mutating func readInput() throws -> [HostEvent] {
        var commands: [UserCommand] = []
        while let event = window.next() {
            switch event {
            case .command(.show), .command(.hide): break
            default: if let kind = event.kind { requested.insert(kind) }
            }
            switch event {
            case .command(.press(let kind, let line, _)):
                guard let panel = today.panels.first(where: { $0.kind == kind }), let lines = panel.view?.lines,
                    line <= lines.count, let control = lines[line - 1].control
                else { continue }
                commands.append(.press(kind, line: line, panel.action(of: control)))
            case .command(let command): commands.append(command)
            case .move(let kind, let steps):
                if let kinds = today.order(moving: kind, by: steps) { commands.append(.order(kinds)) }
            }
        }
        return commands.map { .user($0) }
    }

    func wait(at now: Moment) -> Int64? { isChanged ? 0 : until.map { max(0, $0 - now.wall) } }

    mutating func finishRound(_ today: TodayModel, at now: Moment) throws -> [HostEvent] {
        requested = []
        if isChanged || until.map({ $0 <= now.wall }) == true { draw(at: now.wall) }
        return []
    }

    private mutating func draw(at now: Int64) {
        isChanged = false
        until = nil
        let cards = today.panels.map { card(of: $0, at: now) }
        let shown = Set(today.panels.map(\.kind))
        let others = directories.read().manifests.filter { !shown.contains($0.kind) }
        window.show(cards, others: others.map { ($0.kind, $0.title) })
    }

    private mutating func text(_ time: TimeText) -> String {
        if let moment = time.until { until = min(until ?? .max, moment) }
        return time.text
    }

    private mutating func card(of panel: Panel, at now: Int64) -> Card {
        var card = Card(kind: panel.kind, title: panel.title)
        card.isExpandable = panel.isExpandable
        card.isExpanded = panel.displayMode == .expanded
        if let note = panel.note {
            card.isFault = note.isFault
            var parts = [note.text]
            if let again = note.again { parts.append("again in " + text(.left(until: again, at: now))) }
            if note.showsAge, let time = panel.renderedAt {
                parts.append("as of \(text(.age(since: time, at: now))) ago")
            }
            card.note = parts.joined(separator: "; ")
        }
        let lines = panel.view?.lines ?? []
        for line in lines.prefix(max(1, panel.size.rows)) { card.lines.append(self.line(line, of: panel, at: now)) }
        return card
    }

    private mutating func line(_ line: WidgetView.Line, of panel: Panel, at now: Int64) -> Card.Line {
        var shown = Card.Line(text: line.text, style: line.style)
        shown.control = panel.isPlaceholder ? nil : line.control
        shown.isPressed = line.control.map { panel.isPressed($0) } ?? false
        shown.isLink = line.url != nil
        shown.percent = line.percent
        shown.rest = line.countdown.map { text(.countdown(to: $0.nanoseconds, at: now)) }
        // A time alone stands where the text would.
        if shown.text.isEmpty, let rest = shown.rest { (shown.text, shown.rest) = (rest, nil) }
        shown.columns = line.columns ?? []
        shown.icon = line.image?.icon
        shown.imageLabel = line.image?.label
        if let path = line.image?.path { shown.imagePath = file(of: path) }
        return shown
    }

    /// Returns where an item of the container is; nil for a path that no item has.
    private func file(of path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        if parts.contains(where: { $0.isEmpty || $0 == ".." || $0 == "." }) || parts.first == ".group" { return nil }
        return "\(container.path)/\(path)"
    }

    mutating func redraw(_ panel: Panel, at now: Moment) { if today.update(panel) { isChanged = true } }

    mutating func rearrange(_ today: TodayModel, at now: Moment) {
        self.today.replace(by: today.panels)
        isChanged = true
    }

    mutating func log(_ line: HostLogLine, at now: Moment) {
        // A fault of a widget is shown on its card.
        let isNews = line.kind.map(requested.contains) ?? line.isFault
        if isNews || isVerbose { window.note((line.kind.map { "\($0): " } ?? "") + line.text) }
    }

    mutating func resize() {}
    func started(_ run: WidgetRun, processIdentifier: Int32) {}
    func traffic(_ run: WidgetRun, isFromWidget: Bool, _ line: [UInt8]) {}
}
