// Imports nothing: no file, clock or process.

/// What a host has of a widget before its start.
package struct WidgetManifest: Hashable, Sendable {
    /// The room for one display mode.
    package struct Room: Hashable, Sendable {
        /// The largest size, whatever the host has room for.
        package var maximum: WidgetSize?
        /// The preferred size, unless the view has one.
        package var preferred: WidgetSize?

        package init(maximum: WidgetSize? = nil, preferred: WidgetSize? = nil) {
            self.maximum = maximum
            self.preferred = preferred
        }
    }

    /// When to refresh the widget. Times are in nanoseconds.
    package struct Refreshing: Hashable, Sendable {
        /// The budget for refreshes while the widget is not visible.
        package var limit = RefreshLimit()
        /// The time for one answer.
        package var deadline: Int64 = 10_000_000_000
        /// The time from the first change to the refresh, so that several changes cost one refresh.
        package var settle: Int64 = 200_000_000

        /// The shortest time between refreshes under continuous changes.
        package var interval: Int64 { settle * 5 }

        package init() {}
    }

    /// The kind: the widget's name in a container.
    package var kind: String
    /// The name for people.
    package var title: String
    /// The program: a path, or a name that is looked up in PATH.
    package var executable: String
    package var arguments: [String]
    /// The room for each display mode; at least for `compact`.
    package var rooms: [WidgetDisplayMode: Room]
    /// What concerns the widget; everything if the list is empty.
    package var interests: [WidgetInterest]
    package var refreshing: Refreshing
    /// The limit of the resident memory, in bytes; nil for no limit.
    package var memoryLimit: UInt64?
    /// The scheme of the URLs that the widget's app opens.
    package var urlScheme: String?

    package init(
        kind: String, title: String? = nil, executable: String, arguments: [String] = [],
        rooms: [WidgetDisplayMode: Room] = [.compact: Room()], interests: [WidgetInterest] = [],
        refreshing: Refreshing = .init(),
        memoryLimit: UInt64? = nil, urlScheme: String? = nil
    ) {
        self.kind = kind
        self.title = title ?? kind
        self.executable = executable
        self.arguments = arguments
        self.rooms = rooms
        self.interests = interests
        self.refreshing = refreshing
        self.memoryLimit = memoryLimit
        self.urlScheme = urlScheme
    }

    /// Returns whether the process of the other manifest would be the same.
    func startsLike(_ other: WidgetManifest) -> Bool {
        executable == other.executable && arguments == other.arguments && kind == other.kind
    }

    /// Returns the largest size for a mode, given the host's room.
    func maximum(_ mode: WidgetDisplayMode, of host: WidgetSize) -> WidgetSize {
        (rooms[mode]?.maximum ?? host).clipped(to: host)
    }

    /// Returns whether the widget may open a URL: the scheme is that of the widget's app, http or https, and all
    /// characters are visible ASCII. A view's text may come from anywhere.
    package func allows(_ url: String) -> Bool {
        guard let scheme = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first,
            scheme.count < url.count, url.utf8.allSatisfy({ 0x20 < $0 && $0 < 0x7F })
        else { return false }
        return [urlScheme?.lowercased(), "https", "http"].contains(scheme.lowercased())
    }
}
