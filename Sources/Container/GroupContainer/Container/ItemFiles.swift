import GroupBytes
import GroupSystemCalls

/// The ways from a checked location to a file. Each uses `openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)` on the root,
/// so that not even a parent that is replaced by a symbolic link meanwhile leads out of the container.
extension OpenContainer {
    /// Opens the directory at a location; nil is the root.
    func openDirectory(_ location: ItemLocation?) throws(Errno) -> FileDescriptor {
        guard let location else {
            return try FileDescriptor.open([UInt8(ascii: ".")], in: directory.root, [.reading, .directory])
        }
        return try FileDescriptor.open(location.bytes, in: directory.root, [.reading, .directory])
    }

    /// Returns the status of the item itself, also of a symbolic link; nil if there is none.
    func status(of location: ItemLocation) throws(Errno) -> FileStatus? {
        try status(of: location.bytes, in: directory.root)
    }

    /// The form of `status(of:)` that begins at another directory.
    func status(of path: [UInt8], in directory: borrowing FileDescriptor) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            // A path of one component cannot lead anywhere else.
            if !path.contains(UInt8(ascii: "/")) { return try directory.statusIfPresent(of: path) }
            return try FileDescriptor.open(path, in: directory, [.pathOnly, .notFollowing]).status()
        } catch {
            if error == .noSuchEntry || error == .notADirectory { return nil }
            throw error
        }
    }

    /// The form of `status(of:)` for an operation. Errors: `invalidArgument` if a directory above the item is a
    /// symbolic link; `outsideContainer` if that leads out; and those of the system.
    func status(of location: ItemLocation, for operation: String) throws(CoordinationError) -> FileStatus? {
        do throws(Errno) {
            return try status(of: location)
        } catch {
            if error == .tooManyLinks { try checkIsNoLink(location, operation) }
            throw CoordinationError(error, operation: operation, item: printable(location.bytes))
        }
    }

    /// Returns the location of an item's content: the target of a symbolic link, as long as it stays in the container.
    /// Errors: `outsideContainer`, also for more than 40 symbolic links; those of `status`.
    func resolve(_ location: ItemLocation, operation: String) throws(CoordinationError) -> ItemLocation {
        var current = location
        for _ in 0..<40 {
            guard let status = try status(of: current, for: operation), status.isLink else { return current }
            let target = try translating(operation, item: printable(current.bytes)) { () throws(Errno) in
                try openDirectory(current.parent).linkTarget(of: current.name)
            }
            do {
                current = try current.following(link: target)
            } catch {
                throw CoordinationError(
                    .outsideContainer, operation: operation, item: printable(location.bytes),
                    reason: "the item is a symbolic link that \(Self.destination(error)), to '\(printable(target))'")
            }
        }
        throw linkLoop(location, operation)
    }

    static func destination(_ fault: ItemLocation.Fault) -> String {
        switch fault {
        case .empty: "leads to the container itself"
        case .absolute: "is absolute, and is not followed"
        case .leadsOut: "leads out of the container"
        case .reserved: "leads into a container's own directory"
        case .malformed, .nulByte, .componentTooLong, .tooLong: "leads nowhere"
        }
    }

    func linkLoop(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .outsideContainer, operation: operation, item: printable(location.bytes),
            reason: "the symbolic links on the path form a loop")
    }

    /// Reads a regular file. Errors: `wrongType` for other types; opening a FIFO would block.
    func readFile(_ location: ItemLocation, operation: String = "read") throws(CoordinationError) -> (
        content: [UInt8], status: FileStatus
    ) {
        try readFile(location.bytes, in: directory.root, label: printable(location.bytes), operation: operation)
    }

    /// The form of `readFile` that begins at another directory.
    func readFile(
        _ path: [UInt8], in directory: borrowing FileDescriptor, label: @autoclosure () -> String,
        operation: String = "read"
    ) throws(CoordinationError) -> (content: [UInt8], status: FileStatus) {
        try withFile(path, in: directory, label: label(), operation: operation) { file, status throws(Errno) in
            (try file.readAll(size: status.size), status)
        }
    }

    /// The status of a file, and the result of a call on it; nil if it is not a regular file.
    private typealias Opened<Answer> = (status: FileStatus, answer: Answer?)

    private func withFile<Answer>(
        _ path: [UInt8], in directory: borrowing FileDescriptor, label: @autoclosure () -> String, operation: String,
        _ body: (borrowing FileDescriptor, FileStatus) throws(Errno) -> Answer
    ) throws(CoordinationError) -> Answer {
        let opened = try translating(operation, item: label()) { () throws(Errno) in
            try Self.open(path, in: directory, body)
        }
        return try Self.answer(opened, label(), operation)
    }

    /// The form of `withFile` that opens the file in another table of descriptors, for files that the program has not
    /// named: the program may hold locks on the file, which a close in its own table would release.
    private func withFileAside<Answer>(
        _ location: ItemLocation, operation: String,
        _ body: (borrowing FileDescriptor, FileStatus, _ staging: borrowing FileDescriptor) throws(Errno) -> Answer
    ) throws(CoordinationError) -> Answer {
        let opened = try translating(operation, item: printable(location.bytes)) { () throws(Errno) in
            try SeparateTable.within(directory.root, directory.staging) { root, staging throws(Errno) in
                try Self.open(location.bytes, in: root) { file, status throws(Errno) in
                    try body(file, status, staging)
                }
            }
        }
        return try Self.answer(opened, printable(location.bytes), operation)
    }

    private static func open<Answer>(
        _ path: [UInt8], in directory: borrowing FileDescriptor,
        _ body: (borrowing FileDescriptor, FileStatus) throws(Errno) -> Answer
    ) throws(Errno) -> Opened<Answer> {
        let file = try FileDescriptor.open(path, in: directory, .readingItself)
        let status = try file.status()
        return (status, status.isRegularFile ? try body(file, status) : nil)
    }

    private static func answer<Answer>(
        _ opened: Opened<Answer>, _ label: @autoclosure () -> String, _ operation: String
    ) throws(CoordinationError) -> Answer {
        if let answer = opened.answer { return answer }
        throw CoordinationError(
            .wrongType, operation: operation, item: label(),
            reason: opened.status.isDirectory ? "the item is a directory" : "the item is not a regular file")
    }

    /// Returns whether a file has this content; reads only as much as is needed. False for a file that may not be read,
    /// because that can be replaced all the same.
    func isReadable(_ location: ItemLocation, as content: NewContent) throws(CoordinationError) -> Bool {
        do {
            return try withFileAside(location, operation: "write") { file, _, staging throws(Errno) in
                switch content {
                case .bytes(let bytes): try file.holds(bytes)
                case .staged(let new):
                    try file.hasSameContent(as: FileDescriptor.open(new.name, in: staging, .reading))
                }
            }
        } catch {
            if error.code == .notPermitted { return false }
            throw error
        }
    }

    func contentHash(of content: [UInt8]) -> UInt64? {
        UInt64(content.count) <= ItemState.largestHashed ? hashKey.hash(content) : nil
    }

    /// Returns the hash of a file's content, nil if the file is too large for one; and the file's inode.
    func contentHash(
        at location: ItemLocation, operation: String
    ) throws(CoordinationError) -> (content: ContentHash?, inode: UInt64) {
        let limit = Int(ItemState.largestHashed) + 1
        return try withFileAside(location, operation: operation) { file, status, _ throws(Errno) in
            let content = try file.readAll(size: status.size, limit: limit)
            return (contentHash(of: content).map { ContentHash(hash: $0, size: UInt64(content.count)) }, status.inode)
        }
    }
}

