import CommandLineKit
import ContainerCommands
import WidgetHosting
import Widgets

/// A panel as a line.
struct PanelText {
    let isJSON: Bool

    func line(_ panel: Panel, at now: Moment) -> String {
        if isJSON { return json(panel, at: now).encoded() }
        let text = (panel.view?.lines ?? []).map(\.text).joined(separator: "\n")
        let fields = [Timestamp.text(now.wall), panel.kind, panel.state.rawValue, text, note(panel, at: now)]
        return fields.compactMap { $0 }.map { PipeText.escaped(Array($0.utf8)) }.joined(separator: "\t")
    }

    /// Nil where all is well.
    private func note(_ panel: Panel, at now: Moment) -> String? {
        guard let note = panel.note else { return nil }
        var text = note.text
        if let again = note.again { text += "; again at \(Timestamp.text(again))" }
        if note.isFault, let time = panel.renderedAt { text += "; shown as of \(Timestamp.text(time))" }
        return text
    }

    private func json(_ panel: Panel, at now: Moment) -> JSONValue {
        .object([
            ("time", .string(Timestamp.text(now.wall))), ("kind", .string(panel.kind)),
            ("title", .string(panel.title)), ("state", .string(panel.state.rawValue)),
            ("visible", .bool(panel.isVisible)), ("displayMode", .string(panel.displayMode.rawValue)),
            ("columns", .integer(Int64(panel.size.columns))), ("rows", .integer(Int64(panel.size.rows))),
            ("lines", panel.view.map { .array($0.lines.map { .string($0.text) }) } ?? .null),
            ("placeholder", .bool(panel.isPlaceholder)),
            ("renderedAt", panel.renderedAt.map { .string(Timestamp.text($0)) } ?? .null),
            ("note", panel.note.map { .string($0.text) } ?? .null),
            ("again", panel.note?.again.map { .string(Timestamp.text($0)) } ?? .null),
        ])
    }
}
