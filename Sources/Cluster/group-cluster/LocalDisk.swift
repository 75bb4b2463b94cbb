import GroupBytes
import GroupCluster
import GroupContainer
import GroupDigest
import GroupSystemCalls

/// The items of the disk as this program has last seen them. `look(at:)` compares a path with the disk, and notes the
/// differences. An item that was moved is recognized by its inode.
///
/// The journal is not trusted: a change there only shows where to look. The content of a file counts as known while
/// inode, size and dates are those that it had when it was read (`Mark`).
///
///     seen ── not at its path ──▶ missing ── found by its inode ──▶ seen, moved
///                                       └── certainly gone (`MissingItems`) ──▶ forgotten: a removal
struct LocalDisk {
    /// The largest size of a file that is mirrored, in bytes.
    static let largestFile: UInt64 = 64 << 20

    private(set) var tree = LocalTree()
    /// The mark of each item, and below the item of each inode.
    private var marks: [LocalItem: Mark] = [:]
    private var byInode: [UInt64: LocalItem] = [:]
    private var last: UInt64 = 0
    /// The paths of items that are in no cluster, with the reasons.
    private(set) var unmirrored: [[UInt8]: String] = [:]
    /// What the files `.groupignore` keep out of the cluster.
    private(set) var ignored = IgnoredItems()
    /// Items that were not found at their paths, and may turn up at another one.
    private(set) var missing = MissingItems()
    /// Items that were found at a path at which the journal does not have them: it has not come that far, or never does,
    /// as two renames may have one record. They may be at another path by now.
    private(set) var ahead: Set<LocalItem> = []
    /// Items that differ from what is stored (`toStore`), and items that `takeChanged` has yet to return (`changed`).
    private var toStore: Set<LocalItem> = []
    private var changed: Worklist<LocalItem> = .init()
    /// Items that have changed, and may be elsewhere.
    private var held: Set<LocalItem> = []
    /// Files that have become too large to be mirrored, to be returned by `takeWithdrawn`.
    private var withdrawn: [LocalItem] = []
    private var isLookingAtAll = false
    let root: ContainerRoot

    init(_ container: Container) throws {
        root = try ContainerRoot(try FileDescriptor.open(path: container.path.bytes, [.reading, .directory]))
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
        var item = LocalItem.root
        for name in path.split(separator: UInt8(ascii: "/")) {
            guard let next = tree.child(of: item, Array(name)) else { return nil }
            item = next
        }
        return item
    }

    func mark(of item: LocalItem) -> Mark? { marks[item] }

    // MARK: Looking

    /// Compares what is at a path with what is known of it.
    mutating func look(at path: [UInt8]) throws {
        let names = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard let name = names.last else { return }
        unmirrored[path] = nil
        var parent = LocalItem.root
        var above: [UInt8] = []
        for name in names.dropLast() {
            above += (above.isEmpty ? [] : [UInt8(ascii: "/")]) + name
            // A directory on the path is unknown, or known no more: its own change is about to come, or has come. Items
            // in a directory that is not mirrored stay as they were last seen.
            guard let next = tree.child(of: parent, name), tree.isDirectory(next), unmirrored[above] == nil else {
                return
            }
            parent = next
        }
        try look(at: name, in: parent, path)
    }

    /// Returns whether something is at a path that is in no cluster.
    func isUnmirrored(_ path: [UInt8]) -> Bool { unmirrored[path] != nil }

