import TestSupport
import Widgets

@testable import GroupWidgetHosting

/// A simulation of a host's surroundings without processes: widgets, good and bad ones, and a clock.
struct HostWorld {
    struct SimulatedWidget {
        var inbox: [HostMessage] = []
        var isStopped = false
        var hasSpoken = false
        var holds: [String] = []
        var isAwaited = false
        /// The locks on files of its own.
        var locks: [String] = []
        /// The content that the widget showed last.
        var rendered: Int?
        /// True if the widget does nothing any more.
        var isStuck = false
    }

    private(set) var state: HostState
    private(set) var now = Moment(monotonic: 1_000_000_000, wall: 1_700_000_000_000_000_000)
    private(set) var widgets: [WidgetRun: SimulatedWidget] = [:]
    /// The content of the container, a number for each kind.
    private(set) var truth: [String: Int] = [:]
    /// The names of the presses that were performed, and what was answered about each.
    private(set) var performed: Set<String> = []
    private(set) var answered: [String: Bool] = [:]
    private(set) var violations: [String] = []
    private(set) var actions: [HostAction] = []
    private var dying: [(run: WidgetRun, end: ProcessEnd)] = []
    private var stopping: [WidgetRun] = []
    private var random: SeededGenerator
    var isWellBehaved = false {
        didSet { if isWellBehaved { for run in widgets.keys { widgets[run]?.locks = [] } } }
    }

    init(_ manifests: [WidgetManifest], options: HostOptions = HostOptions(), seed: UInt64) {
        state = HostState(options)
        random = SeededGenerator(seed: seed)
        happen(.manifests(manifests))
    }

    var kinds: [String] { state.manifests.keys.sorted() }

    mutating func happen(_ event: HostEvent) {
        let answer = state.handle(event, at: now)
        actions += answer
        for action in answer { carryOut(action) }
    }

    mutating func change(_ kind: String) {
        truth[kind, default: 0] += 1
        happen(.changed([kind]))
    }

    mutating func pass(_ time: Int64) {
        now.monotonic += time
        now.wall += time
        while state.wait(at: now) == 0 {
            let before = actions.count
            let alarms = state.widgets.mapValues(\.alarm)
            happen(.tick)
            if actions.count == before, alarms == state.widgets.mapValues(\.alarm) {
                return violations.append("a tick that is due does nothing, and is due again")
            }
        }
    }

    /// Sets the wall clock ahead.
    mutating func setClock(ahead time: Int64) {
        now.wall += time
        happen(.clockSet)
    }

    private mutating func carryOut(_ action: HostAction) {
        switch action {
        case .start(let run, _):
            if widgets.keys.contains(where: { $0.kind == run.kind }) {
                violations.append("two processes of \(run.kind)")
            }
            widgets[run] = SimulatedWidget()
        case .send(let run, let message):
            guard let widget = widgets[run] else {
                return violations.append("\(run) gets a message, and does not exist")
            }
            if widget.isStopped { violations.append("\(run) gets a message, and is stopped") }
            if case .update = message, widget.inbox.contains(where: { if case .update = $0 { true } else { false } }) {
                violations.append("\(run) is to update twice at once")
            }
            widgets[run]?.inbox.append(message)
        case .stop(let run):
            guard let widget = widgets[run] else { return violations.append("\(run) is stopped, and is not there") }
            if !widget.holds.isEmpty || !widget.locks.isEmpty {
                violations.append("\(run) is stopped with something in its hands")
            }
            widgets[run]?.isStopped = true
            stopping.append(run)
        case .goOn(let run): widgets[run]?.isStopped = false
        case .kill(let run): if widgets[run] != nil { dying.append((run, .signal(9))) }
        case .findHoldings(let run): happen(.process(run, .holds(holdings(of: run))))
        case .open, .log, .redraw, .rearrange, .save, .keep, .remember, .followInterests, .finished: break
        }
    }

    private mutating func holdings(of run: WidgetRun) -> Holdings {
        guard let widget = widgets[run] else { return Holdings() }
        let isStopping = widget.isStopped && !isWellBehaved
        // The widget took a lock before it was stopped.
        if isStopping, roll(8) == 0 { widgets[run]?.locks = ["process 1 holds a lock"] }
        return Holdings(
            items: widget.holds, locks: widgets[run]?.locks ?? [], isGoingOn: isStopping && roll(4) == 0,
            isAwaited: widget.isAwaited || !isWellBehaved && roll(3) == 0)
    }

    /// Makes one pending event happen; returns false if there is none.
    mutating func step() -> Bool {
        if let run = stopping.popLast() {
            happen(.process(run, .stopped))
        } else if !dying.isEmpty {
            let (run, end) = dying.removeFirst()
            if widgets.removeValue(forKey: run) != nil { happen(.process(run, .exited(end))) }
        } else {
            let able = widgets.filter { run, widget in
                !widget.isStopped && !widget.isStuck && (!widget.hasSpoken || !widget.inbox.isEmpty)
                    && !dying.contains { $0.run == run }
            }
            guard let run = able.keys.sorted(by: { $0.kind < $1.kind }).randomElement(using: &random) else {
                return false
            }
            live(run)
        }
        return true
    }

