// Imports nothing: no file, clock or process.

/// A frame, and until when it is current.
package struct TodayPicture: Hashable, Sendable {
    package var frame: Frame
    /// The first time at which the picture changes by itself, in nanoseconds since 1970, because it contains a
    /// countdown or an age. Nil if nothing on it depends on the time.
    package var until: Int64?
}

extension TodayScreen {
    /// Returns the content of the screen at a time.
    package func picture(at moment: TodayMoment) -> TodayPicture {
        var picture = TodayPicture(frame: Frame(size), until: nil)
        putPanels(onto: &picture, moment)
        if firstPanelRow > 0 { picture.frame.put(header(), row: 0) }
        if let row = footerRow { picture.frame.put(footer(), row: row) }
        overlayPicture()?.put(onto: &picture.frame)
        return picture
    }

    private func putPanels(onto picture: inout TodayPicture, _ moment: TodayMoment) {
        for (panel, area) in zip(today.panels, areas()) where area.isSeen(from: scroll, rows: panelRows) {
            let form = PanelPicture.Form(
                width: size.columns, isBoxed: isBoxed, isSelected: panel.kind == today.selected,
                isFolded: folded.contains(panel.kind), look: look)
            let drawn = PanelPicture(of: panel, form, at: moment)
            if let until = drawn.until { picture.until = min(picture.until ?? .max, until) }
            for (offset, row) in drawn.rows.enumerated() {
                let line = area.top + offset - scroll
                if 0 <= line, line < panelRows { picture.frame.put(row, row: firstPanelRow + line) }
            }
        }
        if today.panels.isEmpty {
            let text = addable.isEmpty ? " No widgets are installed." : " No widget is on the list: press a to add one."
            picture.frame.put(cells(text, .faint), row: min(size.rows - 1, firstPanelRow + (isBoxed ? 1 : 0)))
        }
    }

    private func header() -> [Cell] {
        let count = today.panels.count
        var parts = ["\(count) \(count == 1 ? "widget" : "widgets")"]
        if !folded.isEmpty { parts.append("\(folded.count) hidden") }
        let end = cells(parts.joined(separator: " \(Glyphs.of(look).dot) ") + " ", .faint)
        let start = cells(" Today", .bold)
        return start.padded(to: max(start.count, size.columns - end.count)) + end
    }

    private func footer() -> [Cell] {
        let bar = KeyBar(look)
        if let notice { return bar.row(notice: notice, width: size.columns) }
        return bar.row(keys, end: beyond, width: size.columns)
    }

    /// The keys that have an effect now, the more important ones first.
    private var keys: [(key: String, meaning: String)] {
        guard let panel = today.selectedPanel else { return addable.isEmpty ? [] : [("a", "add")] }
        var keys = [("\(Glyphs.of(look).up)\(Glyphs.of(look).down)", "select")]
        if folded.contains(panel.kind) {
            keys.append(("s", "show"))
        } else {
            if panel.isExpandable { keys.append(("e", panel.displayMode == .expanded ? "less" : "more")) }
            keys += [("o", "open"), ("r", "reload"), ("h", "hide")]
        }
        if !addable.isEmpty { keys.append(("a", "add")) }
        return keys + [("x", "remove")]
    }

    /// How many panels are not wholly on the screen, above and below.
    private var beyond: String {
        let areas = areas()
        let above = areas.count { $0.top < scroll }
        let below = areas.count { $0.bottom > scroll + panelRows }
        let glyphs = Glyphs.of(look)
        return [above > 0 ? "\(glyphs.up)\(above)" : "", below > 0 ? "\(glyphs.down)\(below)" : ""]
            .filter { !$0.isEmpty }.joined(separator: " ")
    }

    private func overlayPicture() -> OverlayPicture? {
        switch overlay {
        case .help(let first):
            let all = Overlay.help(look)
            let width = all.map { cells($0.key).count }.max() ?? 0
            let lines = all.dropFirst(first).prefix(overlayRows).map { line in
                cells(line.key, .bold).padded(to: width) + cells("  \(line.meaning)")
            }
            let end = first + lines.count < all.count ? "\(Glyphs.of(look).down) more" : ""
            return OverlayPicture("Keys", Array(lines), end: end, size: size, look)
        case .adding(let selected):
            let first = max(0, selected - overlayRows + 1)
            let lines = addable.enumerated().dropFirst(first).prefix(overlayRows).map { index, widget in
                let style = index == selected ? CellStyle(.cyan, isBold: true, isReversed: true) : .plain
                return cells(" \(widget.title) ", style) + cells(" \(widget.kind)", .faint)
            }
            return OverlayPicture("Add a widget", Array(lines), end: "Enter adds, Esc closes", size: size, look)
        case nil: return nil
        }
    }

    private func cells(_ text: String, _ style: CellStyle = .plain) -> [Cell] {
        Cell.of(text, style, isUnicode: look.isUnicode)
    }
}
