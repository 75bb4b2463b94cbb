package import GroupSystemCalls

/// A tree of files in memory that behaves as the kernel does, and makes for each change the events that inotify(7)
/// would make, so that the code that decides about events can be tested without a disk, a clock or another process.
///
/// Not simulated: permissions, quotas, several mounts, files that are held open, and hard links' events (none).
package struct SimulatedTree: Sendable {
    /// What stat(2) returns, and the content.
    package struct Node: Equatable, Sendable {
        package enum Kind: Equatable, Sendable { case file, directory, link, fifo, socket }
        package var kind: Kind
        package var mode: UInt32
        package var owner: UInt32 = 0
        package var links = 1
        /// The modification date, by the simulation's clock.
        package var modified: Int64
        package var changed: Int64
        /// A file's content, or a symbolic link's target.
        package var content: [UInt8] = []
        /// A directory's entries.
        package internal(set) var entries: [[UInt8]: UInt64] = [:]
        var parent: UInt64 = 0
    }

    /// The most events that wait for their reader; after that there is one overflow, and no other event.
    package var queueLimit = 16_384
    /// Whether a new file gets the number that was freed last, as on ext4; otherwise each gets a new one, as on tmpfs.
    package var reusesInodes = false

    private(set) var nodes: [UInt64: Node] = [:]
    private var freed: [UInt64] = []
    private var newest: UInt64 = 3
    private var clock: Int64 = 1_000
    private var cookies: UInt32 = 0
    private var queue: [InotifyEvent] = []
    private var watches: [Int32: UInt64] = [:]
    private var lastWatch: Int32 = 0

    /// The directory around the container, and the container.
    static let outside: UInt64 = 1
    static let container: UInt64 = 2

    package init() {
        nodes[Self.outside] = Node(kind: .directory, mode: 0o755, modified: 0, changed: 0)
        nodes[Self.container] = Node(kind: .directory, mode: 0o755, modified: 0, changed: 0, parent: Self.outside)
        nodes[Self.outside]?.entries[Array("container".utf8)] = Self.container
        nodes[Self.container]?.entries[Array(".group".utf8)] = 3
        nodes[3] = Node(kind: .directory, mode: 0o700, modified: 0, changed: 0, parent: Self.container)
    }

    mutating func tick() -> Int64 {
        clock += 1
        return clock
    }

    mutating func tick(to time: Int64) { clock = max(clock, time) }

    // MARK: Nodes

    subscript(_ inode: UInt64) -> Node? {
        get { nodes[inode] }
        set { nodes[inode] = newValue }
    }

    mutating func makeNode(_ kind: Node.Kind, content: [UInt8] = []) -> UInt64 {
        let inode = reusesInodes ? freed.popLast() ?? newest + 1 : newest + 1
        newest = max(newest, inode)
        let now = tick()
        let mode: UInt32 = kind == .directory ? 0o755 : kind == .link ? 0o777 : 0o644
        nodes[inode] = Node(kind: kind, mode: mode, modified: now, changed: now, content: content)
        return inode
    }

    /// Removes one name; an inode without a name is gone, and so is the watch on it.
    mutating func drop(_ inode: UInt64) {
        guard var node = nodes[inode] else { return }
        node.links -= 1
        node.changed = tick()
        nodes[inode] = node.links == 0 ? nil : node
        guard node.links == 0 else { return }
        freed.append(inode)
        if let watch = watches.first(where: { $0.value == inode })?.key {
            report(InotifyEvent(watch: watch, kinds: .watchedRemoved))
            unwatch(watch)
        }
    }

    // MARK: Watches and events

    /// Watches a directory, as `InotifyQueue.watch` does: a directory that is watched already keeps its number.
    package mutating func watch(_ path: [UInt8]) throws(Errno) -> Int32 {
        guard let inode = try resolve(path, following: false), nodes[inode]?.kind == .directory else {
            throw .notADirectory
        }
        if let old = watches.first(where: { $0.value == inode })?.key { return old }
        lastWatch += 1
        watches[lastWatch] = inode
        return lastWatch
    }

    package mutating func unwatch(_ watch: Int32) {
        if watches.removeValue(forKey: watch) != nil { report(InotifyEvent(watch: watch, kinds: .ignored)) }
    }

    /// Returns everything that is to be read, or at most this many events.
    package mutating func drain(atMost limit: Int = .max) -> [InotifyEvent] {
        let taken = Array(queue.prefix(limit))
        queue.removeFirst(taken.count)
        return taken
    }

    mutating func nextCookie() -> UInt32 {
        cookies += 1
        return cookies
    }

    /// Makes an event of a directory's entry, if the directory is watched.
    mutating func report(in directory: UInt64, _ name: [UInt8], _ kinds: InotifyEvent.Kinds, cookie: UInt32 = 0) {
        if let watch = watches.first(where: { $0.value == directory })?.key {
            report(InotifyEvent(watch: watch, kinds: kinds, cookie: cookie, name: name))
        }
    }

    /// Makes an event of an item itself, if it is watched.
    mutating func report(of inode: UInt64, _ kinds: InotifyEvent.Kinds) { report(in: inode, [], kinds) }

    private mutating func report(_ event: InotifyEvent) {
        // The kernel leaves out an event that repeats the last one.
        if let last = queue.last, (last.watch, last.kinds, last.name) == (event.watch, event.kinds, event.name),
            !event.kinds.contains(.ignored)
        {
            return
        }
        if queue.count < queueLimit {
            queue.append(event)
        } else if queue.last?.kinds.contains(.overflow) != true {
            queue.append(InotifyEvent(watch: -1, kinds: .overflow))
        }
    }
}
