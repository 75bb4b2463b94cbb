import GroupCommands
import GroupTerminal

// Uses neither a terminal nor a clock.

/// The present time, for people.
struct TopMoment: Hashable, Sendable {
    /// Nanoseconds since 1970.
    var now: Int64
    /// The offset of the local time, in seconds; east is positive.
    var secondsFromGMT: Int64 = 0
}

/// A frame, and until when it is current.
struct TopPicture {
    var frame: Frame
    /// When an age on it changes, in nanoseconds since 1970; nil while no member waits.
    var until: Int64?
}

/// The parts of the screen, from above: two or three lines about the container, reports, who waits for whom, the table,
/// the keys.
struct TopLayout {
    let headRows: Int
    let reportRows: Int
    let waitRows: Int
    /// The rows of `waitRows` that are no lines of it.
    let around: Int
    let tableRows: Int

    init(_ screen: TopScreen) {
        // The keys and the table's heading have a row each.
        let room = max(0, screen.size.rows - 2)
        headRows = room < 6 ? min(1, room) : 3
        let reports = screen.reports.count
        reportRows = min(reports, max(0, room - headRows) / 4)
        let left = room - headRows - reportRows
        let waits = screen.waits.lines.count
        // A heading belongs to the lines, and a blank row where there is room for it. The table keeps half of the room,
        // and at least three rows.
        around = left >= min(16, waits + 2 + screen.rows.count) ? 2 : 1
        let most = min(left / 2 + 1, left - 3)
        waitRows = waits == 0 || most < 3 ? 0 : min(waits + around, most)
        tableRows = max(0, left - waitRows)
    }
}

extension TopScreen {
    /// Returns the content of the screen at a time.
    func picture(at moment: TopMoment) -> TopPicture {
        var picture = TopPicture(frame: Frame(size))
        let layout = TopLayout(self)
        var row = 0
        func put(_ cells: [Cell]) {
            picture.frame.put(cells, row: row)
            row += 1
        }
        for line in head.prefix(layout.headRows) { put(line) }
        let reports = reports
        for (index, line) in reports.prefix(layout.reportRows).enumerated() {
            let rest = reports.count - layout.reportRows
            let isLast = index == layout.reportRows - 1 && rest > 0
            put(isLast ? cells(" \(rest + 1) more reports: groupctl doctor", CellStyle(.yellow)) : line)
        }
        if layout.waitRows > 0 {
            let lines = WaitLines(self, at: moment).rows(layout.waitRows - layout.around)
            put(cells(" Waits", CellStyle(.cyan, isBold: true)))
            for line in lines.rows { put(line) }
            row = layout.headRows + layout.reportRows + layout.waitRows
            picture.until = lines.until
        }
        let table = MemberTablePicture(self, at: moment)
        put(table.heading)
        for line in rows.dropFirst(scroll).prefix(layout.tableRows) { put(table.row(line)) }
        if rows.isEmpty, layout.tableRows > 0 {
            put(cells(filter.isEmpty ? " no members" : " no member has this text", .faint))
        }
        if size.rows > 1 { picture.frame.put(footer(layout), row: size.rows - 1) }
        helpPicture?.put(onto: &picture.frame)
        // What is paused does not grow older.
        if isPaused { picture.until = nil }
        return picture
    }

    // MARK: The lines about the container

    private var head: [[Cell]] { [titleLine, curveLine, diskLine] }

    private var titleLine: [Cell] {
        let waiting = model.members.count(where: \.isWaiting)
        var parts = [cells("\(model.members.count) \(model.members.count == 1 ? "member" : "members")", .bold)]
        if let isCertain = waits.hasCertainDeadlock {
            parts.append(
                isCertain
                    ? cells("deadlock", CellStyle(.red, isBold: true))
                    : cells("deadlock?", CellStyle(.yellow, isBold: true)))
        }
        if waiting > 0 { parts.append(cells("\(waiting) \(waiting == 1 ? "waits" : "wait")", CellStyle(.yellow))) }
        if isPaused { parts.insert(cells(" paused ", CellStyle(.yellow, isReversed: true)), at: 0) }
        if let leader = model.leader { parts.append(cells("leader \(leader.purpose) \(leader.process)", .faint)) }
        return line(cells(" \(model.path)", .bold), parts, keepsEnd: true)
    }

    private var curveLine: [Cell] {
        let rate = curve.rate()
        let text = " \(rate) \(rate == 1 ? "change/s" : "changes/s") "
        // The curve and its highest count, as wide as the screen allows.
        let width = max(0, min(ChangeCurve.length, size.columns - 16 - 14))
        let values = curve.values(last: width)
        let peak = values.max() ?? 0
        let spark = width == 0 ? "" : Sparkline.text(values, most: peak, isUnicode: look.isUnicode)
        let left = cells(text, rate > 0 ? .bold : .plain).padded(to: 16) + cells(spark, CellStyle(.cyan))
        return line(left, peak > 0 ? [cells("peak \(peak)/s", .faint)] : [])
    }

