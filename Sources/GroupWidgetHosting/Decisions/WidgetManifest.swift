/// What a host knows of a widget before it has started it.
package struct WidgetManifest: Hashable, Sendable {
    /// How much room one display mode takes.
    package struct Room: Hashable, Sendable {
        /// Never more, whatever the host could give.
        package var maximum: WidgetSize?
        /// Unless its view says otherwise.
        package var preferred: WidgetSize?

        package init(maximum: WidgetSize? = nil, preferred: WidgetSize? = nil) {
            (self.maximum, self.preferred) = (maximum, preferred)
        }
    }

    /// When it is refreshed. Times in nanoseconds.
    package struct Refreshing: Hashable, Sendable {
        /// What nobody's looking costs.
        package var limit = RefreshBudget.Limit()
        /// For one answer.
        package var deadline: Int64 = 10_000_000_000
        /// From a change to the refresh, so that those that come together cost one.
        package var settle: Int64 = 200_000_000

        /// From one refresh to the next, where changes come without end.
        package var interval: Int64 { settle * 5 }

        package init() {}
    }

    /// What a container calls it.
    package var kind: String
    /// What people call it.
    package var title: String
    /// A path, or a name that is looked up in PATH.
    package var executable: String
    package var arguments: [String]
    /// At least `compact`.
    package var rooms: [DisplayMode: Room]
    /// Every item, if there are none.
    package var interests: [Interest]
    package var refreshing: Refreshing
    /// Of its resident memory, in bytes; nil: none.
    package var memoryLimit: UInt64?
    /// Of the addresses that its app opens.
    package var urlScheme: String?

    package init(
        kind: String, title: String? = nil, executable: String, arguments: [String] = [],
        rooms: [DisplayMode: Room] = [.compact: Room()], interests: [Interest] = [], refreshing: Refreshing = .init(),
        memoryLimit: UInt64? = nil, urlScheme: String? = nil
    ) {
        (self.kind, self.title, self.executable, self.arguments) = (kind, title ?? kind, executable, arguments)
        (self.rooms, self.interests, self.refreshing) = (rooms, interests, refreshing)
        (self.memoryLimit, self.urlScheme) = (memoryLimit, urlScheme)
    }

    /// Another process would come of it.
    func startsLike(_ other: WidgetManifest) -> Bool {
        executable == other.executable && arguments == other.arguments && kind == other.kind
    }

    /// The room that there is at most, if a host has that much.
    func maximum(_ mode: DisplayMode, of host: WidgetSize) -> WidgetSize {
        (rooms[mode]?.maximum ?? host).clipped(to: host)
    }

    /// Where a link may lead: to its app, or into the web. Nowhere else: a view's text may come from anywhere.
    package func allows(_ url: String) -> Bool {
        guard let scheme = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first,
            scheme.count < url.count, url.utf8.allSatisfy({ 0x20 < $0 && $0 < 0x7F })
        else { return false }
        return [urlScheme?.lowercased(), "https", "http"].contains(scheme.lowercased())
    }
}