    private mutating func look(
        at name: FileName, in parent: LocalItem, _ path: [UInt8], ignoring: Bool = true
    ) throws {
        let known = tree.child(of: parent, name)
        ignored.remove(name, in: parent)
        if name == FileNames.ignoreFile { ignored.noteChangedRules(in: parent, isLookingAtAll: isLookingAtAll) }
        let status: FileStatus
        do throws(Errno) {
            status = try self.status(of: path)
        } catch {
            if error == .accessDenied {
                unmirrored[path] = "this program may not look at it"
            } else if error == .nameTooLong {
                unmirrored[path] = Self.tooLong
            } else if Self.isGone(error) {
                // A mounted file system hides the item. A hidden item is not gone.
                if let known, !root.isHidden(path) { missing.insert(known) }
            } else {
                throw error
            }
            return
        }
        // What is mirrored already stays so, also where a pattern for it is new.
        let isIgnored =
            try ignoring && known == nil && isIgnored(name, in: parent, path, isDirectory: status.isDirectory)
        if isIgnored && byInode[status.inode] == nil { return ignored.insert(name, in: parent) }
        guard let kind = kind(of: status, name, path) else {
            // An item that was mirrored before is not removed on other machines while anything is at its path; but of a
            // file that has become too large they have only the beginning, or what was there before.
            if let known {
                missing.remove(known)
                if status.isRegularFile && status.size > Self.largestFile { withdraw(known) }
            }
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
        } else if let known, tree[known]?.content.kind != kind || kind == .directory && isOther(known, status) {
            displace(known)
            item = nil
        }
        if isIgnored && item == nil { return ignored.insert(name, in: parent) }
        let mark = Mark(status)
        // What is in a directory that was missing, or was moved, was perhaps looked for elsewhere meanwhile.
        let wasElsewhere = kind == .directory && (item.map { $0 != known || missing.contains($0) } ?? false)
        if let item, let node = tree[item], marks[item] == mark, node.content.mode == Self.mode(status, kind),
            !wasElsewhere
        {
            missing.remove(item)
            return
        }
        let markRead = Mark.beforeReading(status)
        guard let content = try content(of: path, status, kind) else { return }
        let found = item ?? newItem()
        missing.remove(found)
        set(found, markRead)
        put(found, LocalTree.Node(parent, name, content))
        if found != known { ahead.insert(found) }
        if kind == .directory && !isLookingAtAll {
            // A directory that was moved in, or was not mirrored before, comes with items that have no changes of their
            // own. Changes in it from before the move were looked for at the old path.
            try lookAtAll(within: found, path)
        }
    }

    /// Notes the content of a file that was read after the last look.
    mutating func note(_ digest: [UInt8], _ status: FileStatus, of item: LocalItem) {
        guard let node = tree[item] else { return }
        var mark = Mark(status)
        // The file may have been changed while it was read.
        mark.changed = -1
        set(item, mark)
        put(item, LocalTree.Node(node.parent, node.name, ItemContent(.file, mode: Self.mode(status, .file), digest)))
    }

    /// Forgets the content of a file, so that the next look counts its content as a change.
    mutating func noteUnknown(_ item: LocalItem) {
        guard let node = tree[item], node.content.kind == .file else { return }
        set(item, .unknown)
        tree.put(item, LocalTree.Node(node.parent, node.name, ItemContent(.file, mode: node.content.mode)))
    }

    /// Looks at both paths of a record of a move.
    ///
    /// An item that is at neither was moved again. It is taken for being where the record has moved it, because its
    /// next record begins there.
    mutating func look(atMoveFrom old: [UInt8], to new: [UInt8]) throws {
        let moved = item(at: old)
        try look(at: old)
        try look(at: new)
        if let moved, tree[moved] != nil, missing.contains(moved) { return follow(moved, to: new) }
        // Which item has come to the second path and gone on is not known: perhaps one without a path.
        guard moved == nil, item(at: new).map(missing.contains) ?? true else { return }
        for item in Array(missing.items) where tree[item].map({ FileNames.isPlaceholder($0.name) }) == true {
            missing.insert(item)
        }
    }

    private mutating func follow(_ item: LocalItem, to path: [UInt8]) {
        missing.insert(item)
        let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = Array(path[start...])
        guard let parent = self.item(at: Array(path[..<start])), tree.isDirectory(parent),
            !tree.isWithin(parent, item), FileNames.isValid(name), let node = tree[item]
        else { return }
        // Where another item has come to that path meanwhile, this one has none.
        if let other = tree.child(of: parent, name), other != item, !missing.contains(other) { return displace(item) }
        put(item, LocalTree.Node(parent, name, node.content))
    }

