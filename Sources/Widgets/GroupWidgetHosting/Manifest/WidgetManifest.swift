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

    /// Returns a URL of a view as it is opened, with all that is not ASCII percent-encoded; nil where the widget may not
    /// open it. The scheme is that of the widget's app, http or https. A view's text may come from anywhere: the name of
    /// a host on the web is in ASCII, as letters of other alphabets look like others, and nothing is a space or a
    /// control character. (RFC 3987, 3.1)
    package func urlToOpen(_ url: String) -> String? {
        let bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return nil
        }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let isWeb = ["https", "http"].contains(scheme)
        guard isWeb || scheme == urlScheme?.lowercased() else { return nil }
        let host = bytes[(colon + 1)...].drop { $0 == UInt8(ascii: "/") }.prefix { !"/?#".utf8.contains($0) }
        if isWeb && host.contains(where: { $0 >= 0x80 }) { return nil }
        let digits = Array("0123456789ABCDEF".utf8)
        let encoded = bytes.flatMap { byte in
            byte < 0x80 ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
