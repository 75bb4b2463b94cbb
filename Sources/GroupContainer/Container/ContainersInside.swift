import GroupSystemCalls

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
