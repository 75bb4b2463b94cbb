import FoundationEssentials
import Testing
import Widgets

@testable import GroupWidgetHosting

@Suite struct `Decisions of a widget host` {
    private static func world(_ manifests: WidgetManifest...) -> HostWorld {
        var world = HostWorld(manifests, seed: 1)
        world.isWellBehaved = true
        while world.step() {}
        return world
    }

    private static let plain = WidgetManifest(
        kind: "a", executable: "a",
        rooms: [.compact: .init(maximum: WidgetSize(columns: 40, rows: 2)), .expanded: .init()])

    private func updates(_ actions: some Collection<HostAction>) -> [(shows: Bool, reloads: Bool)] {
        actions.compactMap { action in
            guard case .send(_, .update(_, _, _, let shows, let reloads, _)) = action else { return nil }
            return (shows, reloads)
        }
    }

    @Test func `several changes at once or during an update cause one update`() {
        var world = Self.world(Self.plain)
        world.pass(Self.plain.refreshing.interval)
        let before = world.actions.count
        for _ in 0..<5 { world.change("a") }
        #expect(updates(world.actions[before...]).isEmpty, "they settle first")
        world.pass(Self.plain.refreshing.settle)
        #expect(updates(world.actions[before...]).count == 1)
        for _ in 0..<5 { world.change("a") }
        world.pass(Self.plain.refreshing.settle)
        while world.step() {}
        #expect(updates(world.actions[before...]).count == 1, "not so soon after the last")
        world.settle()
        #expect(updates(world.actions[before...]).count == 2 && world.shown("a") == "10")
    }

    @Test func `a widget is expanded at once, also just after a change`() {
        var world = Self.world(Self.plain)
        world.change("a")
        world.settle()
        world.change("a")
        let before = world.actions.count
        world.happen(.user(.expand("a")))
        while world.step() {}
        #expect(updates(world.actions[before...]).map(\.shows) == [true], "it does not wait for changes to settle")
        world.settle()
        #expect(updates(world.actions[before...]).count == 1, "the change was among what was read")
    }

    @Test func `an update with the same view draws nothing`() {
        var world = Self.world(Self.plain)
        let before = world.actions.count
        world.happen(.changed(["a"]))
        world.settle()
        #expect(updates(world.actions[before...]).count == 1)
        #expect(!world.actions[before...].contains { if case .redraw = $0 { true } else { false } })
    }

    @Test func `a new size is rendered without a change, and its view is clipped`() {
        var world = Self.world(Self.plain)
        #expect(world.panel("a")?.size == WidgetSize(columns: 40, rows: 1))
        let before = world.actions.count
        world.happen(.user(.expand("a")))
        world.settle()
        #expect(updates(world.actions[before...]).map(\.shows) == [true] && world.panel("a")?.displayMode == .expanded)
        #expect(world.actions.contains(.save(ShownList(expanded: ["a"]))))
        world.happen(.rooms([.compact: WidgetSize(columns: 20, rows: 1), .expanded: WidgetSize(columns: 20, rows: 9)]))
        world.settle()
        #expect(updates(world.actions[before...]).map(\.shows) == [true, true])
        #expect(world.panel("a")?.size == WidgetSize(columns: 20, rows: 1))
    }

    @Test func `a reload request of an app causes one update`() {
        var world = Self.world(Self.plain)
        for _ in 0..<2 {
            let before = world.actions.count
            world.happen(.reloads(["a": 7]))
            world.settle()
            let expected = before == 0 ? 1 : updates(world.actions[before...]).count
            #expect(updates(world.actions[before...]).count == expected)
        }
        #expect(updates(world.actions).map(\.reloads).filter { $0 }.count == 1)
        #expect(world.actions.contains { if case .keep(let ledger, "a") = $0 { ledger.reloads == 7 } else { false } })
    }

