package import GroupSystemCalls

/// What each step does, and the events that it makes, in the order in which the kernel's fsnotify makes them.
extension SimulatedTree: SteppableTree {
    package mutating func performSimple(_ step: TreeStep) throws(Errno) {
        switch step {
        case .create(let path):
            let (directory, name) = try parent(path)
            if self[directory]?.entries[name] != nil { throw .exists }
            try put(path, making: true) { _ in false }
        case .write(let path, let text):
            try put(path, making: true, truncating: true) { content in
                content = text
                return !text.isEmpty
            }
        case .append(let path, let text):
            try put(path, making: true) { content in
                content += text
                return !text.isEmpty
            }
        case .rewrite(let path, let text):
            try put(path, making: false) { content in
                content = text + content.dropFirst(text.count)
                return !text.isEmpty
            }
        case .truncate(let path, let size):
            try change(path, .modified) { node in
                node.content = Array(node.content.prefix(size))
                node.content += [UInt8](repeating: 0, count: size - node.content.count)
                node.modified = node.changed
            }
        case .mkdir(let path): try make(.directory, path)
        case .fifo(let path): try make(.fifo, path)
        case .socket(let path): try make(.socket, path)
        case .symlink(let target, let path): try make(.link, path, content: target)
        case .rm(let path): try remove(path, directory: false)
        case .rmdir(let path): try remove(path, directory: true)
        case .mv(let from, let to): try move(from, to)
        case .exchange(let one, let other): try exchange(one, other)
        case .ln(let from, let to): try link(from, to)
        case .chmod(let mode, let path): try change(path, .attributesChanged) { $0.mode = mode }
        case .chown(let owner, let path):
            try change(path, .attributesChanged, following: false) { $0.owner = owner }
        case .touch(let path):
            try change(path, .attributesChanged, following: false) { $0.modified = $0.changed }
        case .date(let seconds, let path):
            try change(path, .attributesChanged, following: false) { $0.modified = Int64(seconds) * 1_000_000_000 }
        case .xattr(let path, _): try change(path, .attributesChanged) { _ in }
        case .mkdirs, .rmtree, .copy, .copytree: throw .invalid
        }
    }

    package func isDirectory(_ path: [UInt8]) throws(Errno) -> Bool {
        guard let found = try resolve(path, following: false) else { throw .noSuchEntry }
        return self[found]?.kind == .directory
    }

    package func content(_ path: [UInt8]) throws(Errno) -> [UInt8] {
        guard let inode = try resolve(path, following: true), let node = self[inode] else { throw .noSuchEntry }
        if node.kind == .directory { throw .isADirectory }
        if node.kind != .file { throw .invalid }
        return node.content
    }

    package func linkTarget(_ path: [UInt8]) throws(Errno) -> [UInt8]? {
        guard let node = try status(path)?.node else { throw .noSuchEntry }
        return node.kind == .link ? node.content : nil
    }

    package func entries(_ directory: [UInt8]) throws(Errno) -> [[UInt8]] {
        guard let inode = try resolve(directory, following: true), let node = self[inode] else { throw .noSuchEntry }
        if node.kind != .directory { throw .notADirectory }
        return Array(node.entries.keys)
    }

    // MARK: Each kind of change

    /// Returns where the item that a path leads to has its entry: an event does not have a symbolic link's name.
    private func entry(_ path: [UInt8], following: Bool) throws(Errno) -> (
        directory: UInt64, name: [UInt8], inode: UInt64?
    ) {
        var (directory, name) = try parent(path)
        var inode = self[directory]?.entries[name]
        var links = 0
        while following, let link = inode.flatMap({ self[$0] }), link.kind == .link {
            links += 1
            if links > 40 { throw .tooManyLinks }
            guard let end = try self.end(of: link.content, from: directory) else { throw .noSuchEntry }
            (directory, name) = end
            inode = self[directory]?.entries[name]
        }
        return (directory, name, inode)
    }

    /// Returns the directory and the name that a symbolic link's text leads to, from its own directory.
    private func end(of target: [UInt8], from directory: UInt64) throws(Errno) -> (directory: UInt64, name: [UInt8])? {
        guard let place = pathInside(directory) else { return nil }
        return try parent(place + target)
    }

    private func pathInside(_ directory: UInt64) -> [UInt8]? {
        if directory == Self.container { return [] }
        if directory == Self.outside { return Array("../".utf8) }
        guard let up = self[directory]?.parent,
            let name = self[up]?.entries.first(where: { $0.value == directory })?.key
        else {
            return nil
        }
        return pathInside(up).map { $0 + name + [UInt8(ascii: "/")] }
    }

    private mutating func put(
        _ path: [UInt8], making: Bool, truncating: Bool = false, _ body: (inout [UInt8]) -> Bool
    ) throws(Errno) {
        var (directory, name, found) = try entry(path, following: true)
        let isNew = found == nil
        if isNew {
            if !making { throw .noSuchEntry }
            found = makeNode(.file)
            enter(found, name, directory)
            report(in: directory, name, .created)
        }
        if let found, self[found]?.kind == .directory { throw .isADirectory }
        if let found, self[found]?.kind != .file { throw Errno(6) }  // ENXIO: there is no reader
        if truncating, !isNew, let found {
            let now = tick()
            self[found]?.content = []
            self[found]?.modified = now
            self[found]?.changed = now
            report(in: directory, name, .modified)
        }
        guard let inode = found, var node = self[inode] else { return }
        if body(&node.content) {
            let now = tick()
            (node.modified, node.changed) = (now, now)
            self[inode] = node
            report(in: directory, name, .modified)
        }
        report(in: directory, name, .closedAfterWriting)
    }

