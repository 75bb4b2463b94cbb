// Imports nothing: no file, clock or process.

/// Presses of buttons and toggles. A press is sent to one process of the widget. If that process ends without an answer,
/// the next one is asked whether it was performed, and does not perform it: so it is performed at most once, and not long
/// after somebody has pressed.
///
/// ```
///  user ──▶ waits ──▶ sent ──▶ done: the widget is refreshed
///             │         │  └──▶ not done, or unknown: the panel says so
///             │         └─ the process ends ──▶ asked ──▶ done, not done, unknown
///             └─ the widget gets it too late ──▶ dropped: the panel says so
/// ```
extension HostState {
    /// The most presses of a widget that wait.
    private static let mostPresses = 32

    mutating func press(_ kind: String, _ line: Int, at now: Moment, _ actions: inout [HostAction]) {
        guard var widget = widgets[kind], widget.isVisible else {
            return actions.append(.log(HostLogLine("not pressed: the widget is hidden", of: kind, isFault: true)))
        }
        let lines = widget.timeline?.entry(atNanosecond: now.wall)?.snapshot.lines ?? []
        guard line <= lines.count, let control = lines[line - 1].control else {
            return actions.append(.log(HostLogLine("line \(line) is no button and no toggle", of: kind)))
        }
        if widget.presses.count >= Self.mostPresses {
            let reason = "not pressed: \(widget.presses.count) presses wait for the widget"
            return actions.append(.log(HostLogLine(reason, of: kind, isFault: true)))
        }
        let name = "\(options.pressPrefix)-\(nextIdentifier())"
        let action = widget.panel(options, at: now).action(of: control)
        widget.presses.append(
            PendingPress(
                press: WidgetPress(name: name, action: action),
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
        if !late.isEmpty {
            widget.presses.removeAll { late.contains($0) }
            say("not done: the widget was not ready in time", of: &widget, at: now, &actions)
        }
        if let next = widget.presses.first(where: { !$0.isSent }) { expect(next.until, of: &widget, at: now) }
    }

    /// Sends the first press, or waits for its answer. Returns whether there is one.
    mutating func pursuePress(_ widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) -> Bool {
        guard let process = widget.process, let first = widget.presses.first else { return false }
        if let sent = process.press {
            if sent.until <= now.monotonic {
                fail(&widget, "did not answer a press in time", at: now, &actions)
            } else {
                widget.look(at: sent.until)
            }
            return true
        }
        let id = nextIdentifier()
        let deadline = widget.manifest.refreshing.deadline
        let until = options.deadline(deadline.adding(options.slack), after: now)
        actions.append(
            .send(process.run, .press(id: id, first.press, asks: first.isSent, deadline: Double(deadline) / 1e9)))
        widget.process?.press = HostedProcess.Press(id: id, until: until)
        widget.presses[0].isSent = true
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
        let press = widget.presses.removeFirst().press
        let line = "press \(press.name) of '\(Self.cut(press.action.id))': \(result.rawValue)"
        actions.append(.log(HostLogLine(line, of: widget.manifest.kind)))
        // The person who has pressed looks at the widget: it does not wait for the next refresh by its schedule.
        widget.isReloadWanted = true
        let reason = cause.map { ": " + Self.cut($0) } ?? ""
        switch result {
        case .done: widget.pressNote = nil
        case .notDone: say("not done\(reason)", of: &widget, at: now, &actions)
        case .unknown: say("not known whether it was done\(reason)", of: &widget, at: now, &actions)
        }
    }

    private func say(
        _ text: String, of widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]
    ) {
        let until = now.monotonic.adding(options.pressNoteLife)
        widget.pressNote = PressNote(note: PanelNote(.pressed(text)), until: until)
        widget.look(at: until)
        actions.append(.log(HostLogLine("a press: \(text)", of: widget.manifest.kind, isFault: true)))
    }
}
