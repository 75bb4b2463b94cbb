// Imports nothing: no file, clock or process.

/// The model of the today view: the panels from top to bottom, and which of them is selected.
package struct TodayModel: Hashable, Sendable {
    /// The panels in the order of the list.
    package private(set) var panels: [Panel]
    /// The kind of the selected panel; nil only if there are no panels.
    package private(set) var selected: String?

    package init(_ panels: [Panel] = [], selected: String? = nil) {
        self.panels = panels
        self.selected = panels.contains { $0.kind == selected } ? selected : panels.first?.kind
    }

    /// The panel that is selected.
    package var selectedPanel: Panel? { panels.first { $0.kind == selected } }

    /// Replaces a panel. Returns false if it looks the same, or is not on the list.
    package mutating func update(_ panel: Panel) -> Bool {
        guard let index = panels.firstIndex(where: { $0.kind == panel.kind }), panels[index] != panel else {
            return false
        }
        panels[index] = panel
        return true
    }

    /// Replaces all panels. The selection stays; if the new panels lack the selected kind, the panel at the same index,
    /// or else the last panel, is selected.
    package mutating func replace(by panels: [Panel]) {
        let index = self.panels.firstIndex { $0.kind == selected } ?? 0
        let isThere = panels.contains { $0.kind == selected }
        self.panels = panels
        if !isThere { selected = panels.isEmpty ? nil : panels[min(index, panels.count - 1)].kind }
    }

    /// Selects a panel. Returns false if there is none of that kind.
    package mutating func select(_ kind: String) -> Bool {
        guard panels.contains(where: { $0.kind == kind }) else { return false }
        selected = kind
        return true
    }

    /// Returns the kinds in the order in which a panel is moved down, or, with a negative number, up; nil if it cannot be
    /// moved so far.
    package func order(moving kind: String, by steps: Int) -> [String]? {
        var kinds = panels.map(\.kind)
        guard let index = kinds.firstIndex(of: kind), kinds.indices.contains(index + steps) else { return nil }
        kinds.swapAt(index, index + steps)
        return kinds
    }

    /// Moves the selection down, or, with a negative number, up, and stops at the ends.
    package mutating func moveSelection(by steps: Int) {
        guard let index = panels.firstIndex(where: { $0.kind == selected }) else { return }
        selected = panels[max(0, min(panels.count - 1, index + steps))].kind
    }
}
