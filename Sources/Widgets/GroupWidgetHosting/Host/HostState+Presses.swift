// Imports nothing: no file, clock or process.

/// Presses of buttons and toggles. A press is sent to one process of the widget. If that process ends without an answer,
/// the next one is asked whether it was performed, and does not perform it: so it is performed at most once, and not long
/// after somebody has pressed.
///
/// ```
///  user ──▶ waits ──▶ sent ──▶ done: the widget is refreshed
///             │         │  └──▶ not done, or unknown: the panel says so
///             │         └─ the process ends ──▶ asked ──▶ done, not done, unknown
///             │                                   └─ the process ends, too ──▶ unknown
///             └─ the widget gets it too late ──▶ dropped: the panel says so
/// ```
extension HostState {
    /// The most presses of a widget that wait.
    private static let mostPresses = 32

    /// Queues a press. `action` is what the control was drawn to request; nil for the control that is that line now.
    mutating func press(
        _ kind: String, _ line: Int, _ action: WidgetAction?, at now: Moment, _ actions: inout [HostAction]
    ) {
        guard var widget = widgets[kind] else { return }
        func refuse(_ reason: String) {
            actions.append(.log(HostLogLine("line \(line) is not pressed: \(reason)", of: kind, isFault: true)))
        }
        if !widget.isVisible { return refuse("the widget is hidden") }
        let lines = widget.timeline?.entry(atNanosecond: now.wall)?.snapshot.lines ?? []
        if let action {
            // Another view may have come since the one that the user has seen.
            if !lines.contains(where: { $0.control?.id == action.id }) {
                return refuse("what it was is not shown any more")
            }
        } else if line > lines.count {
            return refuse("the widget shows \(lines.count) line\(lines.count == 1 ? "" : "s")")
        } else if lines[line - 1].control == nil {
            return refuse("it is no button and no toggle")
        }
        if widget.presses.count >= Self.mostPresses { return refuse("\(Self.mostPresses) presses wait for the widget") }
        let present = line <= lines.count ? lines[line - 1].control : nil
        guard let action = action ?? present.map({ widget.panel(options, at: now).action(of: $0) }) else { return }
        widget.presses.append(
            PendingPress(
                press: WidgetPress(name: "\(options.pressPrefix)-\(nextIdentifier())", action: action),
                until: options.deadline(options.pressPatience, after: now)))
        widget.pressNote = nil
        widgets[kind] = widget
    }

    /// Drops the presses that have not reached the widget in time, and the note about an earlier one.
    mutating func dropLatePresses(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        if let shown = widget.pressNote {
            if shown.until <= now.monotonic { widget.pressNote = nil } else { widget.look(at: shown.until) }
        }
        let late = widget.presses.filter { !$0.isSent && $0.until <= now.monotonic }
        widget.presses.removeAll { late.contains($0) }
        for press in late { end(press, .notDone, "the widget was not ready in time", of: &widget, at: now, &actions) }
        if let next = widget.presses.first(where: { !$0.isSent }) { expect(next.until, of: &widget, at: now) }
    }

    /// Sends the first press, or waits for its answer. Returns whether there is one.
    mutating func pursuePress(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) -> Bool {
        guard let process = widget.process else { return false }
        if let sent = process.press {
            if sent.until <= now.monotonic {
                fail(&widget, "did not answer a press in time", at: now, &actions)
            } else {
                widget.look(at: sent.until)
            }
            return true
        }
        while let asked = widget.presses.first, asked.isAsked {
            // A second process has ended without an answer, too.
            widget.presses.removeFirst()
            end(asked, .unknown, "two processes of the widget have not answered", of: &widget, at: now, &actions)
        }
        guard let first = widget.presses.first else { return false }
        let id = nextIdentifier()
        let deadline = widget.manifest.refreshing.deadline
        let until = options.deadline(deadline.adding(options.slack), after: now)
        actions.append(
            .send(process.run, .press(id: id, first.press, asks: first.isSent, deadline: Double(deadline) / 1e9)))
        widget.process?.press = HostedProcess.Press(id: id, until: until)
        (widget.presses[0].isSent, widget.presses[0].isAsked) = (true, first.isSent)
        widget.look(at: until)
        return true
    }

    /// Records what has become of the first press.
    func note(
        _ result: PressResult, _ cause: String?, of widget: inout HostedWidget, at now: Moment,
        _ actions: inout [HostAction]
    ) {
        widget.process?.press = nil
        guard !widget.presses.isEmpty else { return }
        let press = widget.presses.removeFirst()
        // The person who has pressed looks at the widget: it does not wait for the next refresh by its schedule.
        widget.isReloadWanted = true
        if result == .done { widget.performed.append(press.press.action) }
        end(press, result, cause, of: &widget, at: now, &actions)
    }

    /// Reports the presses of a widget that is removed, or whose host ends, which get no result.
    func endPresses(of widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        let all = widget.presses
        widget.presses = []
        for press in all {
            end(press, press.isSent ? .unknown : .notDone, "the widget is removed", of: &widget, at: now, &actions)
        }
    }

    /// Reports what has become of a press: in the log, and, unless it was performed, on the panel.
    private func end(
        _ press: PendingPress, _ result: PressResult, _ cause: String?, of widget: inout HostedWidget, at now: Moment,
        _ actions: inout [HostAction]
    ) {
        let reason = cause.map { ": " + Self.cut($0) } ?? ""
        let line = "press \(press.press.name) of '\(Self.cut(press.press.action.id))': \(result.rawValue)\(reason)"
        actions.append(.log(HostLogLine(line, of: widget.manifest.kind, isFault: result != .done)))
        if result == .done { return }
        let text = result == .notDone ? "not done\(reason)" : "not known whether it was done\(reason)"
        let until = now.monotonic.adding(options.pressNoteLife)
        widget.pressNote = PressNote(note: PanelNote(.pressed(text)), until: until)
        widget.look(at: until)
    }
}
