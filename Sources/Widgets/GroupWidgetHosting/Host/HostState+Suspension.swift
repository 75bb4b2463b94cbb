// Imports nothing: no file, clock or process.

/// Stops a widget that is not visible, without locks that others wait for. Its processes are checked before they are
/// stopped, and once more afterwards, as they may have taken a lock in between.
extension HostState {
    mutating func suspend(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        guard let run = widget.process?.run else { return }
        let id = nextIdentifier()
        let end = now.monotonic.adding(options.grace)
        let until = nextLook(at: now, by: end)
        widget.process?.phase = .suspending(id: id, until: until)
        widget.process?.lastSuspension = id
        widget.process?.hasAnswered = false
        widget.process?.graceUntil = end
        widget.look(at: until)
        actions.append(.send(run, .suspend(id: id)))
    }

    func pursueSuspending(
        _ widget: inout HostedWidget, _ until: Int64, at now: Moment, _ actions: inout [HostAction]
    ) {
        guard let process = widget.process else { return }
        expect(until, of: &widget, at: now)
        if isToEnd(&widget, at: now, &actions) { return }
        if let update = process.update {
            if update.until <= now.monotonic { return fail(&widget, "did not answer in time", at: now, &actions) }
            widget.look(at: update.until)
        }
        // The widget became visible before it was stopped; a press waits for the end of a refresh that was cut short;
        // or the widget cannot be stopped for long, and a refresh is due.
        if widget.isVisible || process.update == nil && !widget.presses.isEmpty
            || process.hindrances > 0 && isRefreshDue(&widget, at: now)
        {
            widget.process?.phase = .active
            if widget.isVisible { widget.process?.forgetHindrances() }
            widget.want(at: now)
            actions.append(.send(process.run, .resume))
            // The next step follows at once.
            return widget.look(at: now.monotonic)
        }
        if until <= now.monotonic { look(at: &widget, &actions) }
    }

    /// Checks, while a refresh of a hidden widget goes on, what its process keeps others from.
    func checkLocks(of widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        guard let process = widget.process, let update = process.update else { return }
        if update.nextLockCheck <= now.monotonic {
            widget.process?.update?.nextLockCheck = now.monotonic.adding(options.lockCheck)
            actions.append(.findHoldings(process.run))
        }
        widget.look(at: widget.process?.update?.nextLockCheck ?? .max)
    }

    /// Suspends a hidden widget during a refresh, as another process waits for an item that it holds; or, where it was
    /// hidden during the refresh, as it holds another lock, whose waits are not known. Any other refresh goes on to its
    /// end: its view is ready when the widget is shown again.
    private mutating func cutShort(
        _ holdings: Holdings, of widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]
    ) {
        guard !widget.isVisible, let update = widget.process?.update, !options.isForDebugging,
            holdings.isAwaited || update.wasVisible && !holdings.locks.isEmpty
        else { return }
        widget.process?.update?.isCutShort = true
        widget.mayRefreshHiddenFrom = now.monotonic.adding(options.cutShortPause)
        suspend(&widget, at: now, &actions)
    }

    func look(at widget: inout HostedWidget, _ actions: inout [HostAction]) {
        guard let run = widget.process?.run else { return }
        widget.process?.phase = .looking
        actions.append(.findHoldings(run))
    }

    func pursueStopping(_ widget: inout HostedWidget, _ until: Int64, at now: Moment, _ actions: inout [HostAction]) {
        guard let process = widget.process else { return }
        expect(until, of: &widget, at: now)
        if until <= now.monotonic { return fail(&widget, "could not be stopped", at: now, &actions) }
        if process.lookAgain > now.monotonic { return widget.look(at: process.lookAgain) }
        widget.process?.lookAgain = .max
        actions.append(.findHoldings(process.run))
    }

    /// Decides what follows from the locks that a widget holds. Other processes would wait for them as long as the
    /// widget is stopped, so it goes on. After its grace, or sooner if another process waits, locks on the container's
    /// items are released by killing the process. With locks on other files, the process stays, and is checked again
    /// later.
    mutating func noteHoldings(
        _ holdings: Holdings, of widget: inout HostedWidget, _ process: HostedProcess, at now: Moment,
        _ actions: inout [HostAction]
    ) {
        let isStopped: Bool
        switch process.phase {
        case .active: return cutShort(holdings, of: &widget, at: now, &actions)
        case .looking: isStopped = false
        case .stopping: isStopped = true
        default: return
        }
        let isLate = process.graceUntil <= now.monotonic
        if holdings.isEmpty {
            if !isStopped, !process.hasAnswered, !isLate {
                // It may still be at work, and take a lock.
                let until = nextLook(at: now, by: process.graceUntil)
                widget.process?.phase = .suspending(id: process.lastSuspension, until: until)
            } else if !isStopped {
                stop(&widget, at: now, &actions)
            } else if holdings.isGoingOn {
                // The widget itself has stopped; the processes that it has started will follow soon.
                widget.process?.lookAgain = now.monotonic.adding(Self.pause)
            } else {
                widget.process?.phase = .suspended
                widget.process?.forgetHindrances()
            }
            return
        }
        let suspendedAt = process.graceUntil - options.grace
        let isInTheWay = !isStopped && holdings.isAwaited && now.monotonic - suspendedAt >= options.lockCheck
        if isLate || isInTheWay, !holdings.items.isEmpty {
            let names = holdings.items.map { "'\($0)'" }.joined(separator: ", ")
            let reason = isLate ? "" : ", while another process waited"
            return fail(&widget, "kept a lock on \(names) when it was to be suspended\(reason)", at: now, &actions)
        }
        if isStopped { actions.append(.goOn(process.run)) }
        let until =
            isLate
            ? hinder(&widget, by: holdings.locks, at: now, &actions) : nextLook(at: now, by: process.graceUntil)
        widget.process?.phase = .suspending(id: process.lastSuspension, until: until)
    }

    /// Returns the time of the next check of the locks of a widget that is to be suspended, at the latest `end`.
    private func nextLook(at now: Moment, by end: Int64) -> Int64 { min(end, now.monotonic.adding(options.lockCheck)) }

    /// The time between checks while some processes still run after the signal to stop.
    private static let pause: Int64 = 10_000_000

    private func stop(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        guard let process = widget.process else { return }
        if widget.isVisible {
            widget.process?.phase = .suspending(id: process.lastSuspension, until: process.graceUntil)
            return
        }
        let until = now.monotonic.adding(options.grace)
        widget.process?.phase = .stopping(until: until)
        widget.process?.lookAgain = .max
        widget.look(at: until)
        actions.append(.stop(process.run))
    }

    /// Logs why the widget goes on, once for the same locks. Returns the time of the next check of its locks.
    private func hinder(
        _ widget: inout HostedWidget, by locks: [String], at now: Moment, _ actions: inout [HostAction]
    ) -> Int64 {
        let note = PanelNote(.held(locks.joined(separator: "; ")))
        if widget.process?.hindrance != note {
            let line = note.text + "; the widget goes on until it releases that, which it should do at 'suspend'"
            actions.append(.log(HostLogLine(line, of: widget.manifest.kind, isFault: true)))
        }
        let count = min((widget.process?.hindrances ?? 0) + 1, 62)
        widget.process?.hindrances = count
        widget.process?.hindrance = note
        let backoff = Backoff(shortest: options.grace, longest: max(options.grace, options.longestHold))
        return now.monotonic.adding(backoff.delay(after: count))
    }
}

extension HostedProcess {
    fileprivate mutating func forgetHindrances() { (hindrances, hindrance) = (0, nil) }
}
