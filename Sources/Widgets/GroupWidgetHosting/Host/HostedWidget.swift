// Imports nothing: no file, clock or process.

/// One widget of a host: its manifest, what it shows, and its scheduled work.
struct HostedWidget: Equatable, Sendable {
    var manifest: WidgetManifest
    /// Whether the widget is on the list. A widget that is no longer on the list remains here as long as its process
    /// lives.
    var isListed = true
    var isVisible: Bool
    var mode: WidgetDisplayMode = .compact
    /// When the widget was last visible, on the monotonic clock, to choose which widget to end first.
    var lastVisible: Int64

    var process: HostedProcess?
    /// How many processes the widget has had.
    var runs = 0
    /// Whether the program or the command differs from those that the process was started with.
    var isReplaced = false

    /// What concerns the widget by its program; nil where the program has sent nothing about that.
    var programInterests: [WidgetInterest]?

    var timeline: Timeline<WidgetView>?
    var placeholder: WidgetView?
    var renderedAt: Int64?
    /// The environment that the timeline was made for.
    var renderedFor: WidgetEnvironment?

    /// Whether the view is from an earlier host, as this host has had no answer yet.
    var isFromBefore = false

    /// The moment of the first change, or possible change, since the last refresh began, on the monotonic clock; nil if
    /// there was none.
    var wantedSince: Int64?
    /// Whether to render although nothing may have changed.
    var isReloadWanted = false
    /// The number of the latest reload request that this host had to serve; the numbers grow with each request.
    var requestedReloads: UInt64 = 0
    /// What the refreshes have cost, and how often they failed in a row.
    var ledger = RefreshLedger()
    /// When the last refresh began, since 1970, and from when a mere change may cause the next one, on the monotonic
    /// clock.
    var lastRefresh: Int64 = .min
    var mayRefreshFrom: Int64 = .min
    /// From when the widget may be refreshed while it is hidden, on the monotonic clock: a refresh was cut short.
    var mayRefreshHiddenFrom: Int64 = .min
    /// How many processes in a row ended by themselves or were killed for a fault, and when the next one may start, on
    /// the monotonic clock.
    var crashes = 0
    var restartAt: Int64 = .min
    /// The last fault; nil if the widget has answered since.
    var fault: PanelNote?
    /// Why the widget is not refreshed now.
    var deferral: PanelNote?
    /// Whether the widget has answered or failed since the host began.
    var hasBeenHeardOf = false

    /// The presses that have no result yet, the earliest first.
    var presses: [PendingPress] = []
    /// The presses that were performed since the last answer to an update: the view may not show them yet.
    var performed: [WidgetAction] = []
    /// What has become of the last press, as long as that is shown.
    var pressNote: PressNote?

    /// When to check the widget again, on the monotonic clock.
    var alarm: Int64 = .max
    /// The panel that was drawn last.
    var drawn: Panel?

    init(_ manifest: WidgetManifest, isVisible: Bool, at now: Moment) {
        self.manifest = manifest
        self.isVisible = isVisible
        lastVisible = now.monotonic
        wantedSince = now.monotonic
    }

    mutating func want(at now: Moment) { if wantedSince == nil { wantedSince = now.monotonic } }

    /// Drops the update in progress, if there is one, and schedules another: the answer was `failed`, or no answer will
    /// come.
    mutating func giveUpUpdate(at now: Moment) {
        guard let update = process?.update else { return }
        want(at: now)
        isReloadWanted = isReloadWanted || update.isReload
        process?.update = nil
    }

    /// Drops an update that was cut short, and that the process has ended without an answer. The next one renders in
    /// any case.
    mutating func giveUpCutShortUpdate(at now: Moment) {
        guard process?.update?.isCutShort == true else { return }
        isReloadWanted = true
        giveUpUpdate(at: now)
    }

    /// Shows what the widget showed under an earlier host.
    mutating func showAgain(_ view: LastView) {
        (timeline, renderedAt, renderedFor) = (view.timeline, view.renderedAt, view.environment)
        isFromBefore = true
    }

    /// What to store of the view; nil while it is from an earlier host.
    var lastView: LastView? {
        guard let timeline, let renderedAt, let renderedFor, !isFromBefore else { return nil }
        return LastView(timeline, renderedAt: renderedAt, for: renderedFor)
    }

    mutating func look(at moment: Int64) { alarm = min(alarm, moment) }

    var isExpandable: Bool { manifest.rooms[.expanded] != nil }

    func environment(_ options: HostOptions) -> WidgetEnvironment {
        WidgetEnvironment(displayMode: mode, maximumSize: manifest.maximum(mode, of: options.room(mode)))
    }

    /// Returns whether there is no view, or only one for another environment or from an earlier host.
    func needsView(for environment: WidgetEnvironment) -> Bool {
        timeline == nil || renderedFor != environment || isFromBefore
    }

    func schedule(isAppInFront: Bool, at now: Moment) -> (RefreshSchedule, RefreshSchedule.Situation) {
        var situation = RefreshSchedule.Situation()
        // A refresh in the future means that the clock was set back: what is shown is for a later date.
        situation.isWanted = wantedSince != nil || isReloadWanted || lastRefresh > now.wall
        situation.timelineDate = timelineDate
        situation.isVisible = isVisible
        situation.isAppInFront = isAppInFront
        situation.budget = ledger.budget(manifest.refreshing.limit)
        situation.failures = ledger.failures
        situation.failedAt = ledger.failedAt
        return (RefreshSchedule.decide(situation, at: now.wall), situation)
    }

    /// Returns when the timeline requests a refresh: once for each date, and at most once a second.
    private var timelineDate: Int64? {
        guard let date = timeline?.refreshNanosecond else { return nil }
        if lastRefresh == .min { return date }
        return date > lastRefresh ? max(date, lastRefresh.adding(1_000_000_000)) : nil
    }

    private var note: PanelNote? {
        pressNote?.note ?? fault ?? deferral ?? (isFromBefore ? PanelNote(.old) : isVisible ? nil : process?.hindrance)
    }

    /// Returns the panel for a moment, and schedules a check for its next change.
    mutating func panel(_ options: HostOptions, at now: Moment) -> Panel {
        let shown = timeline?.entry(atNanosecond: now.wall)?.snapshot
        if isVisible, let next = timeline?.nextChange(afterNanosecond: now.wall) {
            look(at: now.monotonic(ofWall: next))
        }
        let view = shown ?? placeholder
        let room = environment(options).maximumSize
        var preferred = view?.preferredSize ?? manifest.rooms[mode]?.preferred ?? room
        if view?.preferredSize == nil, manifest.rooms[mode]?.preferred == nil {
            preferred.rows = view?.lines.count ?? 1
        }
        return Panel(
            kind: manifest.kind, title: view?.title ?? manifest.title, state: process?.lifecycle ?? .notRunning,
            isVisible: isVisible, view: view, isPlaceholder: shown == nil && placeholder != nil, renderedAt: renderedAt,
            note: note, displayMode: mode,
            isExpandable: isExpandable, size: preferred.clipped(to: room),
            pressed: performed + presses.map(\.press.action))
    }
}

/// A note about a press that was not performed, and until when it is shown, on the monotonic clock.
struct PressNote: Hashable, Sendable {
    let note: PanelNote
    let until: Int64
}

/// A press on its way to the widget.
struct PendingPress: Hashable, Sendable {
    let press: WidgetPress
    /// When the press is dropped if it was not sent by then, on the monotonic clock.
    let until: Int64
    /// Whether a process of the widget has got it.
    var isSent = false
    /// Whether another process was asked whether it was performed.
    var isAsked = false
}
