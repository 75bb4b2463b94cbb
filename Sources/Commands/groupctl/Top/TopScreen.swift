import GroupTerminal

// Uses neither a terminal nor a clock.

/// What a key requests outside the screen.
enum TopAction: Hashable, Sendable {
    case quit, suspend, redrawAll
    /// The user has paused the view, or continued it.
    case pause, proceed
}

/// The decisions of `groupctl top`: what it shows, and keys in, frames out.
struct TopScreen: Sendable {
    enum Order: CaseIterable, Sendable {
        case name, age, changes, locks

        var word: String {
            switch self {
            case .name: "name"
            case .age: "age"
            case .changes: "changes"
            case .locks: "locks"
            }
        }

        var next: Order {
            let all = Self.allCases
            return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
        }
    }

    /// A row of the table: a member, or what is counted together.
    enum Row: Hashable, Sendable {
        case member(Int)
        case formerMembers
        case others
    }

    let look: TerminalLook
    private(set) var size: WidgetSize
    private(set) var model: TopModel
    private(set) var waits = WaitTree([], at: 0)
    private(set) var curve: ChangeCurve
    /// A line about the stream of changes; nil where all is well.
    var notice: String?
    private(set) var order = Order.name
    private(set) var filter = ""
    private(set) var isEditing = false
    private(set) var isPaused = false
    /// The first line of the help that is shown; nil while the help is closed.
    private(set) var help: Int?
    /// How many rows of the table are above the screen.
    private(set) var scroll = 0
    /// The rows of the table that the filter lets through, in order.
    private(set) var rows: [Row] = []

    init(path: String, size: WidgetSize, look: TerminalLook = TerminalLook(), second: Int64 = 0) {
        self.size = size
        self.look = look
        model = TopModel(path: path)
        curve = ChangeCurve(at: second)
    }

    // MARK: What happens

    /// Takes the state at a moment (nanoseconds since 1970), and new changes by their authors' processes; nil for other
    /// programs.
    mutating func take(_ model: TopModel, at now: Int64, changes: [Int32?: Int] = [:]) {
        self.model = model
        waits = WaitTree(model.members, at: now)
        for (process, count) in changes { curve.add(count, by: process.map(ChangeCurve.Author.member) ?? .others) }
        let present = Set(model.members.map(\.process))
        for case .member(let process) in Array(curve.authors) where !present.contains(process) {
            curve.merge(.member(process), into: .formerMembers)
        }
        arrange()
    }

    /// Finds deadlocks that are seen only once they have lasted.
    mutating func judgeWaits(at now: Int64) {
        if !model.members.contains(where: { $0.ancestor != nil }) { return }
        waits = WaitTree(model.members, at: now)
        arrange()
    }

    /// Goes on to a later second of the curve.
    mutating func advance(to second: Int64) {
        if second <= curve.second { return }
        curve.advance(to: second)
        if order == .changes || rows.contains(.others) || rows.contains(.formerMembers) { arrange() }
    }

    mutating func resize(to size: WidgetSize) {
        self.size = size
        keepWithin()
    }

    mutating func press(_ key: Key) -> [TopAction] {
        switch key {
        // In the raw mode of a terminal, these are keys, and no signals.
        case .control("c"), .control("\\"): return [.quit]
        case .control("l"): return [.redrawAll]
        case .control("z"): return [.suspend]
        default: break
        }
        if help != nil { return pressInHelp(key) }
        return isEditing ? edit(key) : pressInTable(key)
    }

    private mutating func pressInHelp(_ key: Key) -> [TopAction] {
        let first = help ?? 0
        switch key {
        case .down, .character("j"), .wheel(1): help = first + 1
        case .up, .character("k"), .wheel(-1): help = first - 1
        case .pasted, .unknown, .click: break
        default: help = nil
        }
        keepWithin()
        return []
    }

