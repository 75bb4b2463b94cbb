/// What a host has to do, in this order.
package enum HostAction: Equatable, Sendable {
    case start(WidgetRun, WidgetManifest)
    case send(WidgetRun, HostMessage)
    /// SIGSTOP; `stopped` answers.
    case stop(WidgetRun)
    /// SIGCONT.
    case goOn(WidgetRun)
    /// SIGKILL; `exited` answers.
    case kill(WidgetRun)
    /// `holds` answers.
    case askWhatItHolds(WidgetRun)
    case open(url: String, kind: String)
    case log(HostLogLine)
    /// It looks different.
    case redraw(Panel)
    /// Other panels, or another order.
    case rearrange
    /// The list is to be kept.
    case save(ShownList)
    /// What the refreshes of that kind have cost is to be kept.
    case keep(RefreshLedger, kind: String)
    /// What that kind shows now is to be kept for the next host.
    case remember(LastView, kind: String)
    /// No process is left, and none will be.
    case finished
}

/// What the host's log says.
package struct HostLogLine: Hashable, Sendable {
    /// Whom it is about; nil: the host.
    package var kind: String?
    package var text: String
    /// Something is wrong.
    package var isFault: Bool

    package init(_ text: String, of kind: String? = nil, isFault: Bool = false) {
        (self.kind, self.text, self.isFault) = (kind, text, isFault)
    }
}
