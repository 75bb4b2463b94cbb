import GroupBytes
import GroupCluster
import GroupContainer
import GroupDigest
import GroupSystemCalls

/// The items of this machine's disk, as far as this program has seen them: `look(at:)` compares one path with the disk. An item
/// that was moved is found by its inode.
struct LocalDisk {
    /// What shows, without reading it, that a file is the one that was read.
    struct Mark: Equatable {
        var inode: UInt64
        var size: UInt64
        var modified: Int64
        var changed: Int64

        init(_ status: FileStatus) {
            (inode, size, modified, changed) = (status.inode, status.size, status.modified, status.changed)
        }

        /// The mark of a file or directory that is about to be read. While its dates are new, a later change may leave them as they are: they
        /// have the kernel's ticks, of up to 10 ms. The mark fits no file then, so that the file is read again at its next change.
        static func beforeReading(_ status: FileStatus) -> Mark {
            var mark = Mark(status)
            if !status.isLink, (wallNanoseconds() &- mark.changed).magnitude < 50_000_000 { mark.changed = -1 }
            return mark
        }

        init(_ stored: StoredLocal) {
            inode = stored.inode
            size = stored.size
            modified = stored.modified
            changed = stored.changed
        }

        /// The mark of a file that was made and not looked at since: no file has it.
        static let unknown = Mark(inode: 0, size: 0, modified: 0, changed: 0)

        init(inode: UInt64, size: UInt64, modified: Int64, changed: Int64) {
            (self.inode, self.size, self.modified, self.changed) = (inode, size, modified, changed)
        }
    }

    /// Files above this size are not mirrored.
    static let largestFile: UInt64 = 64 << 20

    private(set) var tree = LocalTree()
    private var marks: [LocalItem: Mark] = [:]
    private var byInode: [UInt64: LocalItem] = [:]
    private var last: UInt64 = 0
    /// Items that are in no cluster, and why.
    private(set) var unmirrored: [[UInt8]: String] = [:]
    /// Items that were not found at their place, and may turn up at another one.
    private var missing: Worklist<LocalItem> = .init()
    /// Items that differ from what the owner has stored, and those that it has not looked at yet.
    private var toStore: Set<LocalItem> = []
    private var changed: Worklist<LocalItem> = .init()
    private var isLookingAtAll = false
    private let root: Root

    /// The container's directory, shared by copies of this value.
    private final class Root: Sendable {
        let descriptor: FileDescriptor
        let device: UInt64
        init(_ descriptor: consuming FileDescriptor) throws(Errno) {
            device = try descriptor.status().device
            self.descriptor = descriptor
        }
    }

    init(_ container: Container) throws {
        root = try Root(try FileDescriptor.open(path: container.path.bytes, [.reading, .directory]))
    }

    /// Writes everything that was changed in the container's file system to the disk. System calls: syncfs(2)
    func synchronize() throws(Errno) { try root.descriptor.synchronizeFileSystem() }

    /// Writes the directory around an item to the disk, or the one that it was in.
    func synchronizeDirectory(of item: LocalItem) throws(Errno) {
        try open(directory: tree[item]?.parent ?? .root).synchronize()
    }

    // MARK: Paths

    /// Returns the path of an item, relative to the container.
    func path(of item: LocalItem) -> [UInt8] {
        let names = tree.ancestors(item).compactMap { tree[$0]?.name } + [tree[item]?.name ?? []]
        return Array(names.joined(separator: [UInt8(ascii: "/")]))
    }

    func path(_ name: FileName, in directory: LocalItem) -> [UInt8] {
        directory == .root ? name : path(of: directory) + [UInt8(ascii: "/")] + name
    }

    func item(at path: [UInt8]) -> LocalItem? {
        var place = LocalItem.root
        for name in path.split(separator: UInt8(ascii: "/")) {
            guard let next = tree.child(of: place, Array(name)) else { return nil }
            place = next
        }
        return place
    }

    /// Opens the directory of an item, so that no symbolic link leads out of the container.
    func open(directory item: LocalItem) throws(Errno) -> FileDescriptor {
        if item == .root {
            return try FileDescriptor.open([UInt8(ascii: ".")], in: root.descriptor, [.reading, .directory])
        }
        return try FileDescriptor.open(path(of: item), in: root.descriptor, [.reading, .directory])
    }

