import GroupContainer
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupWidgetHosting
import Widgets

/// The line of a panel.
struct PanelText {
    let isJSON: Bool

    func line(_ panel: Panel, at now: Moment) -> String { line(panel, panel.state.rawValue, at: now) }

    /// Returns the last line of a widget that is not shown any more.
    func removal(ofKind kind: String, title: String, at now: Moment) -> String {
        line(Panel(kind: kind, title: title, isVisible: false), "removed", at: now)
    }

    private func line(_ panel: Panel, _ state: String, at now: Moment) -> String {
        let time = Timestamp.text(now.wall)
        if !isJSON { return "\(time)\t\(content(panel, state))" }
        return JSONValue.object([("time", .string(time))] + fields(panel, state)).encoded()
    }

    /// Returns the line without its time.
    func content(_ panel: Panel) -> String { content(panel, panel.state.rawValue) }

    private func content(_ panel: Panel, _ state: String) -> String {
        if isJSON { return JSONValue.object(fields(panel, state)).encoded() }
        let text = (panel.view?.lines ?? []).map(Self.text).joined(separator: "\n")
        return [panel.kind, state, text, note(panel)].compactMap { $0 }
            .map { PipeText.escaped(Array($0.utf8)) }.joined(separator: "\t")
    }

    /// Returns the text of a view's line. A printed countdown cannot run, so the text contains its end instead.
    private static func text(_ line: WidgetView.Line) -> String {
        let until = line.countdown.map { "until \(Timestamp.text($0.nanoseconds))" }
        return [line.plainText, until].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func countdown(_ line: WidgetView.Line) -> JSONValue {
        line.countdown.map { .string(Timestamp.text($0.nanoseconds)) } ?? .null
    }

    private static func columns(_ line: WidgetView.Line) -> JSONValue {
        .array((line.columns ?? []).map { .string($0) })
    }

    private static func image(_ line: WidgetView.Line) -> JSONValue {
        guard let image = line.image else { return .null }
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        return .object([("path", text(image.path)), ("icon", text(image.icon)), ("label", .string(image.label))])
    }

    private static func control(_ line: WidgetView.Line) -> JSONValue {
        guard let control = line.control else { return .null }
        return .object([("id", .string(control.id)), ("on", control.isOn.map { .bool($0) } ?? .null)])
    }

    /// Returns nil for a panel without a note.
    private func note(_ panel: Panel) -> String? {
        guard let note = panel.note else { return nil }
        var text = note.text
        if let again = note.again { text += "; again at \(Timestamp.text(again))" }
        if note.showsAge, let time = panel.renderedAt { text += "; shown as of \(Timestamp.text(time))" }
        return text
    }

    private func fields(_ panel: Panel, _ state: String) -> [(String, JSONValue)] {
        [
            ("kind", .string(panel.kind)), ("title", .string(panel.title)), ("state", .string(state)),
            ("visible", .bool(panel.isVisible)), ("displayMode", .string(panel.displayMode.rawValue)),
            ("columns", .integer(Int64(panel.size.columns))), ("rows", .integer(Int64(panel.size.rows))),
            ("lines", panel.view.map { .array($0.lines.map { .string($0.text) }) } ?? .null),
            ("cells", panel.view.map { .array($0.lines.map(Self.columns)) } ?? .null),
            ("images", panel.view.map { .array($0.lines.map(Self.image)) } ?? .null),
            ("controls", panel.view.map { .array($0.lines.map(Self.control)) } ?? .null),
            (
                "gauges",
                panel.view.map { .array($0.lines.map { $0.percent.map { .integer(Int64($0)) } ?? .null }) } ?? .null
            ),
            ("pressed", .array(panel.pressed.map { .string($0.id) })),
            ("countdowns", panel.view.map { .array($0.lines.map(Self.countdown)) } ?? .null),
            ("placeholder", .bool(panel.isPlaceholder)),
            ("renderedAt", panel.renderedAt.map { .string(Timestamp.text($0)) } ?? .null),
            ("note", panel.note.map { .string($0.text) } ?? .null),
            ("again", panel.note?.again.map { .string(Timestamp.text($0)) } ?? .null),
        ]
    }
}
