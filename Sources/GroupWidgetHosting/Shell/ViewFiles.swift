import GroupSystemCalls

/// What each widget showed last, a file each beside the user's list. It is only a copy of what the widget can say
/// again: nothing waits for the disk, and one that cannot be read or written is as good as none.
struct ViewFiles: Sendable {
    /// Nil: the user has no directory.
    let directory: String?

    private static let version = 1
    /// Of a file: a timeline comes in one line of the protocol, and little stands around it.
    private static let largest = ProtocolLine.largest + 65_536

    private struct Stored: Codable {
        var version: Int
        var timeline: Timeline<WidgetView>
        var renderedAt: Int64
        var environment: WidgetEnvironment
    }

    func read(_ kind: String) -> LastView? {
        guard let directory,
            let file = try? FileDescriptor.open(
                path: Array("\(directory)/\(kind).json".utf8), [.reading, .nonBlocking]),
            let content = try? file.readAll(limit: Self.largest)
        else { return nil }
        return Self.decoded(content)
    }

    /// Nil: it is none, or a newer one.
    static func decoded(_ content: [UInt8]) -> LastView? {
        guard content.count < largest, let stored = ProtocolLine.decoded(Stored.self, from: content, largest: largest),
            stored.version == version
        else { return nil }
        return LastView(stored.timeline, renderedAt: stored.renderedAt, for: stored.environment)
    }

    func write(_ view: LastView, _ kind: String) throws(Errno) {
        let stored = Stored(
            version: Self.version, timeline: view.timeline, renderedAt: view.renderedAt, environment: view.environment)
        guard let directory, let content = ProtocolLine.encoded(stored) else { return }
        try UserFile.replace("\(kind).json", in: directory, by: content + [0x0A], isSynchronized: false)
    }
}