    /// Notes whether the journal has an item at a path, behind the record that was read last. What was found there is ahead
    /// of the journal if it has none.
    mutating func noteJournal(hasItem: Bool, at path: [UInt8]) {
        guard let item = item(at: path) else { return }
        if hasItem { ahead.remove(item) } else if !missing.contains(item) { ahead.insert(item) }
    }

    /// Looks again at items that were ahead of the journal, when a barrier that was sent later is answered, and the journal
    /// was read.
    mutating func lookAgain(at items: Set<LocalItem>) throws {
        for item in items where ahead.remove(item) != nil && tree[item] != nil { try look(at: path(of: item)) }
    }

    /// Whether each item is where the journal has it.
    var isCertain: Bool { missing.isEmpty && ahead.isEmpty }

    /// Forgets the missing items that are gone: see `MissingItems.gone`.
    mutating func forgetGone(barrierAfter look: UInt64, mayBeChanging: (_ path: [UInt8]) -> Bool) {
        let gone = missing.gone(barrierAfter: look, in: tree) { item in mayBeChanging(path(of: item)) }
        for item in gone where tree[item] != nil { forget(item) }
    }

    /// Returns whether an item may be at another path than it is known at, as it or a directory around it is missing.
    func mayBeElsewhere(_ item: LocalItem) -> Bool {
        missing.mayBeElsewhere(item, in: tree) || ahead.contains(item)
            || tree.ancestors(item).contains(where: ahead.contains)
    }

    /// Returns whether it is certain that an item is where it is known.
    func isThere(_ item: LocalItem) -> Bool { tree[item] != nil && !mayBeElsewhere(item) }

    /// Lets `takeChanged` return an item, once it is certain where the item is.
    mutating func noteChanged(_ item: LocalItem) { changed.insert(item) }

    /// Returns whether an item is still where it was last seen.
    private func stands(_ item: LocalItem) throws(Errno) -> Bool {
        guard let mark = marks[item], let node = tree[item], !FileNames.isPlaceholder(node.name) else { return false }
        do throws(Errno) {
            return try status(of: path(of: item)).inode == mark.inode
        } catch {
            if Self.isGone(error) || error == .nameTooLong { return false }
            if error == .accessDenied { return true }
            throw error
        }
    }

    /// Returns whether a directory is another one than the item that was known there. That item was removed, or moved. (A
    /// file is taken for the same item: editors save it by a new one with its name.)
    private func isOther(_ known: LocalItem, _ found: FileStatus) -> Bool {
        marks[known].map { $0.inode != 0 && $0.inode != found.inode } ?? false
    }

    private static let tooLong = "its path is too long"

    private func status(of path: [UInt8]) throws(Errno) -> FileStatus { try root.status(of: path) }

