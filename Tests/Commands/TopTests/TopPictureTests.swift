import GroupTerminal
import Testing

@testable import groupctl

struct `Pictures of groupctl top` {
    @Test func `top shows members, who waits for whom, and changes a second on 80 columns`() {
        var screen = SampleTop.screen(80, 18)
        screen.take(SampleTop.waiting, at: SampleTop.now, changes: [11: 4, nil: 2])
        screen.advance(to: 101)
        screen.take(SampleTop.waiting, at: SampleTop.now, changes: [11: 8])
        screen.advance(to: 102)
        #expect(
            screen.text() == """

                 /home/user/shared                   4 members · 2 wait · leader watch-group 14
                 8 changes/s                                                    ▆█     peak 8/s
                 journal 1234 changes · 8.2 MiB in 2 files · 12.0 GiB free
                 Waits
                 editor 11 holds notes.txt
                 ├─ sync 12 waits to write notes.txt                                       12 s
                 ╰─ widget 13 waits to read notes.txt                                       3 s

                 Members by name        pid  ch/s            since    state
                 editor                  11     8         ▄█ 10:39:00 holds notes.txt
                 sync                    12                  10:39:00 waits for notes.txt
                 watch-group             14                  10:39:00 leader
                 widget                  13                  10:39:00 waits for notes.txt
                 uncoordinated                            ▂           changes by other programs



                 s sort  / filter  p pause  ? help  q quit

                """, "\(screen.text())")
    }

    @Test func `top leaves columns out on 40 columns`() {
        let screen = SampleTop.screen(40, 14)
        #expect(
            screen.text() == """

                 /home/user/shared   4 members · 2 wait
                 0 changes/s
                 journal 1234 changes
                 Waits
                 editor 11 holds notes.txt
                 ├─ sync 12 waits for notes.txt    12 s
                 ╰─ widget 13 waits for notes.txt   3 s

                 Members by name pid state
                 editor           11 holds notes.txt
                 sync             12 waits for notes.t…
                 watch-group      14 leader
                 widget           13 waits for notes.t…
                 s sort  / filter  ? help  q quit

                """, "\(screen.text())")
    }

    @Test func `top shows users and commands on 200 columns`() {
        let text = SampleTop.screen(200, 20).text()
        #expect(text.contains("  1000 holds notes.txt ") && text.contains(" /usr/bin/editor ./shared/"), "\(text)")
        #expect(text.contains(" since     user state "), "\(text)")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 200 })
    }

    @Test func `top draws with ASCII without Unicode`() {
        var screen = SampleTop.screen(80, 18, look: TerminalLook(isColored: false, isUnicode: false))
        screen.take(SampleTop.waiting, at: SampleTop.now, changes: [11: 4])
        screen.advance(to: 101)
        #expect(screen.text().contains(" |- sync 12 waits to write notes.txt"), "\(screen.text())")
        #expect(screen.text().utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func `top shows a circle of waits as a deadlock`() {
        let model = SampleTop.model([
            SampleTop.member(
                11, "one", [.init(path: "a", request: 1), SampleTop.awaited("b", request: 1, for: 5, behind: (1, 0))]),
            SampleTop.member(
                12, "two", [.init(path: "b", request: 2), SampleTop.awaited("a", request: 2, for: 4, behind: (0, 0))]),
            SampleTop.member(13, "late", [SampleTop.awaited("a", request: 3, for: 2, behind: (0, 0))]),
        ])
        let text = SampleTop.screen(80, 24, model).text()
        #expect(text.contains("3 members · deadlock · 3 wait"), "\(text)")
        let lines = text.split(separator: "\n").drop { !$0.contains("deadlock:") }.prefix(5).map { $0.prefix(50) }
        #expect(
            lines.map { $0.split(separator: " ").joined(separator: " ") } == [
                "deadlock: each waits for the next", "├─ one 11 holds a, waits to write b",
                "│ ╰─ late 13 waits to write a", "├─ two 12 holds b, waits to write a", "╰▸ back to one 11",
            ], "\(text)")
    }

    @Test func `a command that waits below one that holds what its holder's command waits for is perhaps a deadlock`() {
        let model = SampleTop.model([
            SampleTop.member(11, "outer", [SampleTop.held("a", request: 1)]),
            SampleTop.member(12, "inner", [SampleTop.awaited("b", request: 2, behind: (2, 0))], ancestor: 0),
            SampleTop.member(13, "other", [SampleTop.held("b", request: 3)]),
            SampleTop.member(14, "below", [SampleTop.awaited("a", request: 4, behind: (0, 0))], ancestor: 2),
        ])
        let tree = WaitTree(model.members, at: SampleTop.now)
        #expect(tree.hasCertainDeadlock == false)
        #expect(
            tree.lines.map(\.content) == [
                .deadlock(isCertain: false), .waiter(member: 1, lock: 0, holding: []),
                .starter(member: 2, locks: [0], isInCircle: true), .waiter(member: 3, lock: 0, holding: []),
                .starter(member: 0, locks: [0], isInCircle: true), .back(member: 1),
            ])
        let chain = WaitTree(Array(model.members.prefix(3)), at: SampleTop.now)
        #expect(chain.hasCertainDeadlock == nil && chain.lines.count == 2)
        // Only one that lasts: before, each may only be a program that lets its command wait for a moment.
        let young = WaitTree(model.members, at: SampleTop.now - 11 * SampleTop.second)
        #expect(young.hasCertainDeadlock == nil && young.lines.count == 4)
    }

    @Test func `top scrolls through a thousand members and counts them`() {
        let members = (0..<1_000).map { number in
            SampleTop.member(
                Int32(1_000 + number), "member-\(1_000 + number)",
                [
                    number == 0
                        ? SampleTop.held("all", request: 0) : SampleTop.awaited("all", request: number, behind: (0, 0))
                ])
        }
        var screen = SampleTop.screen(80, 24, SampleTop.model(members))
        #expect(screen.text().contains("1000 members · 999 wait"), "\(screen.text())")
        #expect(screen.text().contains(" … 99") && screen.text().contains("member-1000 1000 holds all"))
        _ = screen.press(.end)
        #expect(screen.text().contains(" member-1999 ") && screen.text().contains("↑9"), "\(screen.text())")
        _ = screen.press(.pageUp)
        #expect(!screen.text().contains(" member-1999 "))
        for key in "/1500".unicodeScalars { _ = screen.press(.character(key)) }
        _ = screen.press(.enter)
        #expect(screen.text().contains("Members 1 of 1000 with '1500'"), "\(screen.text())")
        _ = screen.press(.escape)
        #expect(screen.rows.count == 1_000)
    }

    @Test func `texts of other members neither control the terminal nor shift its columns`() {
        let model = SampleTop.model([
            SampleTop.member(11, "漢字漢字漢字漢字漢字漢字\u{1B}[2J", [SampleTop.held("a\u{202E}b\nc", request: 1)])
        ])
        for columns in [20, 40, 80, 200] {
            let frame = SampleTop.screen(columns, 20, model).picture.frame
            #expect(frame.rows.allSatisfy { $0.count == columns })
            let text = frame.rows.flatMap { $0 }.map(\.text).joined()
            #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E && $0.value != 0x7F })
            if columns == 80 { #expect(frame.picture.contains("holds a\\342\\200\\256b\\012c"), "\(frame.picture)") }
        }
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 3), (10, 4), (0, 0), (1, 50), (400, 1)])
    func `top fits on screens of any size`(columns: Int, rows: Int) {
        var screen = SampleTop.screen(columns, rows)
        for key in [Key.down, .character("?"), .down, .escape, .character("/"), .character("漢"), .enter, .end, .pageUp]
        {
            _ = screen.press(key)
            let frame = screen.picture.frame
            #expect(frame.rows.count == rows && frame.rows.allSatisfy { $0.count == columns })
        }
    }
}

