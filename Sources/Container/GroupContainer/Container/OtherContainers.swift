import GroupLocking
import GroupBytes
import GroupSystemCalls

extension OpenContainer {
    /// Checks that an item belongs to this container. A container inside this one is separate: its contents are neither
    /// read nor changed by way of this one, and the files beside a database are SQLite's. Errors: `outsideContainer`.
    /// Nothing is checked where the item is at the top. System calls: statx, two for each directory around the item
    func checkIsOurs(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if mayHaveDatabases, let database = database(of: location) {
            throw CoordinationError(
                .outsideContainer, operation: operation, item: printable(location.bytes),
                reason: "the file is a part of the database '\(printable(database.bytes))', and no item")
        }
        let slash = UInt8(ascii: "/")
        var rest = location.bytes[...]
        while let end = rest.firstIndex(of: slash) {
            let around = location.bytes[..<end]
            if isContainer(around) { throw liesIn(Array(around), location, operation) }
            rest = location.bytes[(end + 1)...]
        }
    }

    /// Returns whether a directory is a container of its own. System calls: statx, two
    func isContainer(_ path: ArraySlice<UInt8>) -> Bool {
        // Where a symbolic link is on the way, the operation fails anyway.
        ContainerMark.isIn(directory.root, at: path + [UInt8(ascii: "/")])
    }

    private func liesIn(_ container: [UInt8], _ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, operation: operation, item: printable(location.bytes),
            reason: "the item is in another container, '\(printable(container))'",
            remedy: .init(
                .openElsewhere, "open that container: \(printable(directory.pathPrefix + container))"))
    }

    /// Returns the error for a directory that is another container, where only its items are wanted.
    func isAnother(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, operation: operation, item: printable(location.bytes),
            reason: "the directory is another container",
            remedy: .init(
                .openElsewhere, "open that container: \(printable(directory.pathPrefix + location.bytes))"))
    }
}

extension ContainerMark {
    /// Returns whether a directory is a container, or one that is being created or deleted. A directory named `.group`
    /// with neither a lock file nor a format file makes none. `prefix` is the path of the directory in `directory`,
    /// with a slash at its end, or empty. System calls: statx, two where there is none
    static func isIn(_ directory: borrowing FileDescriptor, at prefix: ArraySlice<UInt8> = []) -> Bool {
        if isDirectory(prefix + deleted, in: directory) { return true }
        if !isDirectory(prefix + present, in: directory) { return false }
        for name in [LockFile.name, ContainerFormat.name] {
            let path = Array(prefix) + present + [UInt8(ascii: "/")] + name
            if (try? directory.statusIfPresent(of: path)) ?? nil != nil { return true }
        }
        return false
    }

    private static func isDirectory(_ path: ArraySlice<UInt8>, in directory: borrowing FileDescriptor) -> Bool {
        (try? directory.statusIfPresent(of: Array(path)))?.isDirectory ?? false
    }
}

extension CoordinationError {
    /// Returns the error for a directory that is, or contains, a container; `inside` is the path of that container.
    static func hasContainer(_ inside: [UInt8], _ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, operation: operation, item: printable(location.bytes),
            reason: inside == location.bytes
                ? "the directory is another container"
                : "the directory contains another container, '\(printable(inside))'",
            remedy: .init(
                .handleSeparately,
                "name the other items one by one; a container without members can be copied as a directory"))
    }
}

/// The containers in a directory, or the directory itself if it is one, while the directory is moved or removed. No
/// process opens one of them meanwhile, and nothing is done where a process has one open.
final class ContainersInside {
    /// What prevents a move or a removal, and where.
    struct Obstacle: Error {
        /// `busy`: a container that another process has open; `accessDenied`: a directory whose contents cannot be
        /// seen.
        var reason: Errno
        /// The path, relative to the directory.
        var path: [UInt8]
        var members: [CoordinationError.Holder] = []
    }

    private static let slash = UInt8(ascii: "/")
    /// The locks of the containers, by the containers' paths, relative to the directory.
    private var locks: [[UInt8]: WholeContainerLock] = [:]

    /// Locks all containers in a directory. Linear in the number of directories in it. System calls: openat2, getdents
    /// for each directory; those of `WholeContainerLock` for each container
    init(_ name: [UInt8], in directory: borrowing FileDescriptor) throws(Obstacle) {
        var locks: [[UInt8]: WholeContainerLock] = [:]
        try Self.each(name, in: directory) { (path, group) throws(Errno) in locks[path] = try WholeContainerLock(group)
        }
        self.locks = locks
    }

    /// Locks all containers in an item. Errors: `lockTimedOut`, with the members; `notPermitted`.
    convenience init(_ location: ItemLocation, of opened: OpenContainer, _ operation: String) throws(CoordinationError)
    {
        let directory = try translating(operation, item: printable(location.bytes)) { () throws(Errno) in
            try opened.directory(at: location.parent)
        }
        do throws(Obstacle) {
            try self.init(location.name, in: directory.descriptor)
        } catch {
            throw CoordinationError(error, at: location, operation)
        }
    }

    /// Checks, after the rename, that no process has created a container in the directory since the directory was
    /// searched. (A process that is about to open a container finds that it was moved.)
    func checkNoneCreated(_ name: [UInt8], in directory: borrowing FileDescriptor) throws(Obstacle) {
        try Self.each(name, in: directory) { (path, group) throws(Errno) in
            if locks[path] == nil, try WholeContainerLock.hasMember(group) { throw .busy }
        }
    }

    /// Checks that no process has one of the containers open. Errors: `busy`, `accessDenied`
    static func checkNoneIsOpen(_ name: [UInt8], in directory: borrowing FileDescriptor) throws(Errno) {
        do throws(Obstacle) {
            try each(name, in: directory) { (_, group) throws(Errno) in
                if try WholeContainerLock.hasMember(group) { throw .busy }
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

    /// Returns the directories in a directory, except for a container's own.
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
                return WholeContainerLock.members(group, item: printable(path))
            }
        }
        return []
    }

    /// Returns whether a directory may be skipped after an error: it is gone or no directory, or its path is too long
    /// to be opened, or it belongs to this user and is closed to its owner, so that no other user can enter it either.
    private static func mayPass(
        _ error: Errno, _ path: [UInt8], in directory: borrowing FileDescriptor
    ) throws(Errno) -> Bool {
        if [.noSuchEntry, .notADirectory, .tooManyLinks, .nameTooLong].contains(error) { return true }
        if error != .accessDenied { return false }
        let item = try FileDescriptor.open(path, in: directory, [.pathOnly, .notFollowing])
        return try item.status().owner == effectiveUser()
    }
}

extension CoordinationError {
    init(_ obstacle: ContainersInside.Obstacle, at location: ItemLocation, _ operation: String) {
        let item = printable(location.bytes)
        let inside = printable(location.bytes + obstacle.path)
        let what =
            obstacle.path.isEmpty
            ? "the directory is another container" : "the directory contains another container, '\(inside)'"
        switch obstacle.reason {
        case .busy:
            self.init(
                .lockTimedOut, operation: operation, item: item,
                reason: "\(what), which another process has open", holders: obstacle.members,
                remedy: .init(.endMembers, "nothing was changed; end the members of that container first"))
        case .accessDenied, .notPermitted:
            self.init(
                .notPermitted, operation: operation, item: item,
                reason: "'\(inside)' may not be read, and may be a container that another process has open",
                remedy: .init(.askOwner, "nothing was changed; ask the owner for permission"))
        default:
            self.init(obstacle.reason, operation: operation, item: inside)
        }
    }
}
