// Imports nothing: no file, clock or process.

/// A panel as rows of cells.
struct PanelPicture {
    /// The form in which the panel is drawn.
    struct Form: Hashable {
        var width: Int
        /// Whether the panel has borders; without them it has its title and its lines.
        var isBoxed: Bool
        var isSelected: Bool
        /// Whether the panel is hidden except for one line.
        var isFolded: Bool
        var look: TerminalLook
    }

    private let panel: Panel
    private let form: Form
    private let moment: TodayMoment
    private let glyphs: Glyphs
    private(set) var rows: [[Cell]] = []
    /// The columns of cells that the lines have.
    private var room = 0
    /// The widths of the view's columns but the last.
    private var widths: [Int] = []
    /// The first time at which the picture changes by itself, in nanoseconds since 1970.
    private(set) var until: Int64?

    init(of panel: Panel, _ form: Form, at moment: TodayMoment) {
        self.panel = panel
        self.form = form
        self.moment = moment
        glyphs = Glyphs.of(form.look, isThick: form.isSelected)
        if form.isFolded {
            rows = [folded()]
        } else if form.isBoxed {
            rows = [top()] + lines(width: form.width - 4).map(boxed) + [bottom()]
        } else {
            rows = [heading()] + lines(width: form.width - 2).map { cells("  ") + $0 }
        }
        rows = rows.map { $0.padded(to: form.width) }
    }

    /// Returns how many rows the panel takes, without drawing it.
    static func height(of panel: Panel, isBoxed: Bool, isFolded: Bool) -> Int {
        if isFolded { return 1 }
        return shownLines(of: panel) + (isBoxed ? 2 : 1)
    }

    static func shownLines(of panel: Panel) -> Int {
        max(1, min(panel.view?.lines.count ?? 1, panel.size.rows))
    }

    // MARK: Lines

    private mutating func lines(width: Int) -> [[Cell]] {
        guard let view = panel.view, !view.lines.isEmpty else {
            return [cells(panel.view == nil ? waiting : "", .faint).padded(to: width)]
        }
        let shown = Self.shownLines(of: panel)
        room = max(0, panel.size.columns > 0 ? min(width, panel.size.columns) : width)
        widths = Self.widths(
            view.lines.prefix(shown).map { line in [first(line, .plain)] + seen(line.columns).map { cut($0, .plain) } })
        return view.lines.prefix(shown).map { line($0, room).padded(to: width) }
    }

    private var waiting: String {
        panel.state == .starting || panel.state == .active ? "waiting for its first view" : "nothing to show yet"
    }

    private mutating func line(_ line: WidgetView.Line, _ width: Int) -> [Cell] {
        let style = panel.isPlaceholder ? .faint : CellStyle(line.style)
        let text = columns(line, style)
        var rest: [Cell] = []
        if let percent = line.percent { rest = gauge(percent, style, width) }
        if let date = line.countdownNanosecond {
            rest += cells(rest.isEmpty ? "" : " ") + cells(note(TimeText.countdown(to: date, at: moment.now)), style)
        }
        if rest.isEmpty { return shortened(text, width) }
        if rest.count + 2 > width { return rest.clipped(to: width) }
        // The gauge and the remaining time are at the right, where they are easy to find, and are never cut off for a
        // long text.
        return shortened(text, width - rest.count - 1).padded(to: width - rest.count) + rest
    }

