import GroupSystemCalls

extension Member {
    /// A container inside this one is another one's: what is in it is neither read nor changed by way of this one.
    /// Errors: `outsideContainer` where a directory around the item is a container. Nothing to ask where the item
    /// stands at the top. System calls: statx, two for each directory around it
    func checkIsOurs(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        let slash = UInt8(ascii: "/")
        var rest = location.bytes[...]
        while let end = rest.firstIndex(of: slash) {
            let around = location.bytes[..<end]
            if isContainer(around) { throw liesIn(Array(around), location, operation) }
            rest = location.bytes[(end + 1)...]
        }
    }

    /// Whether a directory is a container of its own. System calls: statx, two
    func isContainer(_ path: ArraySlice<UInt8>) -> Bool {
        ContainerMark.all.contains { mark in
            // Where a link is on the way, nothing comes of the operation anyway.
            (try? directory.root.statusIfPresent(of: path + [UInt8(ascii: "/")] + mark))?.isDirectory ?? false
        }
    }

    private func liesIn(_ container: [UInt8], _ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, item: printable(location.bytes), operation: operation,
            cause: "it lies in the container '\(printable(container))', which is another one",
            advice: "open that one: \(printable(directory.path + [UInt8(ascii: "/")] + container))")
    }
}

extension CoordinationError {
    /// Of a directory that is, or that has in it, a container; `inside` is that one's path.
    static func hasContainer(_ inside: [UInt8], _ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, item: printable(location.bytes), operation: operation,
            cause: (inside == location.bytes ? "it is" : "in it is")
                + " the container '\(printable(inside))', which is another one",
            advice: "go through the rest item by item; a container that nobody has open is copied with cp -a")
    }
}

/// The containers that lie in a directory, or that it is, while that is moved or removed: nobody opens one meanwhile,
/// and nothing happens where somebody has one open.
final class ContainersInside {
    /// Where something is not to be moved or removed, and why.
    struct Obstacle: Error {
        /// `busy`: it is a container that somebody has open; `accessDenied`: what is in it cannot be seen.
        var reason: Errno
        /// From the directory on.
        var path: [UInt8]
        var members: [CoordinationError.Holder] = []
    }

    private static let slash = UInt8(ascii: "/")
    /// By their paths from the directory on.
    private var held: [[UInt8]: ContainerHold] = [:]

    /// Linear in the directories that it has in it.
    /// System calls: openat2, getdents for each directory; those of `ContainerHold` for each container
    init(_ name: [UInt8], in directory: borrowing FileDescriptor) throws(Obstacle) {
        var held: [[UInt8]: ContainerHold] = [:]
        try Self.each(name, in: directory) { (path, group) throws(Errno) in held[path] = try ContainerHold(group) }
        self.held = held
    }

    /// The same by an item's place. Errors: `lockTimedOut`, with the members; `notPermitted`.
    convenience init(_ location: ItemLocation, of member: Member, _ operation: String) throws(CoordinationError) {
        let directory = try translating(printable(location.bytes), operation) { () throws(Errno) in
            try member.directory(at: location.parent)
        }
        do throws(Obstacle) {
            try self.init(location.name, in: directory.descriptor)
        } catch {
            throw CoordinationError(error, at: location, operation)
        }
    }

    /// After the rename: no process has made a container in it since it was looked at. (A process that is about to open
    /// a container finds that it was moved.)
    func checkNobodyCame(_ name: [UInt8], in directory: borrowing FileDescriptor) throws(Obstacle) {
        try Self.each(name, in: directory) { (path, group) throws(Errno) in
            if held[path] == nil, try ContainerHold.hasMember(group) { throw .busy }
        }
    }

    /// Nobody has one of them open. Errors: `busy`, `accessDenied`
    static func checkNobodyIsThere(_ name: [UInt8], in directory: borrowing FileDescriptor) throws(Errno) {
        do throws(Obstacle) {
            try each(name, in: directory) { (_, group) throws(Errno) in
                if try ContainerHold.hasMember(group) { throw .busy }
            }
        } catch {
            throw error.reason
        }
    }

