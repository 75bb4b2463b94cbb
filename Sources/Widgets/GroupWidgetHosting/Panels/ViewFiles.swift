import GroupProtocolLines
import GroupSystemCalls

/// The last view of each widget, in one file each beside the user's list. The files are only copies of what the widgets
/// can deliver again: writing does not wait for the disk, and a file that cannot be read or written counts as none.
struct ViewFiles: Sendable {
    /// The directory; nil if the user has none.
    let directory: String?

    private static let version = 1
    /// The largest size of a file: a timeline comes in one line of the protocol, and the file has little more.
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

    /// Decodes a file's content; nil if it is damaged or of another version.
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