    @Test func `a timeline's entries are shown at their moments, and its refresh comes once`() {
        var world = HostWorld([Self.plain], seed: 1)
        world.isWellBehaved = true
        _ = world.step()
        let run = WidgetRun("a", 1)
        let start = Double(world.now.wall) / 1e9
        let timeline = Timeline(
            first: Timeline<WidgetView>.Entry(snapshot: WidgetView(lines: [.init("one")])),
            later: [.init(date: Date(timeIntervalSince1970: start + 100), snapshot: WidgetView(lines: [.init("two")]))],
            policy: .after(Date(timeIntervalSince1970: start + 200)))
        let answer = { (id: Int) in
            HostEvent.process(run, .received(.answer(.init(id: id, result: .newData, timeline: timeline))))
        }
        world.happen(answer(1))
        #expect(world.shown("a") == "one")
        for _ in 0..<3 { world.pass(60_000_000_000) }
        #expect(world.shown("a") == "two" && updates(world.actions).count == 1)
        world.pass(20_000_000_000)
        world.pass(1)
        #expect(updates(world.actions).count == 2)
        world.happen(answer(2))
        for _ in 0..<10 { world.pass(60_000_000_000) }
        #expect(updates(world.actions).count == 2, "the requested refresh was made")
    }

    @Test func `the host waits for a timeline's next date without a limit, and looks when the clock was set`() {
        var world = HostWorld([Self.plain], seed: 1)
        world.isWellBehaved = true
        _ = world.step()
        let start = Double(world.now.wall) / 1e9
        let timeline = Timeline(
            first: Timeline<WidgetView>.Entry(snapshot: WidgetView(lines: [.init("one")])),
            later: [
                .init(date: Date(timeIntervalSince1970: start + 7_200), snapshot: WidgetView(lines: [.init("two")]))
            ],
            policy: .never)
        world.happen(
            .process(WidgetRun("a", 1), .received(.answer(.init(id: 1, result: .newData, timeline: timeline)))))
        let wait = world.state.wait(at: world.now) ?? 0
        #expect((7_199_000_000_000...7_200_000_000_000).contains(wait), "\(wait)")
        world.setClock(ahead: 7_201_000_000_000)
        #expect(world.shown("a") == "two")
        #expect(world.state.wait(at: world.now) == nil)
    }

    @Test(arguments: [true, false])
    func `a widget is refreshed once after the clock was set back`(hasDate: Bool) {
        var world = HostWorld([Self.plain], seed: 1)
        world.isWellBehaved = true
        _ = world.step()
        let run = WidgetRun("a", 1)
        let timeline = Timeline(
            first: Timeline<WidgetView>.Entry(snapshot: WidgetView(lines: [.init("one")])),
            policy: hasDate ? .after(Date(timeIntervalSince1970: Double(world.now.wall) / 1e9 + 3_600)) : .never)
        world.happen(.process(run, .received(.answer(.init(id: 1, result: .newData, timeline: timeline)))))
        let before = world.actions.count
        world.setClock(ahead: -86_400_000_000_000)
        #expect(updates(world.actions[before...]).count == 1)
        world.happen(.process(run, .received(.answer(.init(id: 2, result: .noData, policy: .never)))))
        world.pass(60_000_000_000)
        #expect(updates(world.actions[before...]).count == 1)
        #expect(world.panel("a")?.renderedAt.map { $0 <= world.now.wall } == true)
    }

    @Test func `a widget that ends again and again is started after longer and longer pauses`() {
        var world = HostWorld([Self.plain], seed: 1)
        var starts = 0
        for _ in 0..<3_600 {
            if let run = world.widgets.keys.first {
                starts += 1
                world.die(run, .status(1))
            }
            world.pass(1_000_000_000)
        }
        #expect((10..<25).contains(starts), "\(starts)")
        #expect(world.panel("a")?.note?.subject == .ended("ended with status 1"))
    }