    private static func each(
        _ name: [UInt8], in directory: borrowing FileDescriptor,
        _ body: ([UInt8], borrowing FileDescriptor) throws(Errno) -> Void
    ) throws(Obstacle) {
        var rest: [[UInt8]] = [[]]
        while let path = rest.popLast() {
            do throws(Errno) {
                rest += try visit(path, name, in: directory, body)
            } catch {
                let members = error == .busy ? members(name + path, in: directory) : []
                throw Obstacle(reason: error, path: path, members: members)
            }
        }
    }

    /// The directories in one, but for a container's own.
    private static func visit(
        _ path: [UInt8], _ name: [UInt8], in directory: borrowing FileDescriptor,
        _ body: ([UInt8], borrowing FileDescriptor) throws(Errno) -> Void
    ) throws(Errno) -> [[UInt8]] {
        let open: FileDescriptor
        do throws(Errno) {
            open = try FileDescriptor.open(name + path, in: directory, [.reading, .directory])
        } catch {
            if try mayPass(error, name + path, in: directory) { return [] }
            throw error
        }
        var inner: [[UInt8]] = []
        for (entry, kind) in try open.entries() where kind != .other {
            if kind == .unknown, try open.statusIfPresent(of: entry)?.isDirectory != true { continue }
            if ContainerMark.isOne(entry) {
                try body(path, try FileDescriptor.open(entry, in: open, [.reading, .directory]))
            } else {
                inner.append(path + [slash] + entry)
            }
        }
        return inner
    }

    private static func members(
        _ path: [UInt8], in directory: borrowing FileDescriptor
    ) -> [CoordinationError.Holder] {
        for mark in ContainerMark.all {
            if let group = try? FileDescriptor.open(path + [slash] + mark, in: directory, [.reading, .directory]) {
                return ContainerHold.members(group, item: printable(path))
            }
        }
        return []
    }

    /// A directory that is gone, or that nobody can name; and one that its owner has closed: nobody else gets in there.
    private static func mayPass(
        _ error: Errno, _ path: [UInt8], in directory: borrowing FileDescriptor
    ) throws(Errno) -> Bool {
        if [.noSuchEntry, .notADirectory, .tooManyLinks, .nameTooLong].contains(error) { return true }
        if error != .accessDenied { return false }
        let place = try FileDescriptor.open(path, in: directory, [.placeOnly, .notFollowing])
        return try place.status().owner == effectiveUser()
    }
}

extension CoordinationError {
    init(_ obstacle: ContainersInside.Obstacle, at location: ItemLocation, _ operation: String) {
        let item = printable(location.bytes)
        let inside = printable(location.bytes + obstacle.path)
        let what = obstacle.path.isEmpty ? "it is" : "in it is"
        switch obstacle.reason {
        case .busy:
            self.init(
                .lockTimedOut, item: item, operation: operation,
                cause: "\(what) the container '\(inside)', which somebody has open", holders: obstacle.members,
                advice: "end its members first (groupctl status); nothing was changed")
        case .accessDenied, .notPermitted:
            self.init(
                .notPermitted, item: item, operation: operation,
                cause: "'\(inside)' may not be looked into, and may be a container that somebody has open",
                advice: "ask its owner; nothing was changed")
        default:
            self.init(obstacle.reason, item: inside, operation: operation)
        }
    }
}

/// What makes a directory a container, by its name: `.group`, or, from the first moment of its deletion to the last,
/// `.group.deleted`.
enum ContainerMark {
    static let standing = Array(".group".utf8)
    static let deleted = Array(".group.deleted".utf8)
    static let all = [standing, deleted]

    static func isOne(_ name: some Collection<UInt8>) -> Bool { all.contains { name.elementsEqual($0) } }
}

extension Reconciler {
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
                doomed = view.treeIndex.below(directory).reversed()
            }
            guard !view.isSuperseded, let gone = doomed.last else { return wrote }
            if try append(view.record(.removed, gone, nil, from: nil, other: nil)) {
                doomed.removeLast()
                wrote = true
            }
        }
    }
}