    private var diskLine: [Cell] {
        var parts = [
            cells(" journal \(model.changes) \(model.changes == 1 ? "change" : "changes")"),
            cells(
                "\(Progress.amount(model.journalBytes, .bytes)) in \(model.journalFiles) \(model.journalFiles == 1 ? "file" : "files")"
            ),
        ]
        if let free = model.freeBytes { parts.append(cells("\(Progress.amount(free, .bytes)) free")) }
        if model.presenterCount > 0 {
            let count = model.presenterCount
            parts.append(cells("\(count) \(count == 1 ? "item is" : "items are") presented"))
        }
        if model.questionCount > 0 {
            let count = model.questionCount
            parts.append(cells("\(count) \(count == 1 ? "question" : "questions")", CellStyle(.yellow)))
        }
        return joined(parts, upTo: size.columns)
    }

    /// What a user should know, the worst first.
    var reports: [[Cell]] {
        var lines: [[Cell]] = []
        if let notice { lines.append(report(notice, CellStyle(.yellow))) }
        if model.leader == nil {
            lines.append(
                report("no leader: changes by other programs are recorded when the next follower starts", .faint))
        }
        for one in model.reports.sorted(by: { $0.isFault && !$1.isFault }) {
            let text = one.remedy.isEmpty ? one.text : "\(one.text); \(one.remedy)"
            lines.append(report(text, CellStyle(one.isFault ? .red : .yellow)))
        }
        return lines
    }

    private func report(_ text: String, _ style: CellStyle) -> [Cell] {
        shortened(cells(" " + text, style), to: size.columns)
    }

    private func footer(_ layout: TopLayout) -> [Cell] {
        let bar = KeyBar(look)
        if isEditing {
            let cursor = Cell.of(" ", .reversed)
            return cells(" /", .bold) + cells(filter) + cursor + cells("  Enter keep  Esc all", .faint)
        }
        let below = max(0, rows.count - scroll - layout.tableRows)
        let glyphs = Glyphs.of(look)
        let beyond = [scroll > 0 ? "\(glyphs.up)\(scroll)" : "", below > 0 ? "\(glyphs.down)\(below)" : ""]
            .filter { !$0.isEmpty }.joined(separator: " ")
        var keys = [("s", "sort"), ("/", "filter"), ("p", isPaused ? "go on" : "pause")]
        if !beyond.isEmpty { keys.insert(("\(glyphs.up)\(glyphs.down)", "scroll"), at: 0) }
        if !filter.isEmpty { keys.append(("Esc", "show all")) }
        return bar.row(keys, end: beyond, width: size.columns)
    }

    private var helpPicture: OverlayPicture? {
        guard let help else { return nil }
        let all = TopHelp.lines(look)
        let width = all.map { cells($0.key).count }.max() ?? 0
        let lines = all.dropFirst(help).prefix(max(1, size.rows - 2)).map { line in
            cells(line.key, .bold).padded(to: width) + cells("  \(line.meaning)")
        }
        let end = help + lines.count < all.count ? "\(Glyphs.of(look).down) more" : ""
        return OverlayPicture("Keys", Array(lines), end: end, size: size, look)
    }

    // MARK: Pieces

    /// Returns a line with as many of `parts` at its right as fit beside at least a third for its left.
    /// Of a left side that is too long, its end is kept if `keepsEnd`.
    private func line(_ left: [Cell], _ parts: [[Cell]], keepsEnd: Bool = false) -> [Cell] {
        let right = joined(parts, upTo: size.columns - min(left.count, size.columns / 3) - 3)
        if right.isEmpty { return shortened(left, to: size.columns) }
        let width = max(0, size.columns - right.count - 1)
        let most = max(0, width - 2)
        if keepsEnd, left.count > most, most > 2 {
            // Not in the middle of a wide character.
            let end = left.suffix(most - 2).drop { $0.width == 0 }
            return (cells(" \(Glyphs.of(look).more)", .bold) + end).padded(to: width) + right
        }
        return shortened(left, to: most).padded(to: width) + right
    }

    private func joined(_ parts: [[Cell]], upTo width: Int) -> [Cell] {
        var row: [Cell] = []
        for part in parts {
            let next = row.isEmpty ? part : cells(" \(Glyphs.of(look).dot) ", .faint) + part
            if row.count + next.count > width { break }
            row += next
        }
        return row
    }

    func shortened(_ text: [Cell], to width: Int) -> [Cell] {
        guard let sign = cells(Glyphs.of(look).more, text.last?.style ?? .plain).first else { return text }
        return text.shortened(to: max(0, width), sign)
    }

    func cells(_ text: String, _ style: CellStyle = .plain) -> [Cell] {
        Cell.of(text, style, isUnicode: look.isUnicode)
    }
}