    @Test func `a hidden widget is refreshed within its budget`() {
        var manifest = Self.plain
        manifest.refreshing.limit = RefreshLimit(perDay: 24, atOnce: 2)
        var world = Self.world(manifest)
        world.happen(.user(.hide("a")))
        world.settle()
        let before = world.actions.count
        for _ in 0..<24 * 60 {
            world.change("a")
            world.settle(atMost: 60_000_000_000)
        }
        #expect(
            (24...27).contains(updates(world.actions[before...]).count), "\(updates(world.actions[before...]).count)")
        #expect(world.panel("a")?.state == .suspended && world.violations.isEmpty)
        #expect(world.panel("a")?.note?.subject == .deferred(.budget))
        world.happen(.appInFront(true))
        world.settle(atMost: 1_000_000_000)
        #expect(world.shown("a") == "\(24 * 60)" && world.panel("a")?.state == .suspended)
    }

    private static let run = WidgetRun("a", 1)

    /// A world in which the widget has got an update, and has not read it; and the update's number.
    private static func updating() -> (world: HostWorld, update: Int) {
        var world = world(plain)
        world.settle()
        world.change("a")
        world.pass(plain.refreshing.interval)
        return (world, world.state.widgets["a"]?.process?.update?.id ?? 0)
    }

    private func hasLooked(_ actions: some Collection<HostAction>) -> Bool { actions.contains(.findHoldings(Self.run)) }

    private func answerSuspension(in world: inout HostWorld) {
        let suspension = world.state.widgets["a"]?.process?.lastSuspension ?? 0
        world.happen(.process(Self.run, .received(.suspended(id: suspension))))
    }

    @Test(arguments: [true, false])
    func `a refresh of a hidden widget is cut short for a process that waits, and made up for`(answers: Bool) {
        var (world, update) = Self.updating()
        #expect(update > 0)
        let before = world.actions.count
        world.happen(.user(.hide("a")))
        world.pass(399_000_000)
        #expect(!hasLooked(world.actions[before...]))
        world.hold("Library/a", by: Self.run)
        world.pass(1_000_000)
        #expect(hasLooked(world.actions[before...]) && world.panel("a")?.state == .active, "nobody waits for it")
        world.hold("Library/a", isAwaited: true, by: Self.run)
        world.pass(400_000_000)
        #expect(world.panel("a")?.state == .suspending)
        world.hold(nil, by: Self.run)
        world.skipMessages(of: Self.run)
        let ledger = world.state.widgets["a"]?.ledger
        if answers {
            let answer = WidgetMessage.Answer(id: update, result: .failed, cause: "cancelled")
            world.happen(.process(Self.run, .received(.answer(answer))))
        }
        answerSuspension(in: &world)
        while world.step() {}
        #expect(world.panel("a")?.state == .suspended && world.panel("a")?.note == nil)
        #expect(world.state.widgets["a"]?.ledger == ledger, "it is no failure")
        world.settle(atMost: 59_000_000_000)
        #expect(updates(world.actions[before...]).isEmpty && world.shown("a") == "0")
        world.settle(atMost: 2_000_000_000)
        #expect(updates(world.actions[before...]).map(\.reloads) == [!answers])
        #expect(world.shown("a") == "1" && world.panel("a")?.state == .suspended && world.violations.isEmpty)
    }

    @Test func `a refresh that begins while its widget is hidden is cut short, too, for a process that waits`() {
        var world = Self.world(Self.plain)
        world.happen(.user(.hide("a")))
        world.settle()
        world.change("a")
        world.pass(Self.plain.refreshing.interval)
        #expect(world.state.widgets["a"]?.process?.update != nil)
        // Whether somebody waits for such a lock is not known; this refresh is not one that a user has just hidden.
        world.hold(lock: "a database", by: Self.run)
        world.pass(400_000_000)
        #expect(world.panel("a")?.state == .active)
        world.hold("Library/a", isAwaited: true, by: Self.run)
        world.pass(400_000_000)
        #expect(world.panel("a")?.state == .suspending)
    }

    @Test func `a widget that is hidden during a refresh that holds another lock is suspended, or fails in time`() {
        var (world, _) = Self.updating()
        world.hold(lock: "a database", by: Self.run)
        world.happen(.user(.hide("a")))
        world.pass(400_000_000)
        #expect(world.panel("a")?.state == .suspending)
        // The widget answers nothing, and keeps the lock.
        world.skipMessages(of: Self.run)
        world.settle(atMost: Self.plain.refreshing.deadline + 2_000_000_000)
        let ends = world.actions.compactMap { action in
            if case .log(let line) = action, line.isFault, line.text == "did not answer in time" { return line }
            return nil
        }
        #expect(ends.count == 1 && world.actions.contains(.kill(Self.run)))
    }

    @Test func `a widget that is shown again after its refresh was cut short is refreshed at once`() {
        var (world, _) = Self.updating()
        world.hold("Library/a", isAwaited: true, by: Self.run)
        world.happen(.user(.hide("a")))
        world.pass(400_000_000)
        #expect(world.panel("a")?.state == .suspending)
        world.hold(nil, by: Self.run)
        world.happen(.user(.show("a")))
        while world.step() {}
        world.settle(atMost: 1_000_000_000)
        #expect(world.shown("a") == "1" && world.panel("a")?.state == .active && world.violations.isEmpty)
        world.happen(.user(.hide("a")))
        world.settle(atMost: 1_000_000_000)
        world.change("a")
        world.settle(atMost: 10_000_000_000)
        #expect(world.shown("a") == "2", "the refresh was made up for")
    }

    @Test func `an update that a widget was stopped in goes on when the widget is shown, and is no second one`() {
        var (world, _) = Self.updating()
        world.hold(lock: "a database", by: Self.run)
        world.happen(.user(.hide("a")))
        world.pass(400_000_000)
        #expect(world.panel("a")?.state == .suspending)
        // The widget has given the lock back, and reads neither message before its grace is over.
        world.hold(lock: nil, by: Self.run)
        for _ in 0..<13 { world.pass(400_000_000) }
        #expect(world.step() && world.panel("a")?.state == .suspended)
        #expect(!world.state.isUpdating, "nothing wakes the host")
        world.pass(3_600_000_000_000)
        let before = world.actions.count
        world.happen(.user(.show("a")))
        #expect(updates(world.actions[before...]).isEmpty)
        world.settle(atMost: 1_000_000_000)
        #expect(world.shown("a") == "1" && world.panel("a")?.note == nil && world.violations.isEmpty)
    }

    @Test func `a press that waits for a refresh that is cut short is performed`() {
        var (world, update) = Self.updating()
        world.happen(.user(.press("a", line: 1)))
        world.hold("Library/a", isAwaited: true, by: Self.run)
        world.happen(.user(.hide("a")))
        world.pass(400_000_000)
        world.hold(nil, by: Self.run)
        world.skipMessages(of: Self.run)
        let answer = WidgetMessage.Answer(id: update, result: .failed, cause: "cancelled")
        world.happen(.process(Self.run, .received(.answer(answer))))
        answerSuspension(in: &world)
        world.settle(atMost: 1_000_000_000)
        #expect(world.performed.count == 1 && world.violations.isEmpty)
        #expect(world.panel("a")?.state == .suspended)
    }

    @Test(arguments: [true, false])
    func `a widget that keeps a lock that another process waits for is ended soon after it is hidden`(answers: Bool) {
        var world = Self.world(Self.plain)
        world.settle()
        world.hold("Library/a", isAwaited: true, by: Self.run)
        world.happen(.user(.hide("a")))
        world.skipMessages(of: Self.run)
        if answers { answerSuspension(in: &world) }
        world.pass(399_000_000)
        #expect(world.panel("a")?.state == .suspending, "it has time to give the lock back")
        world.pass(1_000_000)
        #expect(world.actions.contains(.kill(Self.run)))
        let cause = "kept a lock on 'Library/a' when it was to be suspended, while another process waited"
        #expect(world.panel("a")?.note?.subject == .ended(cause))
    }

    @Test func `a widget that holds nothing and does not answer suspend is stopped at the end of its grace`() {
        var world = Self.world(Self.plain)
        world.settle()
        world.happen(.user(.hide("a")))
        world.skipMessages(of: Self.run)
        world.pass(4_999_000_000)
        #expect(!world.actions.contains(.stop(Self.run)))
        world.pass(1_000_000)
        #expect(world.actions.contains(.stop(Self.run)))
    }

    @Test func `a widget that sends too many unrequested messages is ended`() {
        var world = Self.world(Self.plain)
        for _ in 0..<199 { world.happen(.process(WidgetRun("a", 1), .received(.log("and on")))) }
        world.pass(1)
        #expect(world.panel("a")?.state == .active)
        for _ in 0..<2 { world.happen(.process(WidgetRun("a", 1), .received(.log("and on")))) }
        #expect(world.panel("a")?.state == .ending && world.actions.contains(.kill(WidgetRun("a", 1))))
    }

    @Test func `a widget may open only its app's addresses and web addresses`() {
        var manifest = Self.plain
        manifest.urlScheme = "todo"
        var world = Self.world(manifest)
        let run = WidgetRun("a", 1)
        world.happen(.process(run, .received(.open(url: "file:///etc/passwd"))))
        world.happen(.process(run, .received(.open(url: "todo://1"))))
        world.happen(.user(.open("a", line: nil)))
        let opened = world.actions.compactMap { if case .open(let url, _) = $0 { url } else { nil } }
        #expect(opened == ["todo://1", "todo:"])
    }
}
