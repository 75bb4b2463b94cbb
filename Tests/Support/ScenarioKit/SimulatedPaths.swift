package import GroupSystemCalls

/// Path resolution.
extension SimulatedTree {
    /// Returns the last component's directory, and its name. There may be no entry of that name.
    func parent(_ path: [UInt8]) throws(Errno) -> (directory: UInt64, name: [UInt8]) {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let head = slash.map { Array(path[..<$0]) } ?? []
        let name = Array(path[(slash.map { $0 + 1 } ?? 0)...])
        guard let directory = try resolve(head, following: true) else { throw .noSuchEntry }
        guard self[directory]?.kind == .directory else { throw .notADirectory }
        if name.count > 255 { throw .nameTooLong }
        // A path that ends in dots is always there, and can be neither made nor removed.
        if [[], [46], [46, 46]].contains(name) { throw .exists }
        return (directory, name)
    }

    /// Returns the inode at a path; nil if there is none.
    func resolve(_ path: [UInt8], following: Bool) throws(Errno) -> UInt64? {
        var links = 0
        return try walk(path, from: Self.container, following: following, &links)
    }

    private func walk(
        _ path: [UInt8], from start: UInt64, following: Bool, _ links: inout Int
    ) throws(Errno) -> UInt64? {
        var place = start
        let components = path.split(separator: UInt8(ascii: "/")).map(Array.init)
        for (index, name) in components.enumerated() {
            guard let directory = self[place], directory.kind == .directory else { throw .notADirectory }
            if name == [46] { continue }
            if name == [46, 46] {
                place = directory.parent
                continue
            }
            guard let next = directory.entries[name] else {
                if index + 1 < components.count { throw .noSuchEntry }
                return nil
            }
            guard let node = self[next], node.kind == .link, following || index + 1 < components.count else {
                place = next
                continue
            }
            links += 1
            if links > 40 { throw .tooManyLinks }
            guard let target = try walk(node.content, from: place, following: true, &links) else {
                if index + 1 < components.count { throw .noSuchEntry }
                return nil
            }
            place = target
        }
        return place
    }

    /// Returns an entry as lstat(2) does: of the entry itself, also where it is a symbolic link.
    package func status(_ path: [UInt8]) throws(Errno) -> (inode: UInt64, node: Node)? {
        do throws(Errno) {
            guard let inode = try resolve(path, following: false), let node = self[inode] else { return nil }
            return (inode, node)
        } catch {
            if error == .noSuchEntry { return nil }
            throw error
        }
    }

    /// Returns an entry that is reached through directories only.
    package func statusWithoutLinks(_ path: [UInt8]) -> (inode: UInt64, node: Node)? {
        var place = Self.container
        for name in path.split(separator: UInt8(ascii: "/")) {
            guard let directory = self[place], directory.kind == .directory, let next = directory.entries[Array(name)]
            else {
                return nil
            }
            place = next
        }
        return self[place].map { (place, $0) }
    }

    /// Returns an entry of an open directory.
    package func entry(_ name: [UInt8], ofDirectory directory: UInt64) -> (inode: UInt64, node: Node)? {
        guard let inode = self[directory]?.entries[name], let node = self[inode] else { return nil }
        return (inode, node)
    }

    /// Returns whether an inode is the directory, or below it.
    func isWithin(_ inode: UInt64, _ directory: UInt64) -> Bool {
        var place = inode
        while place != directory {
            guard let parent = self[place]?.parent, parent != 0 else { return false }
            place = parent
        }
        return true
    }
}
