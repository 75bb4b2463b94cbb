import FoundationEssentials
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// What this machine cannot do for want of room on its disk, since when, and when that is tried again. Used by the one
/// thread of the machine's state.
///
/// Work that concerns one item, the values or the messages waits, and everything else goes on. Where the state or a
/// record cannot be stored, the machine is given up (see `join`): what is in memory is ahead of what is stored then.
/// This object outlives the machine, and so do its pauses.
///
///     room ── an error without room ──▶ lacking ── the work is done, or is not wanted any more ──▶ room
///                                        │    ▲
///                                        └────┘ a try after each pause
final class FullDisk {
    enum Work: Hashable {
        /// Storing the state, or a record.
        case state
        /// Recording the status.
        case status
        /// Setting the values of a suite.
        case values(String)
        /// Appending the messages of a channel.
        case messages([UInt8])
        /// Applying an item of the cluster.
        case item(ItemName)
        /// Sending an item of the disk, whose content is kept before.
        case sent(LocalItem)
        /// Putting back a file that came out of the container.
        case takenOut([UInt8])
    }

    private(set) var lacking: Set<Work> = []
    private var since: Date?
    private var reason = ""
    /// When the disk was full last, and since when it had been.
    private var last: (since: Date, end: Int64)?
    private var backoff = Backoff.room
    /// The smallest content that had no room since the last pause.
    private var smallest = UInt64.max
    private var mayFree = false
    private var isNews = false
    /// Whether `FullDiskNote` has the failure.
    var hasNote = false

    /// A disk that is full again after a shorter time was full all the time.
    private static let shortest: Int64 = 60_000_000_000

    /// Returns whether an error says that there is no room on the disk, or none left of a quota.
    static func isFull(_ error: any Error) -> Bool {
        switch error {
        case let error as CoordinationError: error.code == .noSpace
        case let error as Errno: [.noSpace, .quotaExceeded].contains(error)
        default: false
        }
    }

    /// Notes that there was no room for some work; `size` is that of the content, where it is known.
    func failed(_ work: Work, _ error: any Error, size: UInt64 = .max) {
        let now = monotonicNanoseconds()
        if since == nil {
            since = last.flatMap { now - $0.end < Self.shortest ? $0.since : nil } ?? Date()
            reason = (error as? CoordinationError)?.description(advising: nil) ?? "\(error)"
            isNews = true
        }
        lacking.insert(work)
        if backoff.failed(at: now) { (smallest, mayFree) = (size, true) }
        smallest = min(smallest, size)
    }

    /// Notes that work is done, or not wanted any more.
    func ended(_ work: Work) { lacking.remove(work) }

    /// Keeps of the work that lacks room what `isWanted` accepts.
    func keep(_ isWanted: (Work) -> Bool) {
        if !lacking.isEmpty { lacking = lacking.filter(isWanted) }
    }

    /// Notes the end of a round. Returns whether the disk was full until now.
    func endRound() -> Bool {
        guard let since, lacking.isEmpty else { return false }
        last = (since, monotonicNanoseconds())
        self.since = nil
        smallest = .max
        return true
    }

    /// Whether something lacks room.
    var isFull: Bool { since != nil }

    /// When what lacks room is tried again.
    var next: Int64 { backoff.next }

    /// Whether some work may be tried now.
    func mayTry(_ work: Work) -> Bool { !lacking.contains(work) || next <= monotonicNanoseconds() }

    /// Whether a content may have room: no smaller one had none since the last pause.
    func mayFit(_ size: UInt64) -> Bool { size < smallest || next <= monotonicNanoseconds() }

    /// Returns the failure, once, where the disk has become full.
    func takeNews() -> String? {
        defer { isNews = false }
        return isNews ? failure : nil
    }

    /// Returns, once in each pause, that what nothing needs is to be removed.
    func takeMayFree() -> Bool {
        defer { mayFree = false }
        return mayFree
    }

    /// What the status states; nil where there is room.
    var failure: String? {
        since.map { "no space on the disk since \($0.formatted(.iso8601)): \(reason); it goes on when there is room" }
    }
}

/// A text that is there also where the disk has no room for a record: a file that has its room already.
///
/// `group-cluster status` shows it in place of a status that could not be recorded.
struct FullDiskNote {
    private static let name = Array("full".utf8)
    private static let size = 4_096
    private let container: Container

    init(_ container: Container) { self.container = container }

    private func directory() throws -> FileDescriptor {
        try PrivateDirectory(StateDirectory.name, in: container).open()
    }

    /// Makes the file where it is missing and there is room, and removes the text of a program that was killed.
    func prepare(hasText: Bool) {
        if !hasText && text != nil { set(nil) }
        guard let directory = try? directory(),
            (try? directory.statusIfPresent(of: Self.name))??.size != UInt64(Self.size)
        else { return }
        do {
            let file = try FileDescriptor.createAnew(Self.name, in: directory)
            file.avoidCopyOnWrite()
            try file.allocate(Self.size)
        } catch {
            try? directory.unlink(Self.name)
        }
    }

    /// The text; nil where there is none, or this user may not read it. Set to nil to remove it.
    var text: String? {
        guard let directory = try? directory(),
            let file = try? FileDescriptor.open(Self.name, in: directory, [.reading, .notFollowing]),
            let content = try? file.read(at: 0, count: Self.size)
        else { return nil }
        let text = content.prefix { $0 != 0 }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    func set(_ text: String?) {
        let bytes = Array((text ?? "").utf8.prefix(Self.size))
        guard let directory = try? directory(),
            let file = try? FileDescriptor.open(Self.name, in: directory, [.writing, .notFollowing])
        else { return }
        try? file.overwrite(bytes + [UInt8](repeating: 0, count: Self.size - bytes.count))
    }
}
