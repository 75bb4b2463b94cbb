import Testing
@testable import GroupTodayView

struct `Keys of the Today view` {
    private func commands(_ actions: [TodayAction]) -> [UserCommand] {
        actions.compactMap { if case .command(let command) = $0 { command } else { nil } }
    }

    private func panel(_ kind: String, lines: Int) -> Panel {
        Panel(
            kind: kind, title: kind, state: .active,
            view: WidgetView(lines: (0..<lines).map { .init("\(kind) \($0)") }),
            size: WidgetSize(columns: 80, rows: lines))
    }

    @Test func `each key of the Today view sends its command to the host`() {
        var screen = SamplePanels.screen(60, 24)
        let expected: [(Key, UserCommand)] = [
            (.enter, .open("todo-list", line: nil)), (.character("o"), .open("todo-list", line: nil)),
            (.character("2"), .open("todo-list", line: 2)), (.character("e"), .expand("todo-list")),
            (.character("r"), .reload("todo-list")), (.character("R"), .reload(nil)),
            (.character("x"), .remove("todo-list")), (.character("q"), .quit), (.control("c"), .quit),
            (.control("\\"), .quit),
            (.character("J"), .order(["next", "todo-list", "mail", "news"])),
            (.shiftDown, .order(["next", "todo-list", "mail", "news"])),
        ]
        for (key, command) in expected { #expect(commands(screen.press(key)) == [command], "\(key)") }
        #expect(screen.press(.control("l")) == [.redrawAll] && screen.press(.control("z")) == [.suspend])
        // There is no panel above the first, no fourth line, and no expanded view.
        for key in [Key.character("K"), .character("4"), .pasted, .unknown, .character("z"), .tab, .escape] {
            #expect(screen.press(key) == [], "\(key)")
        }
        _ = screen.press(.down)
        #expect(
            commands(screen.press(.character("e"))) == [] && screen.text().contains("this widget has no expanded view"))
        #expect(commands(screen.press(.shiftUp)) == [.order(["next", "todo-list", "mail", "news"])])
        var expanded = SamplePanels.list
        expanded.displayMode = .expanded
        screen.take(TodayModel([expanded]))
        #expect(commands(screen.press(.character("e"))) == [.collapse("todo-list")])
    }

    private var pressable: Panel {
        Panel(
            kind: "p", title: "P", state: .active,
            view: WidgetView(lines: [
                .init("Milk", control: .toggle("milk", isOn: true)), .init("Add", control: .button("add")),
                .init("Map", url: "map:"), .init("Disk", gauge: 0.5),
            ]), size: WidgetSize(columns: 80, rows: 4))
    }

