import TestSupport
import Testing
import GroupTodayView

struct `Pictures of the Today view` {
    @Test func `the Today view has a box for each widget with its state, fault and next attempt`() {
        #expect(
            SamplePanels.screen(60, 20).text() == """

                 Today                                            4 widgets
                ┏━ To do ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ active ━┓
                ┃ Milk                                                     ┃
                ┃ Bread                                                    ┃
                ┃ 漢字 tea                                                 ┃
                ┗━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┛
                ╭─ Departures ───────────────────────────────── suspended ─╮
                │ U2 Pankow                                           4:05 │
                │ S1 Wannsee                                               │
                ╰──────────────────────────────────────────────────────────╯
                ╭─ Mail ───────────────────────────────────── not running ─╮
                │ 3 unread                                                 │
                ╰─ ended by signal 11; again in 4 s ─────────── 3 min old ─╯
                ╭─ News ─────────────────────────────────────── suspended ─╮
                │ Nothing new                                              │
                ╰─ deferred until 10:40: budget ───────────────────────────╯



                 ↑↓ select  e more  o open  r reload  h hide  ? help  q quit

                """)
    }

    @Test func `the Today view has no boxes on a small screen`() {
        #expect(
            SamplePanels.screen(40, 10).text() == """

                To do ━━━━━━━━━━━━━━━━━━━━━━━━━━ active
                  Milk
                  Bread
                  漢字 tea
                Departures ────────────────── suspended
                  U2 Pankow                         4:05
                  S1 Wannsee
                Mail ─ ended by signal 11; again in 4 s
                  3 unread
                 ↑↓ select  e more  ? help  q quit  ↓1

                """)
    }

    @Test func `the Today view draws with ASCII without Unicode`() {
        var screen = TodayScreen(size: WidgetSize(columns: 40, rows: 16), look: TerminalLook(isUnicode: false))
        screen.take(TodayModel([SamplePanels.list, SamplePanels.next]))
        #expect(
            screen.text() == """

                 Today                        2 widgets
                #= To do ===================== active =#
                # Milk                                 #
                # Bread                                #
                # ???? tea                             #
                #======================================#
                +- Departures ------------- suspended -+
                | U2 Pankow                       4:05 |
                | S1 Wannsee                           |
                +--------------------------------------+





                 ^v select  e more  ? help  q quit

                """)
    }

    @Test func `the Today view has one line for a hidden widget`() {
        var screen = SamplePanels.screen(40, 16, [SamplePanels.list, SamplePanels.next])
        _ = screen.press(.character("h"))
        #expect(screen.text().contains("\n▸ To do                          hidden\n┏━") == false)
        #expect(screen.text().contains("\n▸ To do                          hidden\n╭─ Departures"))
        #expect(screen.text().contains("2 widgets · 1 hidden"))
    }

    @Test func `the help covers the Today view with as many keys as fit`() {
        var screen = SamplePanels.screen(60, 24)
        _ = screen.press(.character("?"))
        #expect(screen.text().contains("╭─ Keys ─") && screen.text().contains("│ Ctrl-Z          stop; fg continues"))
        screen.resize(to: WidgetSize(columns: 40, rows: 8))
        #expect(screen.text().contains("╰─ ↓ more ─") && !screen.text().contains("Ctrl-Z"))
        for _ in 0..<20 { _ = screen.press(.down) }
        #expect(screen.text().contains("Esc") && !screen.text().contains("↓ more"))
        _ = screen.press(.escape)
        #expect(!screen.text().contains("Keys"))
    }

    @Test func `the Today view without panels shows what to do`() {
        #expect(SamplePanels.screen(60, 20, []).text().contains(" No widget is on the list: press a to add one."))
        var screen = TodayScreen(size: WidgetSize(columns: 60, rows: 20))
        #expect(screen.text().contains(" No widgets are installed."))
        screen.take(TodayModel([Panel(kind: "a", title: "A", state: .starting)]))
        #expect(screen.text().contains("┃ waiting for its first view"))
    }

    @Test func `the Today view shows ages and countdowns as time passes`() {
        let screen = SamplePanels.screen(60, 20)
        #expect(screen.text(after: 2).contains("4:03") && screen.text(after: 2).contains("again in 2 s"))
        #expect(screen.text(after: 60).contains("4 min old"))
        // For another day, the time of the day is not shown.
        #expect(screen.text(after: -86_400).contains("deferred for 2 d: budget"))
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 3), (5, 4), (10, 2), (0, 0), (1, 50), (200, 1)])
    func `the Today view fits on screens of any size`(columns: Int, rows: Int) {
        var screen = SamplePanels.screen(columns, rows)
        for key in [Key.down, .character("?"), .down, .escape, .character("a"), .enter, .end, .pageUp, .character("h")]
        {
            _ = screen.press(key)
            let frame = screen.picture(at: TodayMoment(now: SamplePanels.now)).frame
            #expect(frame.rows.count == rows && frame.rows.allSatisfy { $0.count == columns })
        }
    }

    /// Until its moment and no longer: otherwise a countdown would stand still, or the host would spin.
    @Test func `a picture of the Today view stays true until the moment that it names`() throws {
        var changed = 0
        for seed in 0..<150 as Range<UInt64> {
            var random = RandomToday(faultSeed &* 7 &+ seed)
            var screen = TodayScreen(size: WidgetSize(columns: 80, rows: 24))
            screen.take(random.model())
            let now = RandomToday.now
            func frame(_ time: Int64) -> Frame {
                screen.picture(at: TodayMoment(now: time, secondsFromGMT: 3_600)).frame
            }
            let picture = screen.picture(at: TodayMoment(now: now, secondsFromGMT: 3_600))
            let until = picture.until ?? now + 7 * 86_400_000_000_000
            let isSame = until > now && frame(until - 1) == picture.frame
            #expect(isSame, "\(seed): \(picture.frame.picture)")
            if picture.until != nil, frame(until) != picture.frame { changed += 1 }
        }
        #expect(changed > 50)
    }
}
