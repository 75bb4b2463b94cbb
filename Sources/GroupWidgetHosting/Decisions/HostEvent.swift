/// One life of a widget's process: what is told of an earlier one counts no more.
package struct WidgetRun: Hashable, Sendable, CustomStringConvertible {
    package let kind: String
    package let number: Int

    package init(_ kind: String, _ number: Int) { (self.kind, self.number) = (kind, number) }

    package var description: String { "\(kind)#\(number)" }
}

/// What happens to a host.
package enum HostEvent: Equatable, Sendable {
    /// These are the widgets that there are.
    case manifests([WidgetManifest])
    /// This is the list of those that are shown, as somebody else has left it.
    case list(ShownList)
    case user(UserCommand)
    /// The host has that much room now.
    case rooms([DisplayMode: WidgetSize])
    /// Something that concerns these kinds changed.
    case changed(Set<String>)
    /// What was kept of the refreshes of these kinds.
    case ledgers([String: RefreshLedger])
    /// What widgets of these kinds showed when a host was here last.
    case lastViews([String: LastView])
    /// So many times apps have asked for a reload of these kinds.
    case reloads([String: UInt64])
    /// The app that the widgets belong to.
    case appInFront(Bool)
    case memoryPressure
    /// Its program is another one now.
    case executableReplaced(kind: String)
    case process(WidgetRun, ProcessEvent)
    /// Time has passed.
    case tick
}

/// What happens to a widget's process.
package enum ProcessEvent: Hashable, Sendable {
    case started(processIdentifier: Int32)
    /// There is none: why.
    case notStarted(String)
    case said(WidgetMessage)
    /// What it said is no message: why.
    case spoilt(String)
    /// On its standard error.
    case complained(String)
    case outputEnded
    /// It does not read what it is told.
    case inputFull
    /// The answer to `stop`: it does nothing any more.
    case stopped
    /// The answer to `askWhatItHolds`.
    case holds(Holdings)
    /// Its resident memory, in bytes.
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