    private mutating func edit(_ key: Key) -> [TopAction] {
        switch key {
        case .character(let scalar): if filter.unicodeScalars.count < 100 { filter.unicodeScalars.append(scalar) }
        case .backspace: if !filter.isEmpty { filter.unicodeScalars.removeLast() }
        case .control("u"): filter = ""
        case .enter: isEditing = false
        case .escape: (filter, isEditing) = ("", false)
        default: return pressInTable(key)
        }
        arrange()
        return []
    }

    private mutating func pressInTable(_ key: Key) -> [TopAction] {
        switch key {
        case .up, .character("k"): scroll -= 1
        case .down, .character("j"): scroll += 1
        case .wheel(let step): scroll += 3 * step
        case .pageUp: scroll -= max(1, tableRows - 1)
        case .pageDown: scroll += max(1, tableRows - 1)
        case .home, .character("g"): scroll = 0
        case .end, .character("G"): scroll = rows.count
        case .character("s"):
            order = order.next
            scroll = 0
            arrange()
        case .character("/"): isEditing = true
        case .escape:
            filter = ""
            arrange()
        case .character("p"), .character(" "):
            isPaused.toggle()
            return [isPaused ? .pause : .proceed]
        case .character("?"): help = 0
        case .character("q"): return [.quit]
        default: break
        }
        keepWithin()
        return []
    }

    // MARK: The table

    private mutating func arrange() {
        let matching = model.members.indices.filter { matches(model.members[$0]) }
        rows = sorted(matching).map(Row.member)
        if filter.isEmpty {
            if curve.sum(of: .formerMembers) > 0 { rows.append(.formerMembers) }
            if curve.sum(of: .others) > 0 { rows.append(.others) }
        }
        keepWithin()
    }

    private func matches(_ member: TopModel.Member) -> Bool {
        if filter.isEmpty { return true }
        let wanted = filter.lowercased()
        let texts = [member.purpose, member.command, "\(member.process)"] + member.locks.map(\.path) + member.presents
        return texts.contains { $0.lowercased().contains(wanted) }
    }

    private func sorted(_ members: [Int]) -> [Int] {
        let all = model.members
        func isNamedBefore(_ one: Int, _ other: Int) -> Bool {
            (all[one].purpose, all[one].process) < (all[other].purpose, all[other].process)
        }
        switch order {
        case .name: return members.sorted(by: isNamedBefore)
        case .age: return members.sorted { (all[$0].since, $0) < (all[$1].since, $1) }
        case .changes:
            let sums = members.map { (member: $0, sum: curve.sum(of: .member(all[$0].process))) }
            return sums.sorted { $0.sum == $1.sum ? isNamedBefore($0.member, $1.member) : $0.sum > $1.sum }
                .map(\.member)
        case .locks:
            func weight(_ member: Int) -> Int {
                let locks = all[member].locks
                return locks.contains(where: \.isWaiting) ? Int.max : locks.count * 2 + all[member].presents.count
            }
            return members.sorted {
                weight($0) == weight($1) ? isNamedBefore($0, $1) : weight($0) > weight($1)
            }
        }
    }

    private mutating func keepWithin() {
        scroll = max(0, min(scroll, rows.count - tableRows))
        if let first = help { help = max(0, min(first, TopHelp.lines(look).count - max(1, size.rows - 2))) }
    }

    /// The rows of the screen that the table's members have.
    var tableRows: Int { TopLayout(self).tableRows }
}

/// The keys and their meanings.
enum TopHelp {
    static func lines(_ look: TerminalLook) -> [(key: String, meaning: String)] {
        [
            (look.isUnicode ? "↑ ↓, j k" : "up down, j k", "scroll"), ("PgUp PgDn", "scroll a screen"),
            ("Home End, g G", "go to the first, the last"),
            ("s", "sort by name, age, changes, locks"), ("/", "show only members with a text; Enter keeps it"),
            ("Esc", "show all members"), ("p, space", "pause; again to go on"),
            ("Ctrl-L", "draw everything again"), ("Ctrl-Z", "stop; fg continues"), ("q, Ctrl-C", "quit"),
        ]
    }
}