    /// Returns the kind that an item has in the cluster. Returns nil for what is not mirrored, and notes the reason.
    private mutating func kind(of status: FileStatus, _ name: FileName, _ path: [UInt8]) -> ItemContent.Kind? {
        if FileNames.isReserved(name) { return nil }
        var reason: String?
        var kind: ItemContent.Kind?
        if !FileNames.isValid(name) {
            reason = "its name is not allowed"
        } else if path.count(where: { $0 == UInt8(ascii: "/") }) >= ClusterEntry.mostAncestors {
            reason = "it is too deep"
        } else if root.isOther(status) {
            reason = "it is on another file system, or mounted"
        } else if status.isDirectory {
            if root.isContainer(path) {
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
                let file = try FileDescriptor.open(path, in: root.descriptor, .readingItself)
                guard let digest = try SHA256.digest(of: file) else {
                    unmirrored[path] = "its SHA-256 cannot be computed"
                    return nil
                }
                return ItemContent(.file, mode: Self.mode(status, .file), digest)
            }
        } catch {
            // The item is gone, or another one has its path now. Both are changes that are seen by themselves.
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

    // MARK: Ignoring

    /// Returns whether a pattern of a `.groupignore` in a directory around an item matches the item, or one of these
    /// directories.
    private mutating func isIgnored(
        _ name: FileName, in parent: LocalItem, _ path: [UInt8], isDirectory: Bool
    ) throws -> Bool {
        if name == FileNames.ignoreFile || FileNames.isReserved(name) || ignored.wasLeft(name, in: parent) {
            return false
        }
        let directory = Array(path.dropLast(name.count + 1))
        if !ignored.knowsRules(for: directory) {
            let line = [.root] + (parent == .root ? [] : tree.ancestors(parent) + [parent])
            for item in line where !ignored.hasRead(item) { ignored.setRules(try rules(of: item), of: item) }
            ignored.prepare(for: directory, line)
        }
        // A conflict copy is on all machines.
        return ignored.matches(name, isDirectory: isDirectory) && FileNames.original(ofConflict: name) == nil
    }

    /// Finds what is ignored, which is not stored, for the status.
    mutating func findIgnored() throws {
        let files = tree.nodes.values.filter { $0.name == FileNames.ignoreFile }
        if files.isEmpty { return }
        for file in files { ignored.setRules(try rules(of: file.parent), of: file.parent) }
        for directory in [.root] + tree.nodes.keys.filter(tree.isDirectory) {
            guard let names = try? open(directory: directory).entryNames() else { continue }
            for name in names where tree.child(of: directory, name) == nil {
                let path = path(name, in: directory)
                guard let status = try? status(of: path) else { continue }
                if try isIgnored(name, in: directory, path, isDirectory: status.isDirectory) {
                    ignored.insert(name, in: directory)
                }
            }
        }
    }

    /// Takes what is ignored at a path, or is an ignored directory around it, for an item like any other.
    mutating func takeOverIgnored(at path: [UInt8]) throws {
        var parent = LocalItem.root
        var above: [UInt8] = []
        for name in path.split(separator: UInt8(ascii: "/")).map({ Array($0) }) {
            above += (above.isEmpty ? [] : [UInt8(ascii: "/")]) + name
            if ignored.contains(name, in: parent) { try look(at: name, in: parent, above, ignoring: false) }
            guard let next = tree.child(of: parent, name) else { return }
            parent = next
        }
    }

    /// Looks at the path of a step that could not be made. What is ignored there is taken over if it has the content
    /// that the step wants. Otherwise it stays as it is, and is in the way.
    mutating func look(at path: [UInt8], wanting content: ItemContent?) throws {
        try look(at: path)
        let name = path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        guard let parent = item(at: Array(path.dropLast(name.count + 1))), ignored.contains(name, in: parent) else {
            return
        }
        let status: FileStatus
        do throws(Errno) { status = try self.status(of: path) } catch { return }
        if let content, ignored.mayBe(content, Mark(status), at: path), let kind = kind(of: status, name, path),
            kind == content.kind, try self.content(of: path, status, kind) == content
        {
            return try look(at: name, in: parent, path, ignoring: false)
        }
        ignored.noteInTheWay(of: content, Mark(status), at: path)
        unmirrored[path] = "a .groupignore ignores it, and the cluster has another item at its path"
    }

    // MARK: Changing

    /// Returns a number for a new item.
    mutating func newItem() -> LocalItem {
        last += 1
        return LocalItem(last)
    }

    /// Puts an item at its path. An item that was known there before is gone, or elsewhere.
    mutating func put(_ item: LocalItem, _ node: LocalTree.Node) {
        if let other = tree.child(of: node.parent, node.name), other != item { displace(other) }
        ignored.noteItem(node, from: tree[item])
        if tree[item] != node {
            tree.put(item, node)
            changed.insert(item)
        }
        toStore.insert(item)
    }

    /// Puts an item that this program has just made. Another process may have replaced its file since, so the next look
    /// reads the file.
    mutating func putMade(_ item: LocalItem, _ node: LocalTree.Node) {
        set(item, .unknown)
        put(item, node)
    }

    /// Forgets the inode of an item. Until the next look, the item is known by its path only.
    mutating func forgetMark(of item: LocalItem) { set(item, .unknown) }

    /// Removes an item that is gone, with everything below it.
    mutating func forget(_ item: LocalItem) {
        for item in tree.descendants(of: item).reversed() + [item] {
            if let mark = marks.removeValue(forKey: item), byInode[mark.inode] == item { byInode[mark.inode] = nil }
            missing.remove(item)
            ahead.remove(item)
            if let node = tree[item] { ignored.noteLeft(node) }
            tree.put(item, nil)
            ignored.forget(item)
            changed.insert(item)
            toStore.insert(item)
        }
    }

    /// Forgets a file that is not to be mirrored any more.
    private mutating func withdraw(_ item: LocalItem) {
        withdrawn.append(item)
        forget(item)
    }

    /// Returns the items that were withdrawn since the last call.
    mutating func takeWithdrawn() -> [LocalItem] {
        defer { withdrawn = [] }
        return withdrawn
    }

    /// Takes an item from its path, where another one is now, until it is found elsewhere or is gone.
    private mutating func displace(_ item: LocalItem) {
        guard var node = tree[item] else { return }
        node.name = FileNames.placeholder(of: item.number)
        tree.put(item, node)
        changed.insert(item)
        toStore.insert(item)
        missing.insert(item)
    }

    private mutating func set(_ item: LocalItem, _ mark: Mark) {
        if let old = marks[item], old.inode != mark.inode, byInode[old.inode] == item { byInode[old.inode] = nil }
        marks[item] = mark
        if mark.inode != 0 { byInode[mark.inode] = item }
        toStore.insert(item)
    }

    /// Returns the items that have changed since the last call, but for those that may be elsewhere: these are held until
    /// they are certainly not, and a call with `withHeld` returns them.
    mutating func takeChanged(withHeld isLast: Bool = true) -> [LocalItem] {
        var all = changed.elements
        changed = .init()
        if isLast {
            all += held.subtracting(all).sorted()
            held = []
        }
        if isCertain { return all }
        return all.filter { item in
            if !mayBeElsewhere(item) { return true }
            held.insert(item)
            return false
        }
    }

    // MARK: The whole disk

    /// Looks at the whole disk, as when the machine has joined, or after the position in the journal was lost.
    mutating func lookAtAll() throws {
        isLookingAtAll = true
        defer { isLookingAtAll = false }
        ignored.forgetAll()
        var seen: Set<LocalItem> = []
        try lookAtAll(below: .root, [], &seen)
        for item in Array(tree.nodes.keys) where !seen.contains(item) { missing.insert(item) }
    }

    /// Looks at everything below a directory.
    private mutating func lookAtAll(within directory: LocalItem, _ path: [UInt8]) throws {
        isLookingAtAll = true
        defer { isLookingAtAll = false }
        for item in [directory] + tree.descendants(of: directory) { ignored.forget(item) }
        var seen: Set<LocalItem> = []
        try lookAtAll(below: directory, path, &seen)
        for item in tree.descendants(of: directory) where !seen.contains(item) { missing.insert(item) }
    }

    /// Looks at everything in the directories whose `.groupignore` was changed: what it no longer ignores is to be
    /// mirrored.
    mutating func lookWhereRulesHaveChanged() throws {
        for directory in ignored.takeDirectoriesToLookAt() {
            if directory == .root {
                try lookAtAll()
            } else if tree.isDirectory(directory) {
                try lookAtAll(within: directory, path(of: directory))
            }
            // Also where nothing new is there: the status names what cannot be used.
            if !ignored.hasRead(directory) { ignored.setRules(try rules(of: directory), of: directory) }
        }
    }

    private mutating func lookAtAll(below directory: LocalItem, _ path: [UInt8], _ seen: inout Set<LocalItem>) throws {
        let names: [[UInt8]]
        do throws(Errno) {
            names = try open(directory: directory).entryNames()
        } catch {
            if directory == .root { throw error }
            // Items that cannot be seen are not gone.
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

    /// Calls `body` with each row that has changed; the value is nil for an item that is gone.
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

    /// Loads the items that the last run has stored.
    mutating func load(_ state: LoadedState) {
        tree = state.tree
        for (item, stored) in state.local { set(item, Mark(stored)) }
        last = state.lastLocal
        for (item, node) in tree.nodes where FileNames.isPlaceholder(node.name) { missing.insert(item) }
        toStore = []
    }

    var hasUnstored: Bool { !toStore.isEmpty }

    /// The last number that an item got. No number is used twice.
    var lastNumber: UInt64 { last }
}