    private mutating func live(_ run: WidgetRun) {
        guard var widget = widgets[run] else { return }
        let mishap = isWellBehaved ? 100 : Int.random(in: 0..<40, using: &random)
        switch mishap {
        case 0: return die(run, .signal(11))
        case 1: return happen(.process(run, .spoilt("it is not JSON")))
        case 2:
            widgets[run]?.isStuck = true
            return
        case 3: return happen(.process(run, .received(.answer(WidgetMessage.Answer(id: 0, result: .noData)))))
        case 4: widget.holds = ["Library/a"]
        case 8: widget.locks = ["process 1 holds: a lock"]
        case 9, 10: widget.locks = []
        default: break
        }
        if !widget.hasSpoken {
            widget.hasSpoken = true
            widgets[run] = widget
            let hello = WidgetMessage.hello(version: WidgetMessage.version, kind: run.kind, placeholder: nil)
            return happen(.process(run, .received(hello)))
        }
        let message = widget.inbox.removeFirst()
        widgets[run] = widget
        switch message {
        case .update(let id, _, _, let shows, let reloads, _):
            if widget.inbox.contains(where: { if case .suspend = $0 { true } else { false } }) {
                // The widget was hidden meanwhile: it may end the refresh, or answer nothing.
                switch roll(3) {
                case 0:
                    return happen(.process(run, .received(.answer(.init(id: id, result: .failed, cause: "cancelled")))))
                case 1: return
                default: break
                }
            }
            answer(id, shows || reloads, mishap, run)
        case .press(let id, let press, let asks, _): perform(press, asks: asks, id, mishap, run)
        case .suspend(let id):
            if mishap == 5 { return }
            if mishap != 4 { widgets[run]?.holds = [] }
            happen(.process(run, .received(.suspended(id: id))))
        case .resume: break
        case .end: die(run, .status(0))
        }
    }

    private mutating func perform(_ press: WidgetPress, asks: Bool, _ id: Int, _ mishap: Int, _ run: WidgetRun) {
        // Some processes end before the press is performed, and some after that.
        if mishap == 11 { return die(run, .signal(9)) }
        if !asks, mishap != 12 {
            if performed.contains(press.name) { violations.append("\(press.name) is performed twice") }
            performed.insert(press.name)
        }
        if mishap == 13 { return die(run, .signal(9)) }
        let isDone = performed.contains(press.name)
        answered[press.name] = isDone
        happen(.process(run, .received(.pressed(id: id, isDone ? .done : .notDone, cause: nil))))
        if mishap == 14 { happen(.process(run, .received(.pressed(id: id, .done, cause: nil)))) }
    }

    private mutating func answer(_ id: Int, _ shows: Bool, _ mishap: Int, _ run: WidgetRun) {
        var answer = WidgetMessage.Answer(id: id, result: .newData)
        let number = truth[run.kind] ?? 0
        if mishap == 6 {
            answer.result = .failed
        } else if widgets[run]?.rendered != number || shows {
            answer.timeline = Timeline(
                WidgetView(lines: [WidgetView.Line(String(number), control: .button("b"))]))
            widgets[run]?.rendered = number
        } else {
            answer.result = .noData
        }
        happen(.process(run, .received(.answer(answer))))
        if mishap == 7 { happen(.process(run, .received(.answer(answer)))) }
    }

    /// Makes a widget hold the lock on an item, or none.
    mutating func hold(_ item: String?, isAwaited: Bool = false, by run: WidgetRun) {
        widgets[run]?.holds = item.map { [$0] } ?? []
        widgets[run]?.isAwaited = isAwaited
    }

    /// Makes a widget hold a lock on a file that is no item, or none.
    mutating func hold(lock: String?, by run: WidgetRun) { widgets[run]?.locks = lock.map { [$0] } ?? [] }

    /// Makes a widget ignore the messages that it has got.
    mutating func skipMessages(of run: WidgetRun) { widgets[run]?.inbox = [] }

    mutating func die(_ run: WidgetRun, _ end: ProcessEnd) {
        guard widgets.removeValue(forKey: run) != nil else { return }
        happen(.process(run, .outputEnded))
        happen(.process(run, .exited(end)))
    }

    /// Runs until nothing happens by itself for that time.
    mutating func settle(atMost time: Int64 = 86_400_000_000_000) {
        let end = now.monotonic + time
        while now.monotonic < end {
            var steps = 0
            while step() {
                steps += 1
                if steps > 10_000 { return violations.append("it does not come to rest") }
            }
            guard let wait = state.wait(at: now) else { return }
            pass(min(max(1, wait), end - now.monotonic))
        }
    }

    mutating func roll(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    func panel(_ kind: String) -> Panel? { state.today.panels.first { $0.kind == kind } }

    func shown(_ kind: String) -> String? { panel(kind)?.view?.lines.first?.text }
}