struct `The decisions of groupctl top` {
    @Test func `a picture is current for ever while no member waits`() {
        #expect(SampleTop.screen(80, 24).picture.until == SampleTop.now + 1_000_000_000)
        let calm = SampleTop.model([SampleTop.member(11, "editor", [SampleTop.held("a", request: 1)])])
        #expect(SampleTop.screen(80, 24, calm).picture.until == nil)
        var paused = SampleTop.screen(80, 24)
        #expect(paused.press(.character("p")) == [.pause] && paused.picture.until == nil)
        #expect(paused.text().contains(" paused ") && paused.press(.character(" ")) == [.proceed])
    }

    @Test func `the keys sort by name, age, changes and locks`() {
        var members = SampleTop.waiting.members
        members[3].since -= 1
        var screen = SampleTop.screen(80, 24, SampleTop.model(members))
        screen.take(SampleTop.model(members), at: SampleTop.now, changes: [13: 3])
        func names() -> [String] {
            screen.rows.compactMap { if case .member(let index) = $0 { members[index].purpose } else { nil } }
        }
        #expect(names() == ["editor", "sync", "watch-group", "widget"])
        _ = screen.press(.character("s"))
        #expect(names().first == "watch-group")
        _ = screen.press(.character("s"))
        #expect(names().first == "widget")
        _ = screen.press(.character("s"))
        #expect(names() == ["sync", "widget", "editor", "watch-group"])
        _ = screen.press(.character("s"))
        #expect(screen.order == .name)
    }

    @Test func `the curve counts each second, and is flat a minute after the last change`() {
        var curve = ChangeCurve(at: 1_000)
        curve.add(3, by: .member(7))
        #expect(curve.rate() == 0 && !curve.isFlat)
        curve.advance(to: 1_001)
        curve.add(by: .others)
        #expect(curve.rate() == 3 && curve.rate(of: .member(7)) == 3)
        curve.advance(to: 1_003)
        #expect(curve.values(last: 4) == [0, 3, 1, 0] && curve.values(of: .others, last: 3) == [0, 1, 0])
        curve.merge(.member(7), into: .formerMembers)
        #expect(curve.values(of: .formerMembers, last: 3) == [3, 0, 0] && curve.sum(of: .member(7)) == 0)
        curve.advance(to: 1_060)
        #expect(!curve.isFlat)
        curve.advance(to: 1_062)
        #expect(curve.isFlat && curve.authors.isEmpty)
        curve.add(by: .others)
        curve.advance(to: 9_000_000)
        #expect(curve.isFlat)
    }

    @Test func `a sparkline is blank for nothing, and full for the most`() {
        #expect(Sparkline.text([0, 1, 4, 8], most: 8, isUnicode: true) == " ▁▄█")
        #expect(Sparkline.text([0, 1, 1_000], most: 1_000, isUnicode: false) == " .@")
        #expect(Sparkline.text([0, 0], most: 0, isUnicode: true) == "  ")
    }
}
