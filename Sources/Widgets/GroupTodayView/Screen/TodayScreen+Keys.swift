// Imports nothing: no file, clock or process.

extension TodayScreen {
    /// Applies a key to the screen, and returns the actions that it requests elsewhere.
    package mutating func press(_ key: Key) -> [TodayAction] {
        notice = nil
        switch key {
        // In the raw mode of a terminal, these are keys, and no signals.
        case .control("c"), .control("\\"): return [.command(.quit)]
        case .control("l"): return [.redrawAll]
        case .control("z"): return [.suspend]
        default: break
        }
        switch overlay {
        case .help(let first): return pressInHelp(key, first)
        case .adding(let selected): return pressWhileAdding(key, selected)
        case nil: return pressAmongPanels(key)
        }
    }

    private mutating func pressInHelp(_ key: Key, _ first: Int) -> [TodayAction] {
        switch key {
        case .down, .character("j"): overlay = .help(from: min(first + 1, lastHelpLine))
        case .up, .character("k"): overlay = .help(from: max(0, first - 1))
        case .wheel(let step): overlay = .help(from: max(0, min(first + step, lastHelpLine)))
        case .pasted, .unknown: break
        default: overlay = nil
        }
        return []
    }

    private mutating func pressWhileAdding(_ key: Key, _ selected: Int) -> [TodayAction] {
        let choices = addable
        switch key {
        case .down, .character("j"): overlay = .adding(selected: min(selected + 1, choices.count - 1))
        case .up, .character("k"): overlay = .adding(selected: max(0, selected - 1))
        case .enter, .character("a"), .character(" "):
            overlay = nil
            if choices.indices.contains(selected) { return [.command(.add(choices[selected].kind))] }
        case .escape, .character("q"), .left, .backspace: overlay = nil
        default: break
        }
        return []
    }

    private mutating func pressAmongPanels(_ key: Key) -> [TodayAction] {
        switch key {
        case .up, .character("k"): step(-1)
        case .down, .character("j"): step(1)
        case .pageUp: page(-1)
        case .pageDown, .character(" "): page(1)
        case .wheel(let step): scroll(by: 3 * step)
        case .click(_, let row): return click(row)
        case .home, .character("g"): select(today.panels.first)
        case .end, .character("G"): select(today.panels.last)
        case .character("?"): overlay = .help(from: 0)
        case .character("q"): return [.command(.quit)]
        case .character("R"): return [.command(.reload(nil))]
        case .character("a"):
            if addable.isEmpty { notice = "every installed widget is on the list" }
            overlay = addable.isEmpty ? nil : .adding(selected: 0)
        default: return pressOnPanel(key)
        }
        return []
    }

    private mutating func pressOnPanel(_ key: Key) -> [TodayAction] {
        guard let panel = today.selectedPanel else { return [] }
        switch key {
        case .enter, .character("o"): return [.command(.open(panel.kind, line: nil))]
        case .character(let digit) where "1"..."9" ~= digit:
            let line = Int(digit.value) - 0x30
            return choose(line, of: panel)
        case .character("e"): return expand(panel)
        case .character("h"): fold(panel, true)
        case .character("s"): fold(panel, false)
        case .character("r"): return [.command(.reload(panel.kind))]
        case .character("x"): return [.command(.remove(panel.kind))]
        case .shiftUp, .character("K"): return move(panel, by: -1)
        case .shiftDown, .character("J"): return move(panel, by: 1)
        default: break
        }
        return []
    }

    /// Presses a line, counted from 1, or opens its address.
    private func choose(_ line: Int, of panel: Panel) -> [TodayAction] {
        let lines = panel.view?.lines ?? []
        if line > min(lines.count, PanelPicture.shownLines(of: panel)) { return [] }
        guard let control = lines[line - 1].control else { return [.command(.open(panel.kind, line: line))] }
        return [.command(.press(panel.kind, line: line, panel.action(of: control)))]
    }

    /// Selects the panel of a row, shows it again if it is hidden, and presses or opens the line of that row.
    private mutating func click(_ row: Int) -> [TodayAction] {
        let position = row - firstPanelRow + scroll
        guard 0..<panelRows ~= row - firstPanelRow,
            let area = areas().first(where: { $0.top <= position && position < $0.bottom }),
            let panel = today.panels.first(where: { $0.kind == area.kind })
        else { return [] }
        _ = today.select(area.kind)
        if folded.contains(area.kind) {
            fold(panel, false)
            return []
        }
        // The first row is the title, and the last one of a box is its border.
        let line = position - area.top
        if line == 0 || line > area.height - (isBoxed ? 2 : 1) { return [] }
        let shown = panel.view?.lines ?? []
        let isOpenable = line <= shown.count && (shown[line - 1].control != nil || shown[line - 1].url != nil)
        return isOpenable ? choose(line, of: panel) : []
    }

    /// Moves the selection; scrolls first if more rows of the selected panel are beyond the screen in that direction.
    private mutating func step(_ direction: Int) {
        if let area = selectedArea, area.height > panelRows, panelRows > 0 {
            let left = direction > 0 ? area.bottom - scroll - panelRows : scroll - area.top
            if left > 0 { return scroll(by: direction * min(left, max(1, panelRows / 2))) }
        }
        let before = today.selected
        today.moveSelection(by: direction)
        if today.selected == before { return }
        reveal()
        // A high panel that is entered from below shows its end.
        if direction < 0, let area = selectedArea, area.height > panelRows {
            scroll(by: area.bottom - panelRows - scroll)
        }
    }

    private mutating func page(_ direction: Int) {
        let areas = areas()
        guard let selected = areas.firstIndex(where: { $0.kind == today.selected }) else { return }
        let target = areas[selected].top + direction * max(1, panelRows)
        let after = areas.first { $0.bottom > target } ?? areas[areas.count - 1]
        let area = direction > 0 ? after : areas.first { $0.top >= target } ?? areas[0]
        if area.kind == today.selected { return step(direction) }
        _ = today.select(area.kind)
        reveal()
    }

    private mutating func select(_ panel: Panel?) {
        guard let panel else { return }
        _ = today.select(panel.kind)
        reveal()
    }

    private mutating func expand(_ panel: Panel) -> [TodayAction] {
        if panel.displayMode == .expanded { return [.command(.collapse(panel.kind))] }
        if panel.isExpandable { return [.command(.expand(panel.kind))] }
        notice = "this widget has no expanded view"
        return []
    }

    private mutating func fold(_ panel: Panel, _ isFolded: Bool) {
        if isFolded { folded.insert(panel.kind) } else { folded.remove(panel.kind) }
        scroll(by: 0)
        reveal()
    }

    private func move(_ panel: Panel, by steps: Int) -> [TodayAction] {
        today.order(moving: panel.kind, by: steps).map { [.command(.order($0))] } ?? []
    }
}
