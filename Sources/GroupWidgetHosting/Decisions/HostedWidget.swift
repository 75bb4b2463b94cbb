/// One widget of a host: what it is, what it shows, and what is to be done about it.
struct HostedWidget: Equatable, Sendable {
    var manifest: WidgetManifest
    /// On the list. One that is not is kept for as long as its process lives.
    var isListed = true
    var isVisible: Bool
    var mode: DisplayMode = .compact
    /// When it was visible last, for who is ended first; of the clock that does not jump.
    var lastVisible: Int64

    var process: HostedProcess?
    /// How many processes it has had.
    var runs = 0
    /// Its program or its call is another one than its process was started with.
    var isReplaced = false

    var timeline: Timeline<WidgetView>?
    var placeholder: WidgetView?
    var renderedAt: Int64?
    /// What the timeline was made for.
    var renderedFor: WidgetEnvironment?

    /// What it shows is of an earlier host: it has not answered this one.
    var isFromBefore = false

    /// Since when something has changed, or may have, since the last refresh began; of the clock that does not jump.
    var wantedSince: Int64?
    /// It is to render, although nothing may have changed.
    var isReloadWanted = false
    /// How many times apps have asked for a reload.
    var requestedReloads: UInt64 = 0
    /// What its refreshes have cost, and how often they failed in a row.
    var ledger = RefreshLedger()
    /// When the last refresh began, since 1970, and from when on the next may for a mere change, of the clock that does
    /// not jump.
    var lastRefresh: Int64 = .min
    var mayRefreshFrom: Int64 = .min
    /// Processes that ended unasked, in a row, and when the next may begin, of the clock that does not jump.
    var crashes = 0
    var restartAt: Int64 = .min
    /// What went wrong last; nil: it has answered since.
    var fault: PanelNote?
    /// Why it is not refreshed now.
    var deferral: PanelNote?
    /// It has answered, or gone wrong, since the host came.
    var hasBeenHeardOf = false

    /// When it is to be looked at again, of the clock that does not jump.
    var alarm: Int64 = .max
    /// What was drawn last.
    var drawn: Panel?

    init(_ manifest: WidgetManifest, isVisible: Bool, at now: Moment) {
        self.manifest = manifest
        self.isVisible = isVisible
        lastVisible = now.monotonic
        wantedSince = now.monotonic
    }

    mutating func want(at now: Moment) { if wantedSince == nil { wantedSince = now.monotonic } }

    /// What its process was asked will not be answered, so it is to be asked again.
    mutating func giveUpUpdate(at now: Moment) {
        guard let update = process?.update else { return }
        want(at: now)
        isReloadWanted = isReloadWanted || update.isReload
        process?.update = nil
    }

    /// What it showed under an earlier host.
    mutating func showAgain(_ view: LastView) {
        (timeline, renderedAt, renderedFor) = (view.timeline, view.renderedAt, view.environment)
        isFromBefore = true
    }

    /// What it shows is to be kept, once it is known to be true.
    var lastView: LastView? {
        guard let timeline, let renderedAt, let renderedFor, !isFromBefore else { return nil }
        return LastView(timeline, renderedAt: renderedAt, for: renderedFor)
    }

    mutating func look(at moment: Int64) { alarm = min(alarm, moment) }

    var isExpandable: Bool { manifest.rooms[.expanded] != nil }

    func environment(_ options: HostOptions) -> WidgetEnvironment {
        WidgetEnvironment(displayMode: mode, maximumSize: manifest.maximum(mode, of: options.room(mode)))
    }

    /// What is shown is nothing, was made for another environment, or is of an earlier host.
    func needsView(for environment: WidgetEnvironment) -> Bool {
        timeline == nil || renderedFor != environment || isFromBefore
    }

    func schedule(isAppInFront: Bool, at now: Moment) -> (RefreshSchedule, RefreshSchedule.Situation) {
        var situation = RefreshSchedule.Situation()
        situation.isWanted = wantedSince != nil || isReloadWanted
        situation.timelineDate = timelineDate(at: now)
        situation.isVisible = isVisible
        situation.isAppInFront = isAppInFront
        situation.budget = ledger.budget(manifest.refreshing.limit)
        situation.failures = ledger.failures
        situation.failedAt = ledger.failedAt
        return (RefreshSchedule.decide(situation, at: now.wall), situation)
    }

    /// When its timeline asks for a refresh: once for each date, and not more often than every second.
    private func timelineDate(at now: Moment) -> Int64? {
        guard let date = timeline?.refreshNanosecond else { return nil }
        // A refresh that is still to come: the clock was set back.
        if lastRefresh == .min || lastRefresh > now.wall { return date }
        return date > lastRefresh ? max(date, lastRefresh.adding(1_000_000_000)) : nil
    }

    private var note: PanelNote? {
        fault ?? deferral ?? (isFromBefore ? PanelNote(.old) : isVisible ? nil : process?.hindrance)
    }

    /// As it looks now; the moment when it looks different by itself is noted.
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
            isExpandable: isExpandable, size: preferred.clipped(to: room))
    }
}
