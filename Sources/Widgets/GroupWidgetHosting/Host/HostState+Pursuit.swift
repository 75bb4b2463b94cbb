// Imports nothing: no file, clock or process.

/// The next step for a widget, from its present and its wanted state.
extension HostState {
    /// Takes one step towards the wanted state, and schedules the next check.
    mutating func pursue(_ kind: String, at now: Moment, _ actions: inout [HostAction]) {
        guard var widget = widgets[kind] else { return }
        widget.alarm = .max
        widget.deferral = nil
        if widget.isVisible { widget.lastVisible = now.monotonic }
        dropLatePresses(&widget, at: now, &actions)
        if widget.process?.silentUntil != nil, widget.process?.isEnding == false {
            pursueSilent(&widget, at: now, &actions)
            draw(&widget, at: now, &actions)
            widgets[kind] = widget
            return
        }
        switch widget.process?.phase {
        case nil:
            if !widget.isListed || isEnding {
                endPresses(of: &widget, at: now, &actions)
                draw(&widget, at: now, &actions)
                widgets[kind] = nil
                return
            }
            begin(&widget, at: now, &actions)
        case .starting(let until):
            if !isToEnd(&widget, at: now, &actions) { expect(until, of: &widget, at: now) }
            if case .starting = widget.process?.phase, until <= now.monotonic {
                fail(&widget, "did not send hello in time", at: now, &actions)
            }
        case .active: pursueActive(&widget, at: now, &actions)
        case .suspending(_, let until): pursueSuspending(&widget, until, at: now, &actions)
        // The result comes at once.
        case .looking: break
        case .stopping(let until): pursueStopping(&widget, until, at: now, &actions)
        case .suspended: pursueSuspended(&widget, at: now, &actions)
        case .ending(let until?):
            expect(until, of: &widget, at: now)
            if until <= now.monotonic, let run = widget.process?.run {
                widget.process?.phase = .ending(until: nil)
                widget.alarm = .max
                actions.append(.kill(run))
            }
        case .ending(nil): break
        }
        draw(&widget, at: now, &actions)
        widgets[kind] = widget
    }

    /// Waits for the end of a process that has closed its output; no message is sent meanwhile.
    private func pursueSilent(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        guard let until = widget.process?.silentUntil else { return }
        expect(until, of: &widget, at: now)
        if until <= now.monotonic { fail(&widget, "closed its output", at: now, &actions) }
    }

    func expect(_ until: Int64, of widget: inout HostedWidget, at now: Moment) {
        if until > now.monotonic { widget.look(at: until) }
    }

    /// Starts a process as soon as the widget is visible, a refresh is due, or a press has no result, but not too soon
    /// after a crash.
    private func begin(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        if options.isForDebugging, widget.runs > 0 { return }
        if !widget.isVisible, widget.presses.isEmpty, !isRefreshDue(&widget, at: now) { return }
        if widget.restartAt > now.monotonic { return widget.look(at: widget.restartAt) }
        widget.runs += 1
        widget.isReplaced = false
        let run = WidgetRun(widget.manifest.kind, widget.runs)
        let until = options.deadline(options.startPatience, after: now)
        widget.process = HostedProcess(run: run, startedAt: now.monotonic, phase: .starting(until: until))
        widget.want(at: now)
        widget.look(at: until)
        actions.append(.start(run, widget.manifest))
    }

    private mutating func pursueActive(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        if let update = widget.process?.update, !isEnding, widget.isListed {
            if update.until <= now.monotonic { return fail(&widget, "did not answer in time", at: now, &actions) }
            widget.look(at: update.until)
            return checkLocks(of: &widget, at: now, &actions)
        }
        if isToEnd(&widget, at: now, &actions) { return }
        if pursuePress(&widget, at: now, &actions) { return }
        if isRefreshDue(&widget, at: now) { return update(&widget, at: now, &actions) }
        // A refresh that is due soon, such as after a change that has not settled, comes before the suspension, as the
        // process runs anyway.
        if widget.isVisible || options.isForDebugging
            || widget.alarm - now.monotonic <= widget.manifest.refreshing.interval
        {
            return
        }
        suspend(&widget, at: now, &actions)
    }

