// Imports nothing: no file, clock or process.

/// Events of widgets and their processes.
extension HostState {
    /// Records an event. Events of an earlier process are ignored.
    mutating func note(_ event: ProcessEvent, of run: WidgetRun, at now: Moment, _ actions: inout [HostAction]) {
        guard var widget = widgets[run.kind], let process = widget.process, process.run == run else { return }
        switch event {
        case .started: break
        case .notStarted(let cause):
            noteFault(&widget, "cannot be started: \(cause)", at: now, &actions)
            widget.process = nil
            if options.isForDebugging { isEnding = true }
        case .exited(let end):
            if !process.isEnding { noteFault(&widget, end.text, at: now, &actions) }
            widget.giveUpUpdate(at: now)
            widget.process = nil
            if options.isForDebugging { isEnding = true }
        case .complained(let text) where process.isEnding: noteComplaint(text, of: &widget, at: now, &actions)
        case .received(.pressed(let id, let result, let cause)) where id == process.press?.id:
            note(result, cause, of: &widget, at: now, &actions)
        // Other messages of a process that ends or was killed are ignored.
        case _ where process.isEnding: break
        case .received(let message): note(message, of: &widget, process, at: now, &actions)
        case .spoilt(let cause): fail(&widget, "sent an invalid message: \(cause)", at: now, &actions)
        case .complained(let text): noteComplaint(text, of: &widget, at: now, &actions)
        // The end of the process follows as a rule, and has more information.
        case .outputEnded: widget.process?.silentUntil = options.deadline(options.exitGrace, after: now)
        case .inputFull: fail(&widget, "does not read its input", at: now, &actions)
        case .memory(let bytes):
            if let limit = widget.manifest.memoryLimit, bytes > limit, !options.isForDebugging {
                fail(&widget, "used \(bytes >> 10) KiB of memory; its limit is \(limit >> 10) KiB", at: now, &actions)
            }
        case .stopped: if case .stopping = process.phase { actions.append(.findHoldings(run)) }
        case .holds(let holdings): noteHoldings(holdings, of: &widget, process, at: now, &actions)
        }
        widgets[run.kind] = widget
    }

    private mutating func note(
        _ message: WidgetMessage, of widget: inout HostedWidget, _ process: HostedProcess, at now: Moment,
        _ actions: inout [HostAction]
    ) {
        let kind = widget.manifest.kind
        switch message {
        case .hello(let version, let name, let placeholder, let interests):
            if version != WidgetMessage.version {
                let known = WidgetMessage.version
                fail(&widget, "uses version \(version) of the protocol; the host uses \(known)", at: now, &actions)
            } else if name != kind {
                fail(&widget, "sent the kind '\(name)'; its manifest has '\(kind)'", at: now, &actions)
            } else if case .starting = process.phase {
                widget.placeholder = placeholder
                widget.process?.phase = .active
                noteInterests(interests, of: &widget, at: now, &actions)
            } else {
                fail(&widget, "sent hello twice", at: now, &actions)
            }
        case _ where process.lifecycle == .starting:
            fail(&widget, "did not send hello first", at: now, &actions)
        case .answer(let answer) where answer.result == .newData && answer.timeline == nil:
            fail(&widget, "answered newData without a timeline", at: now, &actions)
        case .answer(let answer):
            if answer.id == process.update?.id { return note(answer, of: &widget, process, at: now, &actions) }
            chat("answered update \(answer.id), which was not requested", of: &widget, at: now, &actions)
        case .pressed(let id, let result, let cause):
            if id == process.press?.id { return note(result, cause, of: &widget, at: now, &actions) }
            chat("answered press \(id), which was not requested", of: &widget, at: now, &actions)
        case .suspended(let id):
            if id == process.lastSuspension {
                // Also while its locks are being looked for.
                widget.process?.hasAnswered = true
                widget.giveUpCutShortUpdate(at: now)
            }
            if case .suspending(id, _) = process.phase {
                // The first answer was requested. Only a further one is logged: the widget has released another lock.
                if process.hasAnswered { chat("answered suspension \(id) again", of: &widget, at: now, &actions) }
                if !widget.isVisible, widget.process?.isEnding == false { look(at: &widget, &actions) }
            } else if id != process.lastSuspension {
                chat("answered suspension \(id), which was not requested", of: &widget, at: now, &actions)
            }
        case .open(let url):
            chat("opens '\(url)'", of: &widget, at: now, &actions)
            if widget.isVisible, widget.process?.isEnding == false {
                actions.append(opening(url, by: widget.manifest))
            }
        case .log(let text): chat(text, of: &widget, at: now, &actions)
        }
    }