extension OpenContainer {
    /// Opens the directory at a location; nil is the root, which is open already.
    func directory(at location: ItemLocation?) throws(Errno) -> OpenDirectory {
        guard location != nil else { return directory.rootDirectory }
        return OpenDirectory(try openDirectory(location))
    }
}

/// Symbolic links among the directories of a path. They are not followed: an item with two paths would have two locks,
/// and two processes could write it at once.
extension OpenContainer {
    /// Throws if the item or a directory above it is a symbolic link. Errors: `invalidArgument`, with the item's real
    /// path; `outsideContainer` if a symbolic link leads out, or if the links form a loop. System calls: openat2 and
    /// statx for each directory above the item
    func checkIsNoLink(
        _ location: ItemLocation, _ operation: String,
        because reason: String = "an item of two names would have two locks", isFollowed: Bool = false
    ) throws(CoordinationError) {
        let (real, links) = try followLinks(on: location, operation)
        guard let first = links.first else { return }
        let names = links.map { "'\(printable($0.bytes))'" }.joined(separator: ", ")
        let following = CoordinationError.Remedy(
            .choosePath, "name the item '\(printable(real.bytes))', and \(names), as a link may lead elsewhere later")
        throw CoordinationError(
            .invalidArgument, operation: operation, item: printable(location.bytes),
            reason: "'\(printable(first.bytes))' is a symbolic link, and \(reason)",
            remedy: isFollowed ? following : .init(.choosePath, "name the item '\(printable(real.bytes))'"))
    }

