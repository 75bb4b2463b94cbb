import GroupTerminal

// Uses neither a terminal nor a clock.

/// The table of members: a heading, and a row for each. A narrow screen leaves columns out.
struct MemberTablePicture {
    private enum Column: Hashable {
        case name, process, rate, curve, since, user, state, command
    }

    private let screen: TopScreen
    private let moment: TopMoment
    private let columns: [(column: Column, width: Int)]
    /// The highest count in any member's curve, so that their curves can be compared.
    private let peak: Int

    init(_ screen: TopScreen, at moment: TopMoment) {
        self.screen = screen
        self.moment = moment
        columns = Self.columns(screen.size.columns)
        let width = columns.first { $0.column == .curve }?.width ?? 0
        peak =
            width == 0 ? 0 : screen.curve.authors.map { screen.curve.values(of: $0, last: width).max() ?? 0 }.max() ?? 0
    }

    /// Chooses the columns for a width, of which one cell is left free at each side, and one between two columns.
    private static func columns(_ width: Int) -> [(column: Column, width: Int)] {
        var chosen: [(column: Column, width: Int)]
        switch width {
        case ..<30: chosen = [(.name, 10), (.state, 0)]
        case ..<50: chosen = [(.name, 11), (.process, 7), (.state, 0)]
        case ..<72: chosen = [(.name, 14), (.process, 7), (.rate, 5), (.state, 0)]
        case ..<110: chosen = [(.name, 18), (.process, 7), (.rate, 5), (.curve, 10), (.since, 8), (.state, 0)]
        case ..<150:
            chosen = [(.name, 22), (.process, 7), (.rate, 6), (.curve, 20), (.since, 8), (.user, 5), (.state, 0)]
        default:
            chosen = [
                (.name, 24), (.process, 7), (.rate, 6), (.curve, 30), (.since, 8), (.user, 5), (.state, 0),
                (.command, 0),
            ]
        }
        let used = chosen.reduce(2) { $0 + $1.width } + chosen.count - 1
        let rest = max(0, width - used)
        let flexible = chosen.count { $0.width == 0 }
        for index in chosen.indices where chosen[index].width == 0 {
            chosen[index].width = chosen[index].column == .command ? rest - rest / flexible : rest / flexible
        }
        return chosen
    }

    var heading: [Cell] {
        let shown = screen.rows.count { if case .member = $0 { true } else { false } }
        let all = screen.model.members.count
        var detail = "by \(screen.order.word)"
        if !screen.filter.isEmpty { detail = "\(shown) of \(all) with '\(screen.filter)' \(detail)" }
        var row = cells(" Members", CellStyle(.cyan, isBold: true)) + cells(" \(detail)", .faint)
        var column = 1
        for (kind, width) in columns {
            let title = cells(title(kind), .faint)
            let place = isNumber(kind) ? column + width - title.count : column
            // The first columns have the title of the table in their place.
            if !title.isEmpty, place > row.count { row = row.padded(to: place) + title }
            column += width + 1
        }
        return row.clipped(to: screen.size.columns)
    }

    private func title(_ column: Column) -> String {
        switch column {
        case .name: ""
        case .process: "pid"
        case .rate: "ch/s"
        case .curve: ""
        case .since: "since"
        case .user: "user"
        case .state: "state"
        case .command: "command"
        }
    }

    private func isNumber(_ column: Column) -> Bool { [.process, .rate, .user].contains(column) }

    func row(_ row: TopScreen.Row) -> [Cell] {
        var cells = Cell.of(" ")
        for (column, width) in columns {
            let text = text(column, of: row, width)
            let short = screen.shortened(text, to: width)
            let isRight = isNumber(column)
            cells +=
                isRight ? Cell.of(String(repeating: " ", count: width - short.count)) + short : short.padded(to: width)
            cells += Cell.of(" ")
        }
        return cells.clipped(to: screen.size.columns)
    }

    private func text(_ column: Column, of row: TopScreen.Row, _ width: Int) -> [Cell] {
        switch (column, row) {
        case (.rate, _):
            let rate = screen.curve.rate(of: author(row))
            return cells(rate == 0 ? "" : "\(rate)")
        case (.curve, _):
            let values = screen.curve.values(of: author(row), last: width)
            return cells(Sparkline.text(values, most: peak, isUnicode: screen.look.isUnicode), CellStyle(.cyan))
        case (_, .member(let index)): return text(column, of: screen.model.members[index])
        case (.name, .formerMembers): return cells("former members", .faint)
        case (.name, .others): return cells("uncoordinated", CellStyle(.magenta))
        case (.state, .formerMembers): return cells("changes of members that have left", .faint)
        case (.state, .others): return cells("changes by other programs", .faint)
        default: return []
        }
    }

    private func author(_ row: TopScreen.Row) -> ChangeCurve.Author {
        switch row {
        case .member(let index): .member(screen.model.members[index].process)
        case .formerMembers: .formerMembers
        case .others: .others
        }
    }

    private func text(_ column: Column, of member: TopModel.Member) -> [Cell] {
        switch column {
        case .name: return cells(member.purpose, member.isOwn ? .faint : .bold)
        case .process: return cells("\(member.process)")
        case .since: return cells(clock(member.since), .faint)
        case .user: return cells("\(member.user)")
        case .state: return state(member)
        case .command: return cells(member.command, .faint)
        case .rate, .curve: return []
        }
    }

    private func state(_ member: TopModel.Member) -> [Cell] {
        var parts: [[Cell]] = []
        switch member.condition {
        case .running: break
        case .stopped: parts.append(cells("stopped", CellStyle(.red, isBold: true)))
        case .ended: parts.append(cells("ended", CellStyle(.red, isBold: true)))
        }
        let awaited = member.locks.filter(\.isWaiting)
        if let first = awaited.first {
            parts.append(cells("waits for \(first.path)\(more(awaited.count))", CellStyle(.yellow)))
        }
        if member.isLeader { parts.append(cells("leader", CellStyle(.cyan))) }
        if member.isOwn { parts.append(cells("this view", .faint)) }
        let held = member.locks.filter { !$0.isWaiting }
        if let first = held.first {
            let verb = first.isWholeDirectory ? "holds all of" : first.isWriting ? "holds" : "reads"
            parts.append(cells("\(verb) \(first.path)\(more(held.count))", CellStyle(.green)))
        }
        if let first = member.presents.first {
            parts.append(cells("presents \(first)\(more(member.presents.count))"))
        }
        return Array(parts.joined(separator: cells(", ")))
    }

    private func more(_ count: Int) -> String { count > 1 ? " and \(count - 1) more" : "" }

    /// Returns the time of the day, or the date of another day.
    private func clock(_ time: Int64) -> String {
        let (day, second) = local(time)
        if day != local(moment.now).day { return Self.date(day) }
        func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(digits(second / 3_600)):\(digits(second / 60 % 60)):\(digits(second % 60))"
    }

    private func local(_ time: Int64) -> (day: Int64, second: Int64) {
        let seconds = time / 1_000_000_000 + moment.secondsFromGMT
        let day = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        return (day, seconds - day * 86_400)
    }

    /// Returns a day, counted from 1970, as `28 Nov`, by Hinnant's algorithm (civil_from_days).
    private static func date(_ day: Int64) -> String {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let names = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"]
        return "\(dayOfYear - (153 * month + 2) / 5 + 1) \(names[Int(month)])"
    }

    private func cells(_ text: String, _ style: CellStyle = .plain) -> [Cell] { screen.cells(text, style) }
}
