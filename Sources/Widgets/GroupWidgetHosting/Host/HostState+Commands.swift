// Imports nothing: no file, clock or process.

/// Commands of users, and changes of what is installed.
extension HostState {
    /// Replaces the manifests. A widget without a manifest ends; a widget with another command starts anew.
    mutating func install(_ all: [WidgetManifest], _ actions: inout [HostAction]) {
        let before = manifests
        manifests = Dictionary(all.map { ($0.kind, $0) }, uniquingKeysWith: { first, _ in first })
        for (kind, manifest) in manifests where widgets[kind] != nil && before[kind] != manifest {
            if widgets[kind]?.process != nil, before[kind]?.startsLike(manifest) == false {
                widgets[kind]?.isReplaced = true
            }
            widgets[kind]?.manifest = manifest
        }
    }

    mutating func note(_ ledgers: [String: RefreshLedger]) {
        for (kind, ledger) in ledgers {
            self.ledgers[kind] = ledger
            widgets[kind]?.ledger = ledger
        }
    }

    /// Records reload requests that were not served yet.
    mutating func note(_ reloads: [String: UInt64]) {
        for (kind, number) in reloads {
            guard let widget = widgets[kind], number > max(widget.requestedReloads, widget.ledger.reloads) else {
                continue
            }
            widgets[kind]?.requestedReloads = number
            widgets[kind]?.isReloadWanted = true
        }
    }

    mutating func reload(_ kind: String?) {
        for each in widgets.keys where kind == nil || each == kind { widgets[each]?.isReloadWanted = true }
    }

    mutating func obey(_ command: UserCommand, at now: Moment, _ actions: inout [HostAction]) {
        if let kind = command.kind, manifests[kind] == nil, command != .remove(kind) {
            return actions.append(.log(HostLogLine("there is no widget of that kind", of: kind, isFault: true)))
        }
        switch command {
        case .add(let kind): if list.add(kind, among: manifests.keys) { actions.append(.save(list)) }
        case .remove(let kind): if list.remove(kind, among: manifests.keys) { actions.append(.save(list)) }
        case .order(let kinds):
            let before = list
            list.order(kinds, among: manifests.keys)
            if list != before { actions.append(.save(list)) }
        case .show(let kind): setVisible(true, kind, at: now)
        case .hide(let kind): setVisible(false, kind, at: now)
        case .expand(let kind): setExpanded(true, kind, &actions)
        case .collapse(let kind): setExpanded(false, kind, &actions)
        case .reload(let kind): reload(kind)
        case .open(let kind, let line): open(kind, line, at: now, &actions)
        case .press(let kind, let line, let action): press(kind, line, action, at: now, &actions)
        case .front(let isInFront): isAppInFront = isInFront
        case .pressure: relieveMemory(&actions)
        case .quit:
            isEnding = true
            for kind in widgets.keys { widgets[kind]?.isListed = false }
        }
    }

    private mutating func setVisible(_ isVisible: Bool, _ kind: String, at now: Moment) {
        guard var widget = widgets[kind], widget.isVisible != isVisible else { return }
        widget.isVisible = isVisible
        widget.lastVisible = now.monotonic
        widget.process?.update?.wasVisible = true
        widget.process?.hasAppeared = false
        widget.process?.update?.nextLockCheck = isVisible ? .max : options.deadline(options.lockCheck, after: now)
        // The refresh reads all changes after the widget's position in the journal, also those from the time when the
        // widget was not visible.
        if isVisible { widget.want(at: now) }
        widgets[kind] = widget
    }

    private mutating func setExpanded(_ isExpanded: Bool, _ kind: String, _ actions: inout [HostAction]) {
        if isExpanded, manifests[kind]?.rooms[.expanded] == nil {
            actions.append(.log(HostLogLine("the widget has no expanded display mode", of: kind, isFault: true)))
        } else if list.setExpanded(isExpanded, kind) {
            actions.append(.save(list))
        }
    }

    private func open(_ kind: String, _ line: Int?, at now: Moment, _ actions: inout [HostAction]) {
        guard let widget = widgets[kind] else { return }
        let view = widget.timeline?.entry(atNanosecond: now.wall)?.snapshot ?? widget.placeholder
        var url = view?.url
        if let line, let lines = view?.lines, line <= lines.count { url = lines[line - 1].url ?? url }
        guard let url = url ?? widget.manifest.urlScheme.map({ "\($0):" }) else {
            return actions.append(.log(HostLogLine("the widget has no address", of: kind)))
        }
        actions.append(opening(url, by: widget.manifest))
    }

    func opening(_ url: String, by manifest: WidgetManifest) -> HostAction {
        if let url = manifest.urlToOpen(url) { return .open(url: url, kind: manifest.kind) }
        let reason =
            "the widget may open its app's addresses, https and http, without spaces and with the host's name in ASCII, "
            + "but not '\(url)'"
        return .log(HostLogLine(reason, of: manifest.kind, isFault: true))
    }

    /// Ends one suspended widget or, if there is none, one that cannot be suspended: the one that has not been visible
    /// for the longest time.
    mutating func relieveMemory(_ actions: inout [HostAction]) {
        let suspended = widgets.filter { $0.value.process?.phase == .suspended }
        let hidden = suspended.isEmpty ? widgets.filter { $0.value.isHeldInMemory } : suspended
        let longest = hidden.min { ($0.value.lastVisible, $0.key) < ($1.value.lastVisible, $1.key) }
        guard let kind = longest?.key, let run = widgets[kind]?.process?.run else {
            return actions.append(.log(HostLogLine("memory is short, and no widget is suspended")))
        }
        widgets[kind]?.process?.phase = .ending(until: nil)
        actions += [.log(HostLogLine("ended: memory is short", of: kind)), .kill(run)]
    }
}

extension HostedWidget {
    /// Whether the widget is not visible, and cannot be suspended.
    fileprivate var isHeldInMemory: Bool { !isVisible && process?.hindrance != nil && process?.isEnding == false }
}

extension UserCommand {
    /// The widget's kind, if the command has one.
    package var kind: String? {
        switch self {
        case .add(let kind), .remove(let kind), .show(let kind), .hide(let kind), .expand(let kind),
            .collapse(let kind), .open(let kind, _), .press(let kind, _, _):
            kind
        case .reload(let kind): kind
        case .order, .front, .pressure, .quit: nil
        }
    }
}