    /// Returns where a path leads, and the symbolic links on the way. Errors: `outsideContainer` if a link leads out, or
    /// if the links form a loop. System calls: those of `checkIsNoLink`
    func followLinks(
        on location: ItemLocation, _ operation: String
    ) throws(CoordinationError) -> (real: ItemLocation, links: [ItemLocation]) {
        var (current, links): (ItemLocation, [ItemLocation]) = (location, [])
        while links.count < 40 {
            guard let (link, target) = link(on: current) else { return (current, links) }
            links.append(link)
            do {
                current = try link.following(link: target, then: current.bytes[link.bytes.count...])
            } catch {
                throw CoordinationError(
                    .outsideContainer, operation: operation, item: printable(location.bytes),
                    reason:
                        "'\(printable(link.bytes))' is a symbolic link that \(Self.destination(error)), to '\(printable(target))'"
                )
            }
        }
        throw linkLoop(location, operation)
    }

    /// Returns the first symbolic link on the path, and its target.
    private func link(on location: ItemLocation) -> (ItemLocation, target: [UInt8])? {
        for location in location.ancestors + [location] {
            // The operation itself finds a directory that is missing, or that may not be entered.
            guard let status = try? status(of: location) else { return nil }
            if !status.isLink { continue }
            guard let target = try? openDirectory(location.parent).linkTarget(of: location.name) else { return nil }
            return (location, target)
        }
        return nil
    }
}

extension Container {
    /// Checks that a pattern for paths does not lead through a symbolic link, as the changes of what a link leads to
    /// are reported at its real path: such a pattern would match nothing. Looks at the components before the first with
    /// a wildcard, and not at the last one of a pattern without any: the link itself may change. Errors:
    /// `invalidArgument`, with the real path; `outsideContainer`. System calls: openat2 and statx for each component
    package func checkIsNoLink(pattern: [UInt8], operation: String) throws(CoordinationError) {
        let literal = Self.literalComponents(of: pattern)
        if literal.count == pattern.split(separator: UInt8(ascii: "/")).count {
            guard let directory = (try? ItemLocation(pattern))?.parent,
                try !opened.followLinks(on: directory, operation).links.isEmpty
            else { return }
        }
        try checkIsNoLink(literal, operation)
    }

    /// Checks that none of a pattern's components is a symbolic link. Errors: as above
    func checkIsNoLink(
        _ components: ArraySlice<ArraySlice<UInt8>>, _ operation: String
    ) throws(CoordinationError) {
        guard let location = try? ItemLocation(Array(components.joined(separator: [UInt8(ascii: "/")]))) else { return }
        try opened.checkIsNoLink(
            location, operation, because: "the changes of what it leads to are reported at their real path",
            isFollowed: true)
    }

    /// Returns the components of a pattern before the first with a wildcard.
    static func literalComponents(of pattern: [UInt8]) -> ArraySlice<ArraySlice<UInt8>> {
        pattern.split(separator: UInt8(ascii: "/")).prefix { part in !part.contains { "*?[\\".utf8.contains($0) } }
    }
}
