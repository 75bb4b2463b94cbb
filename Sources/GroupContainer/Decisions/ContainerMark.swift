/// What makes a directory a container, by its name: `.group`, or, from the first moment of its deletion to the last,
/// `.group.deleted`.
enum ContainerMark {
    static let standing = Array(".group".utf8)
    static let deleted = Array(".group.deleted".utf8)
    static let all = [standing, deleted]

    static func isOne(_ name: some Collection<UInt8>) -> Bool { all.contains { name.elementsEqual($0) } }
}

extension Examination {
    /// A directory has become a container of its own: what was in it is not this one's any more. All of that is told as
    /// gone, what lies deepest first. A writer there under a lock that was granted before has a record after it, and
    /// that item is told as gone when the directory is compared again. True if it wrote anything.
    mutating func removeContents(of directory: ItemLocation) throws(CoordinationError) -> Bool {
        var (wrote, listed) = (false, version)
        var doomed: [ItemLocation] = []
        while true {
            try catchUp()
            if doomed.isEmpty || version != listed {
                listed = version
                doomed = world.picture.below(directory).reversed()
            }
            guard !world.isSuperseded, let gone = doomed.last else { return wrote }
            if try append(world.record(.removed, gone, nil, from: nil, other: nil)) {
                doomed.removeLast()
                wrote = true
            }
        }
    }
}
