// Imports nothing: no file, clock or process.

/// One run of a widget's process. Events of an earlier run are ignored.
package struct WidgetRun: Hashable, Sendable, CustomStringConvertible {
    package let kind: String
    package let number: Int

    package init(_ kind: String, _ number: Int) { (self.kind, self.number) = (kind, number) }

    package var description: String { "\(kind)#\(number)" }
}

/// An event for the host's decisions.
package enum HostEvent: Equatable, Sendable {
    /// The widgets that are installed.
    case manifests([WidgetManifest])
    /// The list of shown widgets, changed outside this host.
    case list(ShownList)
    case user(UserCommand)
    /// The largest size that a widget may have now, for each display mode.
    case rooms([WidgetDisplayMode: WidgetSize])
    /// Something that concerns these kinds changed.
    case changed(Set<String>)
    /// The stored ledgers of these kinds: what refreshes have cost, failures, and the last reload request.
    case ledgers([String: RefreshLedger])
    /// What widgets of these kinds showed under an earlier host.
    case lastViews([String: LastView])
    /// A number for each of these kinds, which grows with each reload request of an app.
    case reloads([String: UInt64])
    /// Whether the app of the widgets is in front.
    case appInFront(Bool)
    case memoryPressure
    /// The widget's executable file was replaced.
    case executableReplaced(kind: String)
    case process(WidgetRun, ProcessEvent)
    /// The wall clock was set: what is due at a date may be due now.
    case clockSet
    /// Time has passed.
    case tick
}

/// An event of a widget's process.
package enum ProcessEvent: Hashable, Sendable {
    case started(processIdentifier: Int32)
    /// The process could not be started, with the reason.
    case notStarted(String)
    case received(WidgetMessage)
    /// A line on standard output is no message, with the reason.
    case spoilt(String)
    /// A line on standard error.
    case complained(String)
    case outputEnded
    /// The widget does not read its input.
    case inputFull
    /// The process was stopped (SIGSTOP) by the action `HostAction.stop`.
    case stopped
    /// What the widget's processes hold: the result of the action `HostAction.findHoldings`.
    case holds(Holdings)
    /// The resident memory, in bytes.
    case memory(UInt64)
    case exited(ProcessEnd)
}

/// How a process ended.
package enum ProcessEnd: Hashable, Sendable {
    case status(Int32)
    case signal(Int32)

    package var text: String {
        switch self {
        case .status(let number): "ended with status \(number)"
        case .signal(let number): "ended by signal \(number)"
        }
    }
}