    private mutating func update(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        guard let run = widget.process?.run else { return }
        let (_, situation) = widget.schedule(isAppInFront: isAppInFront, at: now)
        let heeded = widget.ledger.reloads
        widget.ledger.noteStart(
            at: now.wall, spending: situation.spendsBudget ? widget.manifest.refreshing.limit : nil,
            reloads: max(widget.requestedReloads, heeded))
        if situation.spendsBudget || widget.ledger.reloads != heeded {
            actions.append(.keep(widget.ledger, kind: widget.manifest.kind))
        }
        let environment = widget.environment(options)
        let until = options.deadline(widget.manifest.refreshing.deadline.adding(options.slack), after: now)
        let shows = widget.needsView(for: environment)
        let id = nextIdentifier()
        widget.process?.update = HostedProcess.Update(
            id: id, until: until, environment: environment, isReload: widget.isReloadWanted, shows: shows,
            nextLockCheck: widget.isVisible ? .max : options.deadline(options.lockCheck, after: now),
            wasVisible: widget.isVisible)
        let message = HostMessage.update(
            id: id, environment: environment, deadline: Double(widget.manifest.refreshing.deadline) / 1e9,
            shows: shows, reloads: widget.isReloadWanted,
            appears: widget.isVisible && widget.process?.hasAppeared == false)
        if widget.isVisible { widget.process?.hasAppeared = true }
        (widget.wantedSince, widget.isReloadWanted, widget.lastRefresh) = (nil, false, now.wall)
        widget.mayRefreshFrom = now.monotonic.adding(widget.manifest.refreshing.interval)
        widget.look(at: until)
        actions.append(.send(run, message))
        checkLocks(of: &widget, at: now, &actions)
    }

    /// Returns whether a refresh is due now. If it is later, schedules a check, and records the reason if it is not the
    /// timeline.
    func isRefreshDue(_ widget: inout HostedWidget, at now: Moment) -> Bool {
        let (schedule, situation) = widget.schedule(isAppInFront: isAppInFront, at: now)
        if schedule == .now, !widget.isVisible, widget.mayRefreshHiddenFrom > now.monotonic {
            widget.look(at: widget.mayRefreshHiddenFrom)
            return false
        }
        switch schedule {
        case .idle: return false
        case .deferred(let until, let reason):
            widget.look(at: now.monotonic(ofWall: until))
            if reason != .timeline { widget.deferral = PanelNote(.deferred(reason), again: until) }
            return false
        case .now:
            guard let since = widget.wantedSince, !widget.isReloadWanted, widget.hasBeenHeardOf,
                situation.failures == 0, widget.process?.phase == .active
            else { return true }
            let settled = max(since.adding(widget.manifest.refreshing.settle), widget.mayRefreshFrom)
            if settled > now.monotonic { widget.look(at: settled) }
            return settled <= now.monotonic
        }
    }

    private func pursueSuspended(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        guard let run = widget.process?.run else { return }
        if !widget.isListed || isEnding || widget.isReplaced {
            // The process holds nothing, so it is killed without being continued first.
            widget.process?.phase = .ending(until: nil)
            widget.alarm = .max
            actions.append(.kill(run))
        } else if widget.isVisible || !widget.presses.isEmpty || isRefreshDue(&widget, at: now) {
            widget.process?.phase = .active
            widget.want(at: now)
            if widget.process?.update != nil {
                // The process was stopped before it answered the update, which goes on now.
                let patience = widget.manifest.refreshing.deadline.adding(options.slack)
                widget.process?.update?.until = options.deadline(patience, after: now)
            }
            actions += [.goOn(run), .send(run, .resume)]
            widget.look(at: now.monotonic)
        }
    }

    /// Ends a process if its widget was taken off the list or replaced, or if the host ends. Returns whether it did.
    func isToEnd(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) -> Bool {
        if widget.isListed && !isEnding && !widget.isReplaced { return false }
        guard let run = widget.process?.run else { return false }
        let until = now.monotonic.adding(options.exitGrace)
        widget.giveUpUpdate(at: now)
        widget.process?.phase = .ending(until: until)
        widget.alarm = until
        actions.append(.send(run, .end))
        return true
    }

    /// Kills the process for a fault; the next process has to wait.
    func fail(_ widget: inout HostedWidget, _ cause: String, at now: Moment, _ actions: inout [HostAction]) {
        guard let process = widget.process else { return }
        noteFault(&widget, cause, at: now, &actions)
        widget.process?.phase = .ending(until: nil)
        widget.alarm = .max
        actions.append(.kill(process.run))
    }

    /// Records a fault: an update in progress is dropped and scheduled again, and the next process has to wait.
    func noteFault(_ widget: inout HostedWidget, _ cause: String, at now: Moment, _ actions: inout [HostAction]) {
        let lived = now.monotonic - (widget.process?.startedAt ?? now.monotonic)
        widget.crashes = lived > options.settledLife ? 1 : min(widget.crashes + 1, 62)
        let delay = options.restart.delay(after: widget.crashes)
        widget.restartAt = now.monotonic.adding(delay)
        widget.fault = PanelNote(.ended(cause), again: options.isForDebugging ? nil : now.wall.adding(delay))
        widget.giveUpUpdate(at: now)
        widget.process?.press = nil
        widget.want(at: now)
        widget.hasBeenHeardOf = true
        actions.append(.log(HostLogLine(cause, of: widget.manifest.kind, isFault: true)))
    }
}