    /// Takes the interests of the program in place of those of its manifest, and reports a manifest that differs.
    private mutating func noteInterests(
        _ texts: [String]?, of widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]
    ) {
        var interests: [WidgetInterest]?
        if let texts {
            interests = []
            for text in texts {
                guard let interest = WidgetInterest(text: text), interest.fault == nil else {
                    return fail(
                        &widget, "sent the interest '\(Self.cut(text))', which matches nothing", at: now, &actions)
                }
                interests?.append(interest)
            }
        }
        let (before, stated) = (widget.programInterests ?? widget.manifest.interests, widget.manifest.interests)
        widget.programInterests = interests
        if Concerns(before) != Concerns(interests ?? stated) { actions.append(.followInterests) }
        guard let interests, !stated.isEmpty, Concerns(interests) != Concerns(stated) else { return }
        let texts = interests.map { "\"\($0.text)\"" }.joined(separator: ", ")
        let reason =
            "the interests of its program count, which are not those of its manifest: write "
            + (interests.isEmpty ? "no \"interests\"" : "\"interests\": [\(texts)]") + " there"
        actions.append(.log(HostLogLine(Self.cut(reason), of: widget.manifest.kind, isFault: true)))
    }

    /// Logs a line of standard error as far as the limit allows; exceeding it is no fault.
    private func noteComplaint(
        _ text: String, of widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]
    ) {
        if widget.process?.logBucket.take(at: now.monotonic) == true {
            actions.append(.log(HostLogLine(Self.cut(text), of: widget.manifest.kind)))
        }
    }

    static func cut(_ text: String) -> String { text.count > 1_000 ? text.prefix(999) + "…" : text }

    /// Logs something that the host did not request; exceeding the limit is a fault.
    private func chat(_ text: String, of widget: inout HostedWidget, at now: Moment, _ actions: inout [HostAction]) {
        if widget.process?.logBucket.take(at: now.monotonic) == true {
            actions.append(.log(HostLogLine(Self.cut(text), of: widget.manifest.kind)))
        } else {
            fail(&widget, "sends too many messages", at: now, &actions)
        }
    }

    private func note(
        _ answer: WidgetMessage.Answer, of widget: inout HostedWidget, _ process: HostedProcess, at now: Moment,
        _ actions: inout [HostAction]
    ) {
        // The process has ended the refresh as the host wanted: that is no failure of the widget.
        if process.update?.isCutShort == true, answer.result == .failed { return widget.giveUpUpdate(at: now) }
        var answer = answer
        // The host has no view, only a view for another environment, or only a view from an earlier host, so the next
        // update requests a rendering.
        let isMissing = process.update?.shows == true && answer.result == .noData && answer.timeline == nil
        if isMissing {
            answer = WidgetMessage.Answer(
                id: answer.id, result: .failed, cause: "answered noData without the timeline that 'shows' requires")
        }
        let environment = process.update?.environment
        let hadFailed = widget.ledger.failures > 0
        widget.hasBeenHeardOf = true
        widget.performed = []
        widget.ledger.noteEnd(answer.result, at: now.wall)
        if answer.result == .failed || hadFailed { actions.append(.keep(widget.ledger, kind: widget.manifest.kind)) }
        if answer.result == .failed {
            widget.giveUpUpdate(at: now)
            if isMissing { widget.isReloadWanted = true }
            let cause = answer.cause ?? "no cause was given"
            let again = now.wall.adding(Backoff().delay(after: widget.ledger.failures))
            widget.fault = PanelNote(.failed(cause), again: again)
            actions.append(.log(HostLogLine("failed: \(cause)", of: widget.manifest.kind, isFault: true)))
            return
        }
        widget.process?.update = nil
        widget.fault = nil
        widget.mayRefreshHiddenFrom = .min
        // The answer confirms a view from before the clock was set back.
        widget.renderedAt = widget.renderedAt.map { min($0, now.wall) }
        guard let timeline = answer.timeline else {
            if let policy = answer.policy { widget.timeline?.policy = policy }
            return
        }
        let before = widget.lastView
        if timeline != widget.timeline { (widget.timeline, widget.renderedAt) = (timeline, now.wall) }
        (widget.renderedFor, widget.isFromBefore) = (environment, false)
        if let view = widget.lastView, view != before {
            actions.append(.remember(view, kind: widget.manifest.kind))
        }
    }
}