    private mutating func change(
        _ path: [UInt8], _ kinds: InotifyEvent.Kinds, following: Bool = true, _ body: (inout Node) -> Void
    ) throws(Errno) {
        let (directory, name, found) = try entry(path, following: following)
        guard let inode = found, var node = self[inode] else { throw .noSuchEntry }
        let isDirectory: InotifyEvent.Kinds = node.kind == .directory ? .isDirectory : []
        if kinds == .modified && node.kind == .directory { throw .isADirectory }
        if kinds == .modified && node.kind != .file { throw .invalid }
        node.changed = tick()
        body(&node)
        self[inode] = node
        report(in: directory, name, kinds.union(isDirectory))
        if node.kind == .directory { report(of: inode, kinds.union(isDirectory)) }
    }

    private mutating func make(_ kind: Node.Kind, _ path: [UInt8], content: [UInt8] = []) throws(Errno) {
        let (directory, name) = try parent(path)
        if self[directory]?.entries[name] != nil { throw .exists }
        let inode = makeNode(kind, content: content)
        enter(inode, name, directory)
        report(in: directory, name, kind == .directory ? [.created, .isDirectory] : .created)
    }

    private mutating func enter(_ inode: UInt64?, _ name: [UInt8], _ directory: UInt64) {
        let now = tick()
        self[directory]?.entries[name] = inode
        self[directory]?.modified = now
        self[directory]?.changed = now
        if let inode, self[inode]?.kind == .directory { self[inode]?.parent = directory }
    }

    private mutating func remove(_ path: [UInt8], directory wantsDirectory: Bool) throws(Errno) {
        let (directory, name) = try parent(path)
        guard let inode = self[directory]?.entries[name], let node = self[inode] else { throw .noSuchEntry }
        if wantsDirectory && node.kind != .directory { throw .notADirectory }
        if !wantsDirectory && node.kind == .directory { throw .isADirectory }
        if !node.entries.isEmpty { throw .notEmpty }
        enter(nil, name, directory)
        drop(inode)
        report(in: directory, name, wantsDirectory ? [.removed, .isDirectory] : .removed)
    }

    private mutating func move(_ from: [UInt8], _ to: [UInt8]) throws(Errno) {
        let (old, new) = (try parent(from), try parent(to))
        guard let inode = self[old.directory]?.entries[old.name], let node = self[inode] else { throw .noSuchEntry }
        if isWithin(new.directory, inode) { throw .invalid }
        let target = self[new.directory]?.entries[new.name]
        if let target, let there = self[target] {
            if isWithin(old.directory, target) { throw .notEmpty }
            if target == inode { return }
            if there.kind == .directory && node.kind != .directory { throw .isADirectory }
            if there.kind != .directory && node.kind == .directory { throw .notADirectory }
            if !there.entries.isEmpty { throw .notEmpty }
        }
        enter(nil, old.name, old.directory)
        enter(inode, new.name, new.directory)
        let now = tick()
        self[inode]?.changed = now
        let cookie = nextCookie()
        reportMove(old, new, inode, cookie)
        if let target {
            if self[target]?.kind == .directory { report(of: target, [.attributesChanged, .isDirectory]) }
        }
        if node.kind == .directory { report(of: inode, .watchedMoved) }
        if let target { drop(target) }
    }

    private mutating func reportMove(
        _ old: (directory: UInt64, name: [UInt8]), _ new: (directory: UInt64, name: [UInt8]), _ inode: UInt64,
        _ cookie: UInt32
    ) {
        let isDirectory: InotifyEvent.Kinds = self[inode]?.kind == .directory ? .isDirectory : []
        report(in: old.directory, old.name, isDirectory.union(.movedFrom), cookie: cookie)
        report(in: new.directory, new.name, isDirectory.union(.movedTo), cookie: cookie)
    }

    private mutating func exchange(_ one: [UInt8], _ other: [UInt8]) throws(Errno) {
        let (old, new) = (try parent(one), try parent(other))
        guard let first = self[old.directory]?.entries[old.name] else { throw .noSuchEntry }
        guard let second = self[new.directory]?.entries[new.name] else { throw .noSuchEntry }
        if isWithin(new.directory, first) || isWithin(old.directory, second) { throw .invalid }
        if first == second { return }
        enter(second, old.name, old.directory)
        enter(first, new.name, new.directory)
        let now = tick()
        for inode in [first, second] { self[inode]?.changed = now }
        var cookie = nextCookie()
        reportMove(old, new, first, cookie)
        if self[first]?.kind == .directory { report(of: first, .watchedMoved) }
        cookie = nextCookie()
        reportMove(new, old, second, cookie)
        if self[second]?.kind == .directory { report(of: second, .watchedMoved) }
    }

    private mutating func link(_ from: [UInt8], _ to: [UInt8]) throws(Errno) {
        let (old, new) = (try parent(from), try parent(to))
        guard let inode = self[old.directory]?.entries[old.name] else { throw .noSuchEntry }
        if self[new.directory]?.entries[new.name] != nil { throw .exists }
        if self[inode]?.kind == .directory { throw Errno(1) }
        self[inode]?.links += 1
        enter(inode, new.name, new.directory)
        let now = tick()
        self[inode]?.changed = now
        report(in: new.directory, new.name, .created)
    }
}
