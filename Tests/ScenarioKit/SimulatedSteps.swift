package import GroupSystemCalls

/// What each step does, and which events it makes: in the order in which the kernel's fsnotify makes them.
extension SimulatedTree: SteppableTree {
    package mutating func performSimple(_ step: TreeStep) throws(Errno) {
        switch step {
        case .create(let path):
            let (folder, name) = try parent(path)
            if self[folder]?.entries[name] != nil { throw .exists }
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
        case .mkdir(let path): try make(.folder, path)
        case .fifo(let path): try make(.fifo, path)
        case .socket(let path): try make(.socket, path)
        case .symlink(let target, let path): try make(.link, path, content: target)
        case .rm(let path): try remove(path, folder: false)
        case .rmdir(let path): try remove(path, folder: true)
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

    package func isFolder(_ path: [UInt8]) throws(Errno) -> Bool {
        guard let found = try resolve(path, following: false) else { throw .noSuchEntry }
        return self[found]?.kind == .folder
    }

    package func content(_ path: [UInt8]) throws(Errno) -> [UInt8] {
        guard let inode = try resolve(path, following: true), let node = self[inode] else { throw .noSuchEntry }
        if node.kind == .folder { throw .isAFolder }
        if node.kind != .file { throw .invalid }
        return node.content
    }

    package func linkTarget(_ path: [UInt8]) throws(Errno) -> [UInt8]? {
        guard let node = try status(path)?.node else { throw .noSuchEntry }
        return node.kind == .link ? node.content : nil
    }

    package func entries(_ folder: [UInt8]) throws(Errno) -> [[UInt8]] {
        guard let inode = try resolve(folder, following: true), let node = self[inode] else { throw .noSuchEntry }
        if node.kind != .folder { throw .notAFolder }
        return Array(node.entries.keys)
    }

    // MARK: Each kind of change

    /// Where what a path leads to stands itself: a link's name is not the name that an event has.
    private func entry(_ path: [UInt8], following: Bool) throws(Errno) -> (
        folder: UInt64, name: [UInt8], inode: UInt64?
    ) {
        var (folder, name) = try parent(path)
        var inode = self[folder]?.entries[name]
        var links = 0
        while following, let link = inode.flatMap({ self[$0] }), link.kind == .link {
            links += 1
            if links > 40 { throw .tooManyLinks }
            guard let end = try self.end(of: link.content, from: folder) else { throw .noSuchEntry }
            (folder, name) = end
            inode = self[folder]?.entries[name]
        }
        return (folder, name, inode)
    }

    /// The folder and the name that a link's text leads to, from its own folder.
    private func end(of target: [UInt8], from folder: UInt64) throws(Errno) -> (folder: UInt64, name: [UInt8])? {
        guard let place = pathInside(folder) else { return nil }
        return try parent(place + target)
    }

    private func pathInside(_ folder: UInt64) -> [UInt8]? {
        if folder == Self.container { return [] }
        if folder == Self.outside { return Array("../".utf8) }
        guard let up = self[folder]?.parent, let name = self[up]?.entries.first(where: { $0.value == folder })?.key
        else {
            return nil
        }
        return pathInside(up).map { $0 + name + [UInt8(ascii: "/")] }
    }

    private mutating func put(
        _ path: [UInt8], making: Bool, truncating: Bool = false, _ body: (inout [UInt8]) -> Bool
    ) throws(Errno) {
        var (folder, name, found) = try entry(path, following: true)
        let isNew = found == nil
        if isNew {
            if !making { throw .noSuchEntry }
            found = makeNode(.file)
            enter(found, name, folder)
            tell(in: folder, name, .created)
        }
        if let found, self[found]?.kind == .folder { throw .isAFolder }
        if let found, self[found]?.kind != .file { throw Errno(6) }  // ENXIO: nobody reads
        if truncating, !isNew, let found {
            let now = tick()
            self[found]?.content = []
            self[found]?.modified = now
            self[found]?.changed = now
            tell(in: folder, name, .modified)
        }
        guard let inode = found, var node = self[inode] else { return }
        if body(&node.content) {
            let now = tick()
            (node.modified, node.changed) = (now, now)
            self[inode] = node
            tell(in: folder, name, .modified)
        }
        tell(in: folder, name, .closedAfterWriting)
    }

    private mutating func change(
        _ path: [UInt8], _ kinds: InotifyEvent.Kinds, following: Bool = true, _ body: (inout Node) -> Void
    ) throws(Errno) {
        let (folder, name, found) = try entry(path, following: following)
        guard let inode = found, var node = self[inode] else { throw .noSuchEntry }
        let isFolder: InotifyEvent.Kinds = node.kind == .folder ? .isFolder : []
        if kinds == .modified && node.kind == .folder { throw .isAFolder }
        if kinds == .modified && node.kind != .file { throw .invalid }
        node.changed = tick()
        body(&node)
        self[inode] = node
        tell(in: folder, name, kinds.union(isFolder))
        if node.kind == .folder { tell(of: inode, kinds.union(isFolder)) }
    }

    private mutating func make(_ kind: Node.Kind, _ path: [UInt8], content: [UInt8] = []) throws(Errno) {
        let (folder, name) = try parent(path)
        if self[folder]?.entries[name] != nil { throw .exists }
        let inode = makeNode(kind, content: content)
        enter(inode, name, folder)
        tell(in: folder, name, kind == .folder ? [.created, .isFolder] : .created)
    }

    private mutating func enter(_ inode: UInt64?, _ name: [UInt8], _ folder: UInt64) {
        let now = tick()
        self[folder]?.entries[name] = inode
        self[folder]?.modified = now
        self[folder]?.changed = now
        if let inode, self[inode]?.kind == .folder { self[inode]?.parent = folder }
    }

    private mutating func remove(_ path: [UInt8], folder wantsFolder: Bool) throws(Errno) {
        let (folder, name) = try parent(path)
        guard let inode = self[folder]?.entries[name], let node = self[inode] else { throw .noSuchEntry }
        if wantsFolder && node.kind != .folder { throw .notAFolder }
        if !wantsFolder && node.kind == .folder { throw .isAFolder }
        if !node.entries.isEmpty { throw .notEmpty }
        enter(nil, name, folder)
        drop(inode)
        tell(in: folder, name, wantsFolder ? [.removed, .isFolder] : .removed)
    }

    private mutating func move(_ from: [UInt8], _ to: [UInt8]) throws(Errno) {
        let (old, new) = (try parent(from), try parent(to))
        guard let inode = self[old.folder]?.entries[old.name], let node = self[inode] else { throw .noSuchEntry }
        if isWithin(new.folder, inode) { throw .invalid }
        let target = self[new.folder]?.entries[new.name]
        if let target, let there = self[target] {
            if isWithin(old.folder, target) { throw .notEmpty }
            if target == inode { return }
            if there.kind == .folder && node.kind != .folder { throw .isAFolder }
            if there.kind != .folder && node.kind == .folder { throw .notAFolder }
            if !there.entries.isEmpty { throw .notEmpty }
        }
        enter(nil, old.name, old.folder)
        enter(inode, new.name, new.folder)
        let now = tick()
        self[inode]?.changed = now
        let cookie = nextCookie()
        tellMove(old, new, inode, cookie)
        if let target {
            if self[target]?.kind == .folder { tell(of: target, [.attributesChanged, .isFolder]) }
        }
        if node.kind == .folder { tell(of: inode, .watchedMoved) }
        if let target { drop(target) }
    }

    private mutating func tellMove(
        _ old: (folder: UInt64, name: [UInt8]), _ new: (folder: UInt64, name: [UInt8]), _ inode: UInt64,
        _ cookie: UInt32
    ) {
        let isFolder: InotifyEvent.Kinds = self[inode]?.kind == .folder ? .isFolder : []
        tell(in: old.folder, old.name, isFolder.union(.movedFrom), cookie: cookie)
        tell(in: new.folder, new.name, isFolder.union(.movedTo), cookie: cookie)
    }

    private mutating func exchange(_ one: [UInt8], _ other: [UInt8]) throws(Errno) {
        let (old, new) = (try parent(one), try parent(other))
        guard let first = self[old.folder]?.entries[old.name] else { throw .noSuchEntry }
        guard let second = self[new.folder]?.entries[new.name] else { throw .noSuchEntry }
        if isWithin(new.folder, first) || isWithin(old.folder, second) { throw .invalid }
        if first == second { return }
        enter(second, old.name, old.folder)
        enter(first, new.name, new.folder)
        let now = tick()
        for inode in [first, second] { self[inode]?.changed = now }
        var cookie = nextCookie()
        tellMove(old, new, first, cookie)
        if self[first]?.kind == .folder { tell(of: first, .watchedMoved) }
        cookie = nextCookie()
        tellMove(new, old, second, cookie)
        if self[second]?.kind == .folder { tell(of: second, .watchedMoved) }
    }

    private mutating func link(_ from: [UInt8], _ to: [UInt8]) throws(Errno) {
        let (old, new) = (try parent(from), try parent(to))
        guard let inode = self[old.folder]?.entries[old.name] else { throw .noSuchEntry }
        if self[new.folder]?.entries[new.name] != nil { throw .exists }
        if self[inode]?.kind == .folder { throw Errno(1) }
        self[inode]?.links += 1
        enter(inode, new.name, new.folder)
        let now = tick()
        self[inode]?.changed = now
        tell(in: new.folder, new.name, .created)
    }
}
