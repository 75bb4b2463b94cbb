package import GroupContainer
package import GroupManifests
import GroupSystemCalls

/// The limits of a host. Times are in nanoseconds.
package struct HostOptions: Hashable, Sendable {
    /// The longest time from a widget's start to its first message.
    package var startPatience: Int64 = 10_000_000_000
    /// The time to release locks before a suspension.
    package var grace: Int64 = 5_000_000_000
    /// The longest time between checks of a widget that still holds locks after its grace; at least the grace.
    package var longestHold: Int64 = 300_000_000_000
    /// The time between checks of the locks of a hidden widget: during a refresh, and until it has answered that it is to
    /// be suspended. A process that waits for such a lock gets it within a second.
    package var lockCheck: Int64 = 400_000_000
    /// The time from a refresh that was cut short until the widget, still hidden, is refreshed again.
    package var cutShortPause: Int64 = 60_000_000_000
    /// The time beyond a refresh's deadline, which the widget applies itself.
    package var slack: Int64 = 2_000_000_000
    /// The time from the message `end`, or from the end of the process's output, until the process is killed.
    package var exitGrace: Int64 = 1_000_000_000
    /// The time until the next start of a widget that ended by itself, was killed for a fault, or could not be started.
    package var restart = Backoff(shortest: 1_000_000_000, longest: 300_000_000_000)
    /// The lifetime after which an end no longer counts as another crash in a row.
    package var settledLife: Int64 = 60_000_000_000
    /// The room that the host has.
    package var rooms: [WidgetDisplayMode: WidgetSize] = [
        .compact: WidgetSize(columns: 80, rows: 4), .expanded: WidgetSize(columns: 80, rows: 24),
    ]
    /// The time in which a press has to reach its widget; later, it is dropped, as no user expects it then.
    package var pressPatience: Int64 = 5_000_000_000
    /// How long the host shows that a press was not performed.
    package var pressNoteLife: Int64 = 15_000_000_000
    /// The beginning of the names of presses, which no other host has.
    package var pressPrefix = ""
    /// Whether the widget runs in a debugger: the host applies no deadlines except that for the process's end, no
    /// memory limits and no suspensions, and ends with the widget. The widget itself still applies the deadline of a
    /// refresh.
    package var isForDebugging = false

    package init() {}

    func room(_ mode: WidgetDisplayMode) -> WidgetSize { rooms[mode] ?? .none }

    /// Returns the moment after a duration, or `.max` in a debugger.
    func deadline(_ time: Int64, after now: Moment) -> Int64 { isForDebugging ? .max : now.monotonic.adding(time) }
}

enum HostIdentity {
    /// The identifier of this process.
    static let process = processIdentifier()
}

/// The choices of the user who starts a host.
package struct HostSettings: Sendable {
    package var options = HostOptions()
    package var directories: ManifestDirectories<WidgetManifest>
    /// The kinds to show in place of the stored list, which is then neither read nor written; nil for the stored list.
    package var shown: [String]?
    /// Whether to refresh each widget once, and then end.
    package var isOnce = false
    /// The command that opens an address.
    package var opener = "xdg-open"
    package var listFile: ListFile

    package init(_ container: Container, directories: ManifestDirectories<WidgetManifest>) throws {
        self.directories = directories
        listFile = try ListFile(for: container)
    }

    package func list() throws -> ShownList { try shown.map { ShownList($0) } ?? listFile.read() }
}
