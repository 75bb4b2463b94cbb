import GroupSystemCalls

/// A file or directory of a container.
public struct Item: Hashable, Sendable {
    /// Where it is.
    public var path: ItemPath
    /// What it is.
    public var type: ItemType
    /// In bytes.
    public var size: UInt64
    /// Nanoseconds since 1970.
    public var modified: Int64

    init(path: ItemPath, _ state: ItemState) {
        (self.path, type, size, modified) = (path, state.type, state.size, state.modified)
    }
}

extension Container {
    /// The items in a directory of the container, sorted by their bytes; at the top, `.group` is not among them, and
    /// another container is one item. A listing takes no lock: it may be older than its reading. Errors: `notFound`,
    /// `wrongType`, `outsideContainer`. System calls: openat2, getdents, statx
    public func items(in directory: ItemPath? = nil) throws(CoordinationError) -> [Item] {
        let location = try directory?.location(for: "list")
        if let location {
            try member.checkIsNoLink(location, "list")
            try member.checkIsOurs(location, "list")
            if member.isContainer(location.bytes[...]) { throw .hasContainer(location.bytes, location, "list") }
        }
        return try translating(directory?.description ?? path.description, "list") { () throws(Errno) in
            let open = try member.openDirectory(location)
            var items: [Item] = []
            for name in try open.entryNames() where !ContainerMark.isOne(name) {
                // It may have gone since.
                guard let status = try open.statusIfPresent(of: name) else { continue }
                let state = ItemState(status, contentHash: nil)
                let path = location.map { $0.bytes + [UInt8(ascii: "/")] + name } ?? name
                items.append(Item(path: ItemPath(bytes: path), state))
            }
            return items.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
        }
    }

    /// The identifiers of the containers that exist for this user, sorted. Errors: `notPermitted`.
    public static func identifiers() throws(CoordinationError) -> [String] {
        let home = try ContainerPlace.home()
        return try translating(home, "list") { () throws(Errno) in
            do throws(Errno) {
                let directory = try FileDescriptor.open(path: Array(home.utf8), [.reading, .directory])
                var found: [String] = []
                for name in try directory.entryNames() {
                    let format = name + Array("/.group/format".utf8)
                    if (try? FileDescriptor.open(format, in: directory, .placeOnly)) != nil {
                        found.append(printable(name))
                    }
                }
                return found.sorted()
            } catch {
                if error == .noSuchEntry { return [] }
                throw error
            }
        }
    }
}
