import GroupTerminal

// Uses neither a terminal nor a clock.

/// The lines of the part "Waits".
struct WaitLines {
    private let screen: TopScreen
    private let moment: TopMoment
    private var members: [TopModel.Member] { screen.model.members }

    init(_ screen: TopScreen, at moment: TopMoment) {
        self.screen = screen
        self.moment = moment
    }

    /// Returns as many lines as fit, the last one of which counts the others; and when the first age in them changes.
    func rows(_ count: Int) -> (rows: [[Cell]], until: Int64?) {
        let all = screen.waits.lines
        let shown = all.count > count ? max(0, count - 1) : all.count
        var until: Int64?
        var rows = all.prefix(shown).map { line in
            let drawn = row(line)
            if let age = drawn.until { until = min(until ?? .max, age) }
            return drawn.row
        }
        if shown < all.count, count > 0 {
            rows.append(screen.cells(" \(Glyphs.of(screen.look).more) \(all.count - shown) more", .faint))
        }
        return (rows, until)
    }

    /// Whether a line has no room for the words that can be left out.
    private var isNarrow: Bool { screen.size.columns < 60 }

    private func row(_ line: WaitTree.Line) -> (row: [Cell], until: Int64?) {
        let text = branches(line)
        switch line.content {
        case .holder(let member, let locks):
            let held = locks.isEmpty ? presented(member) : self.held(member, locks)
            return (end(text + name(member, .bold) + cells(" \(held)"), []), nil)
        case .starter(let member, let locks, let isInCircle):
            let circle = "holds \(paths(member, locks)), started \(isNarrow ? "next" : "the next")"
            let held = cells(isInCircle ? " \(circle)" : " started it, holds \(paths(member, locks))")
            return (end(text + name(member, .bold) + held, []), nil)
        case .waiter(let member, let lock, let holding):
            let wanted = members[member].locks[lock]
            let age = TimeText.age(since: wanted.since, at: moment.now)
            let holds = holding.isEmpty ? "" : " holds \(paths(member, holding)),"
            let use = isNarrow ? "for" : "to \(use(of: wanted))"
            let words = cells("\(holds) waits \(use) \(wanted.path)")
            return (
                end(text + name(member, CellStyle(.yellow)) + words, cells(age.text, CellStyle(.yellow))), age.until
            )
        case .asker(let member, let number):
            let question = members[member].questions[number]
            let age = TimeText.age(since: question.since, at: moment.now)
            let words =
                cells(question.purpose, CellStyle(.yellow)) + cells(" \(question.process)", .faint)
                + cells(" asks it for \(question.item): \(question.wanted)")
            return (end(text + words, cells(age.text, CellStyle(.yellow))), age.until)
        case .deadlock(let isCertain):
            let explanation = isNarrow ? "" : ": each waits for the next"
            let title = (isCertain ? "deadlock" : "perhaps a deadlock") + explanation
            return (end(text + cells(title, CellStyle(isCertain ? .red : .yellow, isBold: true)), []), nil)
        case .back(let member): return (end(text + cells("back to ", .faint) + name(member, .plain), []), nil)
        }
    }

    /// Returns the lines from the lines above to this one; of deep ones, only the last.
    private func branches(_ line: WaitTree.Line) -> [Cell] {
        let isUnicode = screen.look.isUnicode
        let most = max(1, screen.size.columns / 12)
        let levels = line.levels.suffix(most)
        var text = " "
        if levels.count < line.levels.count { text += Glyphs.of(screen.look).more }
        for isFollowed in levels.dropLast() { text += isFollowed ? (isUnicode ? "│  " : "|  ") : "   " }
        if let isFollowed = levels.last {
            let isBack = if case .back = line.content { true } else { false }
            let corner = isUnicode ? (isBack ? "╰▸ " : "╰─ ") : "`- "
            text += isFollowed ? (isUnicode ? "├─ " : "|- ") : corner
        }
        return cells(text, .faint)
    }

    private func name(_ member: Int, _ style: CellStyle) -> [Cell] {
        cells(members[member].purpose, style) + cells(" \(members[member].process)", .faint)
    }

    private func held(_ member: Int, _ locks: [Int]) -> String {
        let first = locks.first.map { members[member].locks[$0] }
        let verb = first?.isWholeDirectory == true ? "holds all of" : first?.isWriting == true ? "holds" : "reads"
        return "\(verb) \(paths(member, locks))"
    }

    private func presented(_ member: Int) -> String {
        let paths = members[member].presents
        return "presents \(paths.first ?? "")" + (paths.count > 1 ? " and \(paths.count - 1) more" : "")
    }

    private func paths(_ member: Int, _ locks: [Int]) -> String {
        let paths = locks.prefix(2).map { members[member].locks[$0].path }
        return paths.joined(separator: ", ") + (locks.count > 2 ? " and \(locks.count - 2) more" : "")
    }

    private func use(of lock: TopModel.Lock) -> String {
        lock.isWholeDirectory ? "change all of" : lock.isWriting ? "write" : "read"
    }

    private func end(_ left: [Cell], _ right: [Cell]) -> [Cell] {
        // On a wide screen, the age stays near the text.
        let width = min(100, screen.size.columns) - 1
        if right.isEmpty { return screen.shortened(left, to: width) }
        let room = max(0, width - right.count - 1)
        return screen.shortened(left, to: room).padded(to: room + 1) + right
    }

    private func cells(_ text: String, _ style: CellStyle = .plain) -> [Cell] { screen.cells(text, style) }
}
