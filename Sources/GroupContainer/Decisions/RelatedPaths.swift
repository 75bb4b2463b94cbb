extension ItemPath {
    func isBelow(_ folder: ItemPath) -> Bool {
        bytes.count > folder.bytes.count && bytes[folder.bytes.count] == UInt8(ascii: "/")
            && bytes.starts(with: folder.bytes)
    }

    /// The same, or one is somewhere below the other.
    func concerns(_ other: ItemPath) -> Bool { self == other || isBelow(other) || other.isBelow(self) }

    /// Every folder that it is in.
    var folders: [ItemPath] {
        bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }.map { ItemPath(bytes: Array(bytes[..<$0])) }
    }

    /// Where it is once a folder that it is, or is in, has moved.
    func moved(from folder: ItemPath, to place: ItemPath) -> ItemPath {
        ItemPath(bytes: place.bytes + bytes[folder.bytes.count...])
    }
}

/// Which of a list of entries concerned a path last.
struct RelatedPaths: Sendable {
    private var at: [ItemPath: Int] = [:]
    private var below: [ItemPath: Int] = [:]

    mutating func note(_ paths: [ItemPath], at position: Int) {
        for path in paths {
            at[path] = max(at[path] ?? 0, position)
            for folder in path.folders { below[folder] = max(below[folder] ?? 0, position) }
        }
    }

    func last(concerning path: ItemPath) -> Int? {
        ([at[path], below[path]] + path.folders.map { at[$0] }).compactMap { $0 }.max()
    }
}

/// Paths, to ask whether one of them concerns another.
struct PathSet: Sendable {
    private var paths: Set<ItemPath> = []
    private var around: Set<ItemPath> = []

    mutating func insert(_ path: ItemPath) {
        paths.insert(path)
        around.formUnion(path.folders)
    }

    func concerns(_ path: ItemPath) -> Bool {
        paths.contains(path) || around.contains(path) || path.folders.contains(where: paths.contains)
    }
}