    func open(file item: LocalItem) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(path(of: item), in: root.descriptor, [.reading, .notFollowing, .nonBlocking])
    }

    /// Moves what stands in the directory of contents to a path.
    func move(_ name: [UInt8], of contents: ContentFiles, to path: [UInt8]) throws(CoordinationError) {
        do throws(Errno) {
            let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
            let directory = start == 0 ? [UInt8(ascii: ".")] : Array(path[..<(start - 1)])
            let goal = try FileDescriptor.open(directory, in: root.descriptor, [.reading, .directory])
            try contents.move(name, to: Array(path[start...]), in: goal)
        } catch {
            throw CoordinationError(error, operation: "move", item: printable(path))
        }
    }

    func mark(of item: LocalItem) -> Mark? { marks[item] }

    /// Whether an error says that an item was removed or moved meanwhile: also out of the container, or behind a symbolic link.
    static func isGone(_ error: Errno) -> Bool {
        [.noSuchEntry, .notADirectory, .tooManyLinks, .crossesDevices].contains(error)
    }

    // MARK: Looking

    /// Compares what stands at a path with what is known of it.
    mutating func look(at path: [UInt8]) throws {
        let names = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard let name = names.last else { return }
        unmirrored[path] = nil
        var parent = LocalItem.root
        var above: [UInt8] = []
        for name in names.dropLast() {
            above += (above.isEmpty ? [] : [UInt8(ascii: "/")]) + name
            // The directory is not known yet, or no more: its own change comes later, or has come. What is in one that is not
            // mirrored stays as it was seen.
            guard let next = tree.child(of: parent, name), tree.isDirectory(next), unmirrored[above] == nil else {
                return
            }
            parent = next
        }
        try look(at: name, in: parent, path)
    }

    /// Whether something stands at a path that is in no cluster.
    func isUnmirrored(_ path: [UInt8]) -> Bool { unmirrored[path] != nil }

    private mutating func look(at name: FileName, in parent: LocalItem, _ path: [UInt8]) throws {
        let known = tree.child(of: parent, name)
        let status: FileStatus
        do throws(Errno) {
            status = try self.status(of: path)
        } catch {
            if error == .accessDenied {
                unmirrored[path] = "this program may not look at it"
            } else if error == .nameTooLong {
                unmirrored[path] = Self.tooLong
            } else if Self.isGone(error) {
                // What a file system that is mounted above it hides is not gone.
                if let known, !isHidden(path) { missing.insert(known) }
            } else {
                throw error
            }
            return
        }
        guard let kind = kind(of: status, name, path) else {
            // As long as something stands there, what was mirrored before is not removed anywhere.
            if let known { missing.remove(known) }
            return
        }
        var item = known
        if let other = byInode[status.inode], other != known, tree[other]?.content.kind == kind,
            marks[other].map({ kind == .directory || $0.size == status.size && $0.modified == status.modified })
                == true,
            try !stands(other)
        {
            // The item was moved here.
            if tree.isWithin(parent, other) { return }
            if let known { displace(known) }
            put(other, LocalTree.Node(parent, name, tree[other]?.content ?? ItemContent(kind)))
            item = other
        } else if let known, tree[known]?.content.kind != kind {
            forget(known)
            item = nil
        }
        let mark = Mark(status)
        if let item, let node = tree[item], marks[item] == mark, node.content.mode == Self.mode(status, kind) {
            missing.remove(item)
            return
        }
        let markRead = Mark.beforeReading(status)
        guard let content = try content(of: path, status, kind) else { return }
        let found = item ?? newItem()
        missing.remove(found)
        set(found, markRead)
        put(found, LocalTree.Node(parent, name, content))
        if kind == .directory && !isLookingAtAll {
            // What is in a directory that was moved in, or was not mirrored before, has no changes of its own; and what was
            // changed in it before it was moved was looked for at its old place.
            try lookAtAll(within: found, path)
        }
    }

    /// Notes the content of a file that was read since it was looked at.
    mutating func note(_ digest: [UInt8], _ status: FileStatus, of item: LocalItem) {
        guard let node = tree[item] else { return }
        var mark = Mark(status)
        // It may have been changed while it was read.
        mark.changed = -1
        set(item, mark)
        put(item, LocalTree.Node(node.parent, node.name, ItemContent(.file, mode: Self.mode(status, .file), digest)))
    }

    /// Notes that the content of a file is not known any more, so that whatever is read of it next counts as a change.
    mutating func noteUnknown(_ item: LocalItem) {
        guard let node = tree[item], node.content.kind == .file else { return }
        set(item, .unknown)
        tree.put(item, LocalTree.Node(node.parent, node.name, ItemContent(.file, mode: node.content.mode)))
    }

    /// Ends a round of `look`: what was not found anywhere is gone.
    mutating func endRound() {
        while let item = missing.removeFirst() { if tree[item] != nil { forget(item) } }
    }

    /// Returns whether an item is still where it was last seen.
    private func stands(_ item: LocalItem) throws(Errno) -> Bool {
        guard let mark = marks[item], tree[item]?.name.first != 0 else { return false }
        do throws(Errno) {
            return try status(of: path(of: item)).inode == mark.inode
        } catch {
            if Self.isGone(error) || error == .nameTooLong { return false }
            if error == .accessDenied { return true }
            throw error
        }
    }

    private static let tooLong = "its path is too long"

    /// Returns whether a directory above a path is on another file system.
    private func isHidden(_ path: [UInt8]) -> Bool {
        path.indices.contains { place in
            guard path[place] == UInt8(ascii: "/"), let above = try? status(of: Array(path[..<place])) else {
                return false
            }
            return above.device != root.device
        }
    }

    private func status(of path: [UInt8]) throws(Errno) -> FileStatus {
        try FileDescriptor.open(path, in: root.descriptor, [.placeOnly, .notFollowing]).status()
    }

    static func mode(_ status: FileStatus, _ kind: ItemContent.Kind) -> UInt16 {
        switch kind {
        case .file: UInt16(status.permissions & 0o777)
        case .directory: 0o755
        case .link: 0o777
        }
    }

    /// Returns what an item is in the cluster; nil, with the reason noted, for what is not mirrored.
    private mutating func kind(of status: FileStatus, _ name: FileName, _ path: [UInt8]) -> ItemContent.Kind? {
        if name.starts(with: ".group".utf8) { return nil }
        var reason: String?
        var kind: ItemContent.Kind?
        if !FileNames.isValid(name) {
            reason = "its name is not allowed"
        } else if path.count(where: { $0 == UInt8(ascii: "/") }) >= ClusterEntry.mostAncestors {
            reason = "it is too deep"
        } else if status.isDirectory {
            if status.device != root.device {
                reason = "it is on another file system"
            } else if isContainer(path) {
                reason = "it is another container"
            } else {
                kind = .directory
            }
        } else if status.isLink {
            kind = .link
        } else if !status.isRegularFile {
            reason = "it is neither a file nor a directory nor a symbolic link"
        } else if status.size > Self.largestFile {
            reason = "it is larger than 64 MiB"
        } else {
            kind = .file
        }
        unmirrored[path] = reason
        return kind
    }

    private func isContainer(_ path: [UInt8]) -> Bool {
        (try? self.status(of: path + Array("/.group".utf8)))?.isDirectory == true
    }

    private mutating func content(of path: [UInt8], _ status: FileStatus, _ kind: ItemContent.Kind) throws
        -> ItemContent?
    {
        do throws(Errno) {
            switch kind {
            case .directory: return ItemContent(.directory, mode: 0o755)
            case .link:
                let slash = path.lastIndex(of: UInt8(ascii: "/"))
                let directory = slash.map { Array(path[..<$0]) } ?? [UInt8(ascii: ".")]
                let target = try FileDescriptor.open(directory, in: root.descriptor, [.reading, .directory]).linkTarget(
                    of: slash.map { Array(path[($0 + 1)...]) } ?? path)
                if target.count >= 4096 {
                    unmirrored[path] = "its target is too long"
                    return nil
                }
                return ItemContent(.link, mode: 0o777, target)
            case .file:
                let file = try FileDescriptor.open(path, in: root.descriptor, [.reading, .notFollowing, .nonBlocking])
                guard let digest = try SHA256.digest(of: file) else {
                    unmirrored[path] = "its SHA-256 cannot be computed"
                    return nil
                }
                return ItemContent(.file, mode: Self.mode(status, .file), digest)
            }
        } catch {
            // Gone since, or another item has its name: that is a change of its own.
            if Self.isGone(error) || kind == .link && error == .invalid { return nil }
            if kind == .file && [.isADirectory, .noSuchDevice, .illegalSeek, .invalid].contains(error) { return nil }
            if error == .inputOutput {
                unmirrored[path] = "it cannot be read: \(error)"
                return nil
            }
            if error == .accessDenied || error == .notPermitted {
                unmirrored[path] = "this program may not read it"
                return nil
            }
            if error == .nameTooLong {
                unmirrored[path] = Self.tooLong
                return nil
            }
            throw error
        }
    }

    // MARK: Changing

    /// Returns a number for an item that is new.
    mutating func newItem() -> LocalItem {
        last += 1
        return LocalItem(last)
    }

    /// Puts an item, which this program has made or moved itself, at its place.
    mutating func put(_ item: LocalItem, _ node: LocalTree.Node) {
        if let other = tree.child(of: node.parent, node.name), other != item { forget(other) }
        if tree[item] != node {
            tree.put(item, node)
            changed.insert(item)
        }
        toStore.insert(item)
    }

    /// Puts an item that this program has just made. Its file is read at the next look: another process may have replaced it.
    mutating func putMade(_ item: LocalItem, _ node: LocalTree.Node) {
        set(item, .unknown)
        put(item, node)
    }

    /// Lets an item be found by its place only, until it is looked at again.
    mutating func forgetMark(of item: LocalItem) { set(item, .unknown) }

    /// Removes an item that is gone, with everything below it.
    mutating func forget(_ item: LocalItem) {
        for item in tree.descendants(of: item).reversed() + [item] {
            if let mark = marks.removeValue(forKey: item), byInode[mark.inode] == item { byInode[mark.inode] = nil }
            missing.remove(item)
            tree.put(item, nil)
            changed.insert(item)
            toStore.insert(item)
        }
    }

    /// Takes an item from its place, where another one is now, until it is found or the round ends.
    private mutating func displace(_ item: LocalItem) {
        guard var node = tree[item] else { return }
        // No file has such a name.
        node.name = [0] + Array("\(item.number)".utf8)
        tree.put(item, node)
        changed.insert(item)
        missing.insert(item)
    }

    private mutating func set(_ item: LocalItem, _ mark: Mark) {
        if let old = marks[item], old.inode != mark.inode, byInode[old.inode] == item { byInode[old.inode] = nil }
        marks[item] = mark
        if mark.inode != 0 { byInode[mark.inode] = item }
        toStore.insert(item)
    }

    /// Returns the items that have changed since the last call.
    mutating func takeChanged() -> [LocalItem] {
        defer { changed = .init() }
        return changed.elements
    }

    // MARK: The whole disk

    /// Looks at everything: after a place in the journal was lost, and at first.
    mutating func lookAtAll() throws {
        isLookingAtAll = true
        defer { isLookingAtAll = false }
        var seen: Set<LocalItem> = []
        try lookAtAll(below: .root, [], &seen)
        for item in Array(tree.nodes.keys) where !seen.contains(item) && tree[item] != nil { missing.insert(item) }
        endRound()
    }

    /// Looks at everything in a directory.
    private mutating func lookAtAll(within directory: LocalItem, _ path: [UInt8]) throws {
        isLookingAtAll = true
        defer { isLookingAtAll = false }
        var seen: Set<LocalItem> = []
        try lookAtAll(below: directory, path, &seen)
        for item in tree.descendants(of: directory) where !seen.contains(item) { missing.insert(item) }
    }

    private mutating func lookAtAll(below directory: LocalItem, _ path: [UInt8], _ seen: inout Set<LocalItem>) throws {
        let names: [[UInt8]]
        do throws(Errno) {
            names = try open(directory: directory).entryNames()
        } catch {
            if directory == .root { throw error }
            // What cannot be seen is not gone.
            seen.formUnion(tree.descendants(of: directory))
            if error == .accessDenied { unmirrored[path] = "this program may not read it" }
            return
        }
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if directory == .root && name == Array(".group".utf8) { continue }
            let child = path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
            try look(at: name, in: directory, child)
            guard let item = tree.child(of: directory, name) else { continue }
            seen.insert(item)
            if isUnmirrored(child) {
                seen.formUnion(tree.descendants(of: item))
            } else if tree.isDirectory(item) {
                try lookAtAll(below: item, child, &seen)
            }
        }
    }

    // MARK: Storing

    /// Hands the rows that have changed to `body`; nil for an item that is gone.
    mutating func store(_ body: (_ key: [UInt8], _ value: [UInt8]?) throws -> Void) throws {
        for item in toStore {
            guard let node = tree[item], let mark = marks[item] else {
                try body(item.bytes, nil)
                continue
            }
            let stored = StoredLocal(
                inode: mark.inode, size: mark.size, modified: mark.modified, changed: mark.changed, node)
            try body(item.bytes, stored.bytes)
        }
        toStore = []
    }

    /// Takes what the last run has stored.
    mutating func load(_ state: LoadedState) {
        tree = state.tree
        for (item, stored) in state.local { set(item, Mark(stored)) }
        last = state.lastLocal
        toStore = []
    }

    var hasUnstored: Bool { !toStore.isEmpty }

    /// The last number that was given, so that no number is given twice.
    var lastNumber: UInt64 { last }
}
