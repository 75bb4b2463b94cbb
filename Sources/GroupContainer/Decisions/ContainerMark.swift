/// What makes a folder a container, by its name: `.group`, or, from the first moment of its deletion to the last,
/// `.group.deleted`.
enum ContainerMark {
    static let standing = Array(".group".utf8)
    static let deleted = Array(".group.deleted".utf8)
    static let all = [standing, deleted]

    static func isOne(_ name: some Collection<UInt8>) -> Bool { all.contains { name.elementsEqual($0) } }
}

extension Examination {
    /// A folder has become a container of its own: what was in it is not this one's any more. All of that is told as
    /// gone, what lies deepest first. A writer there under a lease that was granted before has a record after it, and
    /// that item is told as gone when the folder is compared again. True if it wrote anything.
    mutating func removeContents(of folder: ItemLocation) throws(CoordinationError) -> Bool {
        var (wrote, listed) = (false, version)
        var doomed: [ItemLocation] = []
        while true {
            try catchUp()
            if doomed.isEmpty || version != listed {
                listed = version
                doomed = world.picture.below(folder).reversed()
            }
            guard !world.isSuperseded, let gone = doomed.last else { return wrote }
            if try append(world.record(.removed, gone, nil, from: nil, other: nil)) {
                doomed.removeLast()
                wrote = true
            }
        }
    }
}
