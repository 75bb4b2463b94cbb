// Imports nothing: no file, clock or process.

/// The decisions of the view of today on a terminal: panels, size and keys in, frames and requests out. Uses neither a
/// terminal nor a clock.
package struct TodayScreen: Sendable {
    package private(set) var size: WidgetSize
    package let look: TerminalLook
    /// The host's panels; the selection belongs to this view.
    package internal(set) var today = TodayModel()
    /// All installed widgets.
    var known: [KnownWidget] = []
    /// The hidden panels, each of which keeps one line.
    var folded: Set<String> = []
    var overlay: Overlay?
    /// The notice in the last row, until the next key.
    package internal(set) var notice: String?
    /// How many rows of the panels are above the screen.
    var scroll = 0
    /// The visibility of each panel as the host has it.
    private var reported: [String: Bool] = [:]

    package init(size: WidgetSize, look: TerminalLook = TerminalLook()) {
        self.size = size
        self.look = look
    }

    /// Replaces the panels. The selection stays.
    package mutating func take(_ model: TodayModel) {
        today.replace(by: model.panels)
        let kinds = Set(model.panels.map(\.kind))
        folded.formIntersection(kinds)
        reported = reported.filter { kinds.contains($0.key) }
        keepWithin()
    }

    /// Replaces one panel that looks different.
    package mutating func take(_ panel: Panel) {
        if today.update(panel) { keepWithin() }
    }

    /// Sets the widgets that can be on the list.
    package mutating func know(_ widgets: [KnownWidget]) {
        known = widgets
        keepWithin()
    }

    package mutating func resize(to size: WidgetSize) {
        self.size = size.clipped(to: WidgetSize(columns: 1_000, rows: 1_000))
        keepWithin()
        reveal()
    }

    /// Shows a notice until the next key.
    package mutating func show(notice text: String) { notice = text }

    /// Returns commands for the panels that came into sight since the last call, and for those that went out of it.
    package mutating func visibilityChanges() -> [UserCommand] {
        var commands: [UserCommand] = []
        for area in areas() {
            let isVisible = !folded.contains(area.kind) && area.isSeen(from: scroll, rows: panelRows)
            if isVisible == reported[area.kind] ?? true { continue }
            reported[area.kind] = isVisible
            commands.append(isVisible ? .show(area.kind) : .hide(area.kind))
        }
        return commands
    }

    // MARK: Where the panels are

    /// The rows of a panel, counted from the top of all panels.
    struct Area {
        var kind: String
        var top: Int
        var height: Int

        var bottom: Int { top + height }

        func isSeen(from scroll: Int, rows: Int) -> Bool { bottom > scroll && top < scroll + rows }
    }

    /// Whether panels have borders, for which a small screen has no room.
    var isBoxed: Bool { size.columns >= 24 && size.rows >= 16 }
    private var headerRows: Int { isBoxed ? 1 : 0 }
    private var footerRows: Int { size.rows > 2 ? 1 : 0 }
    var panelRows: Int { max(0, size.rows - headerRows - footerRows) }
    var firstPanelRow: Int { headerRows }
    var footerRow: Int? { footerRows > 0 ? size.rows - 1 : nil }

    func areas() -> [Area] {
        var top = 0
        return today.panels.map { panel in
            let isFolded = folded.contains(panel.kind)
            let height = PanelPicture.height(of: panel, isBoxed: isBoxed, isFolded: isFolded)
            defer { top += height }
            return Area(kind: panel.kind, top: top, height: height)
        }
    }

    var selectedArea: Area? { areas().first { $0.kind == today.selected } }

    private mutating func keepWithin() {
        let last = (areas().last?.bottom ?? 0) - panelRows
        scroll = max(0, min(scroll, last))
        switch overlay {
        case .help(let first): overlay = .help(from: max(0, min(first, lastHelpLine)))
        case .adding(let selected):
            overlay = addable.isEmpty ? nil : .adding(selected: max(0, min(selected, addable.count - 1)))
        case nil: break
        }
    }

    /// Scrolls until the selected panel is on the screen: all of it, or its beginning if it is too high.
    mutating func reveal() {
        guard let area = selectedArea else { return }
        if area.bottom > scroll + panelRows { scroll = area.bottom - panelRows }
        if area.top < scroll || area.height > panelRows { scroll = area.top }
        keepWithin()
    }

    mutating func scroll(by rows: Int) {
        scroll += rows
        keepWithin()
    }

    // MARK: What stands before them

    /// The widgets that are not on the list.
    var addable: [KnownWidget] { known.filter { widget in !today.panels.contains { $0.kind == widget.kind } } }

    var overlayRows: Int { max(1, size.rows - 2) }
    var lastHelpLine: Int { max(0, Overlay.help(look).count - overlayRows) }
}