    /// Returns the width of each column but the last: as much as its widest text has in a line that goes on after it.
    private static func widths(_ lines: [[[Cell]]]) -> [Int] {
        var widths: [Int] = []
        for line in lines {
            for (index, cells) in line.dropLast().enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], cells.count)
            }
        }
        return widths
    }

    /// Returns a line's mark, text and columns, each column at its place.
    private func columns(_ line: WidgetView.Line, _ style: CellStyle) -> [Cell] {
        var row = first(line, style)
        var end = 0
        for (index, text) in seen(line.columns).enumerated() {
            end += widths[index] + 2
            if end > room { break }
            row = row.padded(to: end) + cut(text, style)
        }
        return row
    }

    /// Returns the columns that may be seen, however many a view has.
    private func seen(_ columns: [String]?) -> ArraySlice<String> { (columns ?? []).prefix(room / 2) }

    /// Returns the cells of the beginning of a text, however long it is: more than there is room for.
    private func cut(_ text: String, _ style: CellStyle) -> [Cell] { cells(String(text.prefix(room + 1)), style) }

    private func first(_ line: WidgetView.Line, _ style: CellStyle) -> [Cell] {
        // A terminal has no pictures.
        control(line.control) + cut(line.text.isEmpty ? line.image?.label ?? "" : line.text, style)
    }

    /// Returns the mark of a button or toggle, and a blank; nothing for no control. A press that has no result yet is
    /// shown as one.
    private func control(_ control: WidgetView.Control?) -> [Cell] {
        guard let control, !panel.isPlaceholder else { return [] }
        let mark = form.look.isUnicode && control.isOn == nil ? "▸" : control.mark
        if panel.isPressed(control) { return cells(mark + (form.look.isUnicode ? "…" : "~"), CellStyle(.yellow)) }
        return cells(mark + " ", CellStyle(.cyan))
    }

    private func gauge(_ percent: Int, _ style: CellStyle, _ width: Int) -> [Cell] {
        let number = "\(percent) %"
        let length = min(20, width / 3)
        let bar = length < 4 ? 0 : (percent * length + 50) / 100
        let (full, empty) = form.look.isUnicode ? ("█", "░") : ("#", ".")
        let picture =
            length < 4
            ? "" : String(repeating: full, count: bar) + String(repeating: empty, count: length - bar) + " "
        return cells(picture + String(repeating: " ", count: max(0, 5 - number.count)) + number, style)
    }

    private func boxed(_ line: [Cell]) -> [Cell] {
        border("\(glyphs.vertical) ") + line + border(" \(glyphs.vertical)")
    }

    // MARK: Around them

    private mutating func top() -> [Cell] {
        let left = title(form.isSelected ? CellStyle(.cyan, isBold: true) : .bold)
        return edge(glyphs.topLeft, left, state(), glyphs.topRight)
    }

    private mutating func bottom() -> [Cell] {
        edge(glyphs.bottomLeft, noteCells(), ageAndRest(), glyphs.bottomRight)
    }

    private mutating func heading() -> [Cell] {
        let style = CellStyle(form.isSelected ? .cyan : nil, isBold: true, isReversed: form.isSelected)
        let left = title(style)
        let reason = noteCells()
        let right = reason.isEmpty ? state() : reason
        let middle = form.width - left.count - right.count - 3
        if right.isEmpty || middle < 0 {
            // Without room for both, the reason has priority over the title.
            let end = reason.isEmpty ? [] : cells(" ") + reason
            return shortened(left, max(form.width / 3, form.width - end.count)) + end
        }
        let line = String(repeating: glyphs.horizontal, count: middle)
        return left + cells(" ") + border(line) + cells(" ") + right
    }

    private mutating func folded() -> [Cell] {
        let style = CellStyle(form.isSelected ? .cyan : nil, isFaint: !form.isSelected, isReversed: form.isSelected)
        let end = cells(" hidden ", .faint)
        let left = cells("\(glyphs.folded) ", style) + title(style)
        if form.width < left.count + end.count { return shortened(left, form.width) }
        return left.padded(to: form.width - end.count) + end
    }

    /// Returns a border with text at its left and right. The left text is shortened first, but keeps some room.
    private func edge(_ start: String, _ left: [Cell], _ right: [Cell], _ end: String) -> [Cell] {
        let room = form.width - 4
        let rightRoom = left.isEmpty ? room - 2 : room - min(left.count, room * 2 / 3) - 5
        // A few letters of the right text would mean nothing.
        let right = right.count > rightRoom && rightRoom < 6 ? [] : shortened(right, rightRoom)
        let leftRoom = right.isEmpty ? room - 2 : room - right.count - 5
        let before = left.isEmpty ? [] : cells(" ") + shortened(left, leftRoom) + cells(" ")
        let after = right.isEmpty ? [] : cells(" ") + right + cells(" ")
        let line = String(repeating: glyphs.horizontal, count: max(0, room - before.count - after.count))
        return border(start + glyphs.horizontal) + before + border(line) + after + border(glyphs.horizontal + end)
    }

    private func title(_ style: CellStyle) -> [Cell] {
        let cells = cells(panel.title, style)
        return cells.isEmpty ? self.cells(panel.kind, style) : cells
    }

    private func state() -> [Cell] {
        switch panel.state {
        case .active: cells("active", CellStyle(.green))
        case .starting: cells("starting", CellStyle(.yellow))
        case .suspending: cells("suspending", .faint)
        case .suspended: cells("suspended", .faint)
        case .ending: cells("ending", CellStyle(.yellow))
        case .notRunning: cells("not running", panel.note?.isFault == true ? CellStyle(.red) : .faint)
        }
    }

    // MARK: What is wrong, or late

    private mutating func noteCells() -> [Cell] {
        guard let reason = panel.note else { return [] }
        let style = CellStyle(reason.isFault ? .red : .yellow, isBold: reason.isFault)
        guard let again = reason.again else { return cells(reason.text, style) }
        if reason.isFault {
            let left = note(TimeText.left(until: again, at: moment.now))
            return cells("\(reason.text); again in \(left)", style)
        }
        return cells(late(reason.text, again), style)
    }

    /// Returns a text such as `deferred until 10:40: budget`; with the remaining time if the end is not today; with
    /// neither once the time has come.
    private mutating func late(_ text: String, _ again: Int64) -> String {
        if again <= moment.now { return text }
        note(until: again)
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        let cause = parts.count > 1 ? ":" + parts[1] : ""
        let (day, minutes) = local(again)
        if day == local(moment.now).day {
            let minute = minutes % 60
            return "\(parts.first ?? "") until \(minutes / 60):\(minute < 10 ? "0" : "")\(minute)\(cause)"
        }
        note(until: startOfDay(day))
        return "\(parts.first ?? "") for \(note(TimeText.left(until: again, at: moment.now)))\(cause)"
    }

    private func local(_ time: Int64) -> (day: Int64, minutes: Int64) {
        let seconds = Self.quotient(time, 1_000_000_000) + moment.secondsFromGMT
        let day = Self.quotient(seconds, 86_400)
        return (day, (seconds - day * 86_400) / 60)
    }

    private func startOfDay(_ day: Int64) -> Int64? {
        let (start, overflow) = (day * 86_400 - moment.secondsFromGMT).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? nil : start
    }

    /// Returns the quotient rounded down, also below zero.
    private static func quotient(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    private mutating func ageAndRest() -> [Cell] {
        let rest = max(0, (panel.view?.lines.count ?? 0) - Self.shownLines(of: panel))
        var parts: [String] = []
        if rest > 0 { parts.append("\(rest) more") }
        if let date = panel.renderedAt, panel.note?.showsAge == true {
            parts.append("\(note(TimeText.age(since: date, at: moment.now))) old")
        }
        return cells(parts.joined(separator: " \(glyphs.dot) "), .faint)
    }

    // MARK: Pieces

    private func cells(_ text: String, _ style: CellStyle = .plain) -> [Cell] {
        Cell.of(text, style, isUnicode: form.look.isUnicode)
    }

    private func border(_ text: String) -> [Cell] {
        cells(text, form.isSelected ? CellStyle(.cyan, isBold: true) : .faint)
    }

    private func shortened(_ cells: [Cell], _ width: Int) -> [Cell] {
        guard let sign = self.cells(glyphs.more, cells.last?.style ?? .plain).first else { return cells }
        return cells.shortened(to: max(0, width), sign)
    }

    private mutating func note(_ text: TimeText) -> String {
        note(until: text.until)
        return text.text
    }

    private mutating func note(until moment: Int64?) {
        if let moment { until = min(until ?? .max, moment) }
    }
}
