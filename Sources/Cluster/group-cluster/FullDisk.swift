import FoundationEssentials
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// The work for which this machine's disk has no room, and the time of the next try. Used by the machine's thread.
///
/// Work that concerns one item, one suite or one channel waits, and everything else goes on. If the state or a record
/// cannot be stored, the machine is discarded and made anew (see `join`), since its memory is ahead of what is stored.
/// This object, with its pauses, outlives the machine.
///
///     room ── no space for some work ──▶ lacking ── the work is done, or no longer wanted ──▶ room
///                                         │    ▲
///                                         └────┘ a try after each pause
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
        /// Keeping the content of an item that is about to be sent.
        case sent(LocalItem)
        /// Putting back a file that came out of the container.
        case takenOut([UInt8])
    }

    private(set) var lacking: Set<Work> = []
    private var since: Date?
    private var reason = ""
    /// The last time without room: when it began and ended.
    private var last: (since: Date, end: Int64)?
    private var backoff = Backoff.room
    /// The size of the smallest content that had no room since the last pause.
    private var smallest = UInt64.max
    private var mayFree = false
    private var isNews = false
    /// Whether the file of `FullDiskNote` has the failure.
    var hasNote = false

    /// If the disk is full again within this time, in nanoseconds, the failure keeps its first date.
    private static let shortest: Int64 = 60_000_000_000

    /// Returns whether an error means that the disk has no room, or that a quota is used up.
    static func isFull(_ error: any Error) -> Bool {
        switch error {
        case let error as CoordinationError: error.code == .noSpace
        case let error as Errno: [.noSpace, .quotaExceeded].contains(error)
        default: false
        }
    }

    /// Notes that there was no room for some work. `size` is the size of the content, if it is known.
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

    /// Notes that work is done, or is no longer wanted.
    func ended(_ work: Work) { lacking.remove(work) }

    /// Forgets the lacking work for which `isWanted` returns false.
    func keep(_ isWanted: (Work) -> Bool) {
        if !lacking.isEmpty { lacking = lacking.filter(isWanted) }
    }

    /// Ends a round. Returns whether the disk was full until now.
    func endRound() -> Bool {
        guard let since, lacking.isEmpty else { return false }
        last = (since, monotonicNanoseconds())
        self.since = nil
        smallest = .max
        return true
    }

    /// Whether some work lacks room.
    var isFull: Bool { since != nil }

    /// The time of the next try.
    var next: Int64 { backoff.next }

    /// Returns whether some work may be tried now.
    func mayTry(_ work: Work) -> Bool { !lacking.contains(work) || next <= monotonicNanoseconds() }

    /// Returns whether a content may have room: since the last pause, only larger ones had none.
    func mayFit(_ size: UInt64) -> Bool { size < smallest || next <= monotonicNanoseconds() }

    /// Returns the failure, once, after the disk has become full.
    func takeNews() -> String? {
        defer { isNews = false }
        return isNews ? failure : nil
    }

    /// Returns true once in each pause: the files that nothing needs are then removed.
    func takeMayFree() -> Bool {
        defer { mayFree = false }
        return mayFree
    }

    /// The failure that the status shows; nil while there is room.
    var failure: String? {
        since.map { "no space on the disk since \($0.formatted(.iso8601)): \(reason); it goes on when there is room" }
    }
}

/// A failure in a file that is allocated beforehand, so that it can be written to a full disk. `group-cluster status`
/// shows it in place of a status that could not be recorded.
struct FullDiskNote {
    private static let name = Array("full".utf8)
    private static let size = 4_096
    private let container: Container

    init(_ container: Container) { self.container = container }

    private func directory() throws -> FileDescriptor {
        try PrivateDirectory(StateDirectory.name, in: container).open()
    }

    /// Allocates the file if it is missing and there is room. Removes the text of a program that was killed.
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

    /// The text; nil if there is none, or if this user may not read it.
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
