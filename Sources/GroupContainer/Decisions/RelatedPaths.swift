extension ItemPath {
    func isBelow(_ directory: ItemPath) -> Bool {
        bytes.count > directory.bytes.count && bytes[directory.bytes.count] == UInt8(ascii: "/")
            && bytes.starts(with: directory.bytes)
    }

    /// The same, or one is somewhere below the other.
    func concerns(_ other: ItemPath) -> Bool { self == other || isBelow(other) || other.isBelow(self) }

    /// Every directory that it is in.
    var directories: [ItemPath] {
        bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }.map { ItemPath(bytes: Array(bytes[..<$0])) }
    }

    /// Where it is once a directory that it is, or is in, has moved.
    func moved(from directory: ItemPath, to place: ItemPath) -> ItemPath {
        ItemPath(bytes: place.bytes + bytes[directory.bytes.count...])
    }
}

/// Which of a list of entries concerned a path last.
struct RelatedPaths: Sendable {
    private var at: [ItemPath: Int] = [:]
    private var below: [ItemPath: Int] = [:]

    mutating func note(_ paths: [ItemPath], at position: Int) {
        for path in paths {
            at[path] = max(at[path] ?? 0, position)
            for directory in path.directories { below[directory] = max(below[directory] ?? 0, position) }
        }
    }

    func last(concerning path: ItemPath) -> Int? {
        ([at[path], below[path]] + path.directories.map { at[$0] }).compactMap { $0 }.max()
    }
}

/// Paths, to ask whether one of them concerns another.
struct PathSet: Sendable {
    private var paths: Set<ItemPath> = []
    private var around: Set<ItemPath> = []

    mutating func insert(_ path: ItemPath) {
        paths.insert(path)
        around.formUnion(path.directories)
    }

    func concerns(_ path: ItemPath) -> Bool {
        paths.contains(path) || around.contains(path) || path.directories.contains(where: paths.contains)
    }
}
