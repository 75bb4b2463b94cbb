// Imports nothing: no file, clock or process.

/// The decisions of a host: events in, actions out, without processes, files or clocks.
///
/// ```
///                      started                sent hello
///  notRunning ────────▶ starting ────────────▶ active ◀───────────────────────┐
///      ▲                                        │  hidden, and all is answered │ shown, or something is due;
///      │                                        │  or another process waits    │ a press waits
///      │ exited                                 ▼                             │
///    ending ◀── grace is over, still holds ── suspending ── stopped, holds ─▶ suspended
///      ▲                                              nothing                 │
///      └── crash, no answer, garbage, too large, replaced, short of memory ───┘
/// ```
package struct HostState: Sendable {
    package private(set) var options: HostOptions
    var manifests: [String: WidgetManifest] = [:]
    package internal(set) var list: ShownList
    var widgets: [String: HostedWidget] = [:]
    /// The ledgers as they were stored, also for widgets that are not shown yet.
    var ledgers: [String: RefreshLedger] = [:]
    /// What widgets that are not shown yet showed last.
    var lastViews: [String: LastView] = [:]
    var isAppInFront = false
    var isEnding = false
    private var hasFinished = false
    /// The number of the last update or suspension.
    private var lastIdentifier = 0
    /// The panels in their order.
    package private(set) var today = TodayModel()

    package init(_ options: HostOptions = HostOptions(), list: ShownList = ShownList()) {
        self.options = options
        self.list = list
    }

    /// Records an event, and returns the actions that follow.
    package mutating func handle(_ event: HostEvent, at now: Moment) -> [HostAction] {
        var actions: [HostAction] = []
        switch event {
        case .manifests(let all): install(all, &actions)
        case .list(let other): list = other
        case .user(let command): obey(command, at: now, &actions)
        case .changed(let kinds): for kind in kinds { widgets[kind]?.want(at: now) }
        case .rooms(let rooms): move(into: rooms, at: now)
        case .ledgers(let ledgers): note(ledgers)
        case .lastViews(let views): lastViews.merge(views) { $1 }
        case .reloads(let reloads): note(reloads)
        case .appInFront(let isInFront): isAppInFront = isInFront
        case .memoryPressure: relieveMemory(&actions)
        case .executableReplaced(let kind): if widgets[kind]?.process != nil { widgets[kind]?.isReplaced = true }
        case .process(let run, let happening): note(happening, of: run, at: now, &actions)
        case .clockSet, .tick: break
        }
        switch event {
        case .changed(let kinds): for kind in kinds.sorted() { pursue(kind, at: now, &actions) }
        case .process(let run, _): pursue(run.kind, at: now, &actions)
        case .manifests, .list, .user:
            arrange(at: now, &actions)
            pursueAll(at: now, &actions)
        case .tick: pursueDue(at: now, &actions)
        default: pursueAll(at: now, &actions)
        }
        if isEnding, !hasFinished, widgets.values.allSatisfy({ $0.process == nil }) {
            hasFinished = true
            actions.append(.finished)
        }
        return actions
    }

    /// Returns the time until a `tick` is due, in nanoseconds; nil if none is.
    package func wait(at now: Moment) -> Int64? {
        let alarm = widgets.values.map(\.alarm).min() ?? .max
        return alarm == .max ? nil : max(0, alarm - now.monotonic)
    }

    /// Whether a widget is being updated.
    var isUpdating: Bool {
        widgets.values.contains { $0.process?.update != nil && $0.process?.phase != .suspended }
    }

    /// Whether no widget on the list is being updated, and each visible widget on the list has failed or has answered
    /// since its last change.
    package var isQuiet: Bool {
        widgets.values.allSatisfy { widget in
            if !widget.isListed { return true }
            if !widget.presses.isEmpty { return false }
            if !widget.isVisible { return widget.process?.update == nil }
            return widget.hasBeenHeardOf && widget.process?.update == nil
                && (widget.wantedSince == nil || widget.fault != nil)
        }
    }

    /// Whether the host ends: no process is started any more.
    package var isLeaving: Bool { isEnding }

    /// What concerns each widget: the interests that its program has sent, else those of its manifest.
    package var interests: [String: [WidgetInterest]] { interests(with: Array(manifests.values)) }

    /// Returns what will concern each widget with other manifests.
    func interests(with manifests: [WidgetManifest]) -> [String: [WidgetInterest]] {
        let pairs = manifests.map { manifest in
            let widget = widgets[manifest.kind].flatMap { $0.manifest.startsLike(manifest) ? $0 : nil }
            return (manifest.kind, widget?.programInterests ?? manifest.interests)
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    package var manifestKinds: [String] { manifests.keys.sorted() }

    package func manifest(of kind: String) -> WidgetManifest? { manifests[kind] }

    /// The runs that have a process.
    package var runs: [WidgetRun] { widgets.values.compactMap(\.process?.run) }

    /// Changes the room. A widget that was rendered for another size is rendered anew.
    private mutating func move(into rooms: [WidgetDisplayMode: WidgetSize], at now: Moment) {
        let before = options
        options.rooms = rooms
        for (kind, widget) in widgets where widget.environment(before) != widget.environment(options) {
            widgets[kind]?.want(at: now)
        }
    }

    mutating func nextIdentifier() -> Int {
        lastIdentifier += 1
        return lastIdentifier
    }

    private mutating func pursueAll(at now: Moment, _ actions: inout [HostAction]) {
        for kind in widgets.keys.sorted() { pursue(kind, at: now, &actions) }
    }

    private mutating func pursueDue(at now: Moment, _ actions: inout [HostAction]) {
        for kind in widgets.filter({ $0.value.alarm <= now.monotonic }).keys.sorted() {
            pursue(kind, at: now, &actions)
        }
    }

    /// Arranges the panels by the list, after a change of the list or of the widgets.
    private mutating func arrange(at now: Moment, _ actions: inout [HostAction]) {
        let kinds = isEnding ? [] : list.kinds(among: manifests.keys)
        for kind in widgets.keys where !kinds.contains(kind) { widgets[kind]?.isListed = false }
        for kind in kinds {
            guard let manifest = manifests[kind] else { continue }
            var widget = widgets[kind] ?? HostedWidget(manifest, isVisible: true, at: now)
            if widgets[kind] == nil {
                if let ledger = ledgers[kind] { widget.ledger = ledger }
                if let view = lastViews.removeValue(forKey: kind) { widget.showAgain(view) }
            }
            if !widget.isListed { (widget.isListed, widget.isVisible, widget.drawn) = (true, true, nil) }
            let mode: WidgetDisplayMode = list.expanded.contains(kind) && widget.isExpandable ? .expanded : .compact
            if widget.mode != mode {
                widget.mode = mode
                // A person waits for the view: it does not wait until changes have settled.
                (widget.wantedSince, widget.mayRefreshFrom) = (.min, .min)
            }
            widgets[kind] = widget
        }
        if isEnding || kinds == today.panels.map(\.kind) { return }
        today.replace(by: kinds.compactMap { panel(of: $0, at: now) })
        actions.append(.rearrange)
    }

    private mutating func panel(of kind: String, at now: Moment) -> Panel? {
        let panel = widgets[kind]?.panel(options, at: now)
        widgets[kind]?.drawn = panel
        return panel
    }

    /// Draws a widget's panel if it looks different.
    mutating func draw(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        let panel = widget.panel(options, at: now)
        if !widget.isListed || panel == widget.drawn { return }
        widget.drawn = panel
        if today.update(panel) { actions.append(.redraw(panel)) }
    }
}
