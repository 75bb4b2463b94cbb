// Imports nothing: no file, clock or process.

/// An action of the host. Actions are carried out in their order.
package enum HostAction: Equatable, Sendable {
    case start(WidgetRun, WidgetManifest)
    case send(WidgetRun, HostMessage)
    /// Send SIGSTOP; the event `stopped` follows.
    case stop(WidgetRun)
    /// Send SIGCONT.
    case goOn(WidgetRun)
    /// Send SIGKILL; the event `exited` follows.
    case kill(WidgetRun)
    /// Look for what the widget's processes hold; the event `holds` follows.
    case findHoldings(WidgetRun)
    case open(url: String, kind: String)
    case log(HostLogLine)
    /// The panel looks different.
    case redraw(Panel)
    /// The panels are others, or in another order.
    case rearrange
    /// Store the list.
    case save(ShownList)
    /// Store what the refreshes of a kind have cost.
    case keep(RefreshLedger, kind: String)
    /// Store what a kind shows now, for the next host.
    case remember(LastView, kind: String)
    /// Follow the changes that concern the widgets, by `HostState.interests`.
    case followInterests
    /// The host ends: no process is left, and none will be started.
    case finished
}

/// A line of the host's log.
package struct HostLogLine: Hashable, Sendable {
    /// The widget's kind; nil for the host itself.
    package var kind: String?
    package var text: String
    /// Whether something is wrong.
    package var isFault: Bool

    package init(_ text: String, of kind: String? = nil, isFault: Bool = false) {
        self.kind = kind
        self.text = text
        self.isFault = isFault
    }
}