    @Test(arguments: [WidgetSize(columns: 60, rows: 24), WidgetSize(columns: 23, rows: 12)])
    func `a key, or a click on its row, presses a control or opens an address`(size: WidgetSize) throws {
        var screen = TodayScreen(size: size)
        screen.take(TodayModel([panel("a", lines: 2), pressable]))
        func rows() -> [String] {
            screen.picture(at: TodayMoment(now: 0)).frame.picture
                .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        }
        func click(_ text: String) throws -> [UserCommand] {
            let row = try #require(rows().firstIndex { $0.contains(text) }, "\(text)")
            return commands(screen.press(.click(column: 5, row: row)))
        }
        let milk = UserCommand.press("p", line: 1, WidgetAction(id: "milk", isOn: false))
        #expect(screen.text().contains("[x] Milk") && screen.text().contains("▸ Add"))
        #expect(try click("Milk") == [milk] && click("Add") == [.press("p", line: 2, WidgetAction(id: "add"))])
        #expect(try click("Map") == [.open("p", line: 3)])
        // A line without an address, a title, and a row without a panel select at most.
        #expect(try click("Disk") == [] && click("a 1") == [] && screen.today.selected == "a")
        #expect(screen.press(.click(column: 0, row: size.rows - 1)) == [] && screen.today.selected == "a")
        #expect(screen.press(.click(column: -1, row: -1)) == [] && screen.press(.click(column: 0, row: 65_534)) == [])
        _ = screen.press(.down)
        #expect(commands(screen.press(.character("1"))) == [milk])
        #expect(commands(screen.press(.character("3"))) == [.open("p", line: 3)])
        _ = screen.press(.character("h"))
        #expect(screen.folded.contains("p"))
        let folded = rows().lastIndex { $0.contains("hidden") }
        _ = screen.press(.click(column: 0, row: try #require(folded)))
        #expect(!screen.folded.contains("p"))
    }

    @Test func `columns begin at the same place in each line, and are cut with the line`() {
        let view = WidgetView(lines: [
            .init("10:00", columns: ["Dentist", "Main Street"]), .init("9:30", columns: ["漢字", ""]),
            .init("a long line without columns"), .init("", columns: ["x"], image: .icon("i", label: "icon")),
            .init("t", columns: ["y"], control: .toggle("t", isOn: false)),
        ])
        var screen = TodayScreen(size: WidgetSize(columns: 60, rows: 24))
        screen.take(TodayModel([Panel(kind: "c", title: "C", view: view, size: WidgetSize(columns: 80, rows: 9))]))
        for text in ["10:00  Dentist  Main Street ", "9:30   漢字", "a long line", "icon   x ", "[ ] t  y "] {
            #expect(screen.text().contains(text), "\(text)")
        }
        for columns in 1..<40 {
            screen.resize(to: WidgetSize(columns: columns, rows: 20))
            #expect(screen.picture(at: TodayMoment(now: 0)).frame.size.columns == columns)
        }
    }

    @Test func `a key presses no line that is not shown, and endless texts and columns cost little`() {
        var tall = pressable
        tall.size.rows = 1
        var screen = TodayScreen(size: WidgetSize(columns: 60, rows: 24))
        screen.take(TodayModel([tall]))
        #expect(commands(screen.press(.character("2"))) == [])
        let line = WidgetView.Line(
            String(repeating: "x", count: 1_000_000), columns: [String](repeating: "c", count: 60_000))
        let view = WidgetView(lines: [line, .init("b", columns: line.columns)])
        screen.take(TodayModel([Panel(kind: "l", title: "L", view: view, size: WidgetSize(columns: 80, rows: 2))]))
        #expect(screen.text().contains("xxx…"))
    }

    @Test func `a press without a result yet is marked, and a gauge is drawn in its room`() {
        var pressed = pressable
        pressed.pressed = [WidgetAction(id: "milk", isOn: false)]
        var screen = TodayScreen(size: WidgetSize(columns: 60, rows: 24))
        screen.take(TodayModel([pressed]))
        #expect(screen.text().contains("[x]…Milk") && screen.text().contains("█████████░░░░░░░░░  50 %"))
        #expect(pressed.action(of: .toggle("milk", isOn: true)) == WidgetAction(id: "milk", isOn: true))
        #expect(pressed.action(of: .toggle("other", isOn: true)) == WidgetAction(id: "other", isOn: false))
        for gauge in [-1, 2, .nan, .infinity, -.infinity] as [Double] {
            let view = WidgetView(lines: [.init("g", gauge: gauge)])
            screen.take(TodayModel([Panel(kind: "g", title: "G", view: view, size: WidgetSize(columns: 80, rows: 1))]))
            #expect(screen.text().contains(gauge > 1 ? "100 %" : "  0 %"))
        }
    }

    @Test func `a widget that is chosen in the box is added to the list`() {
        var screen = SamplePanels.screen(60, 24)
        screen.take(TodayModel([SamplePanels.list]))
        screen.know(["todo-list", "clock", "mail"].map { KnownWidget(kind: $0, title: $0.uppercased()) })
        #expect(screen.press(.character("a")) == [] && screen.text().contains("CLOCK  clock"))
        #expect(!screen.text().contains("TODO-LIST"))
        #expect(screen.press(.character("x")) == [] && screen.press(.down) == [] && screen.press(.down) == [])
        #expect(commands(screen.press(.enter)) == [.add("mail")] && !screen.text().contains("CLOCK"))
        _ = screen.press(.character("a"))
        // The key closes the box, not the program.
        #expect(screen.press(.character("q")) == [] && !screen.text().contains("CLOCK"))
        screen.know([KnownWidget(kind: "todo-list", title: "To do")])
        _ = screen.press(.character("a"))
        #expect(screen.text().contains("every installed widget is on the list"))
    }

    @Test func `the selection follows its panel, or goes to a neighbor of a removed panel`() {
        var screen = SamplePanels.screen(60, 24)
        _ = screen.press(.down)
        screen.take(TodayModel([SamplePanels.broken, SamplePanels.list, SamplePanels.next]))
        #expect(commands(screen.press(.enter)) == [.open("next", line: nil)])
        screen.take(TodayModel([SamplePanels.broken, SamplePanels.list]))
        #expect(commands(screen.press(.enter)) == [.open("todo-list", line: nil)])
        screen.take(TodayModel([]))
        for key in [Key.enter, .down, .pageDown, .character("e"), .character("h"), .home] {
            #expect(screen.press(key) == [])
        }
    }

    @Test func `a panel that is scrolled away or hidden is reported as not visible once`() {
        var screen = TodayScreen(size: WidgetSize(columns: 60, rows: 16))
        screen.take(TodayModel((0..<4).map { panel("\($0)", lines: 5) }))
        // 14 rows: two panels of 7.
        #expect(screen.visibilityChanges() == [.hide("2"), .hide("3")] && screen.visibilityChanges() == [])
        #expect(screen.text().contains("↓2") && screen.text().contains("0 0") && !screen.text().contains("2 0"))
        _ = screen.press(.end)
        #expect(screen.visibilityChanges() == [.hide("0"), .hide("1"), .show("2"), .show("3")])
        #expect(screen.text().contains("↑2") && screen.text().contains("3 4"))
        _ = screen.press(.character("h"))
        #expect(screen.visibilityChanges() == [.show("1"), .hide("3")])
        _ = screen.press(.character("s"))
        #expect(screen.visibilityChanges() == [.hide("1"), .show("3")])
        screen.resize(to: WidgetSize(columns: 60, rows: 60))
        #expect(screen.visibilityChanges() == [.show("0"), .show("1")])
    }

    @Test func `a panel that is taller than the screen is scrolled before the next is selected`() {
        var screen = TodayScreen(size: WidgetSize(columns: 60, rows: 16))
        screen.take(TodayModel([panel("high", lines: 40), panel("low", lines: 1)]))
        var seen: Set<String> = []
        var steps = 0
        while !commands(screen.press(.enter)).contains(.open("low", line: nil)), steps < 50 {
            for line in 0..<40 where screen.text().contains("high \(line) ") { seen.insert("\(line)") }
            _ = screen.press(.down)
            steps += 1
        }
        #expect(seen.count == 40 && steps < 10)
        // The way back begins with a scroll to the panel's end.
        _ = screen.press(.up)
        #expect(screen.text().contains("high 39") && !screen.text().contains("high 0 "))
        _ = screen.press(.home)
        #expect(screen.text().contains("high 0 "))
    }

    @Test func `the page keys move by a page and stop at both ends`() {
        var screen = TodayScreen(size: WidgetSize(columns: 60, rows: 16))
        screen.take(TodayModel((0..<9).map { panel("\($0)", lines: 5) }))
        var selected: [String] = []
        for key in Array(repeating: Key.pageDown, count: 6) + Array(repeating: .pageUp, count: 6) {
            _ = screen.press(key)
            if case .open(let kind, _)? = commands(screen.press(.enter)).first { selected.append(kind) }
        }
        #expect(selected.prefix(6).sorted() == Array(selected.prefix(6)) && selected[5] == "8", "\(selected)")
        #expect(selected.suffix(6).sorted(by: >) == Array(selected.suffix(6)) && selected[11] == "0", "\(selected)")
    }
}
