import GroupBytes
import GroupSystemCalls

/// The deletion of a container with everything in it. A container is deleted only while no other process has it open: a
/// live member would go on in files that no other process sees.
///
/// The container's end is one rename, of `.group` to `.group.deleted`: from then on it is no container for any process.
/// The contents are removed after that, `.group.deleted` last, so that an interrupted deletion differs from a plain
/// directory and can be continued. The deletion does not leave the root: it follows no symbolic link and no mount
/// point.
package final class ContainerDeletion {
    /// What a deletion would remove.
    package struct Contents: Equatable, Sendable {
        /// The number of files, directories and symbolic links, without the container's own.
        package var items = 0
        /// The bytes of the files' contents.
        package var bytes: UInt64 = 0
    }

    private let path: [UInt8]
    private let root: FileDescriptor
    private let operation = "delete"
    private static let group = ContainerMark.present
    private static let deleted = ContainerMark.deleted

    private var label: String { printable(path) }

    /// Opens the container to delete. Errors: `notFound` where there is neither a container nor what is left of one;
    /// `notPermitted`.
    package init(_ name: ContainerName) throws(CoordinationError) {
        let path = try name.location()
        self.path = path
        do throws(CoordinationError) {
            root = try Self.openRoot(path)
        } catch {
            throw ContainerLocation.hinting(error, name.identifier)
        }
    }

    private static func openRoot(_ path: [UInt8]) throws(CoordinationError) -> FileDescriptor {
        do throws(Errno) {
            let root = try FileDescriptor.open(path: path, [.reading, .directory])
            if try root.statusIfPresent(of: group) != nil { return root }
            if try root.statusIfPresent(of: deleted) != nil { return root }
        } catch {
            if error != .noSuchEntry { throw CoordinationError(error, operation: "delete", item: printable(path)) }
        }
        throw CoordinationError(.notFound, operation: "delete", item: printable(path), reason: "there is no container")
    }

    /// Counts the items and their bytes. `note` is called now and then with the number so far. Linear in the number of
    /// items. Errors: `unsupportedFileSystem` where another file system is mounted in the container; `notPermitted`
    /// where this user may not empty a directory in it.
    package func survey(_ note: (Int) -> Void = { _ in }) throws(CoordinationError) -> Contents {
        var contents = Contents()
        let mount = try translating(operation, item: label) { () throws(Errno) in try root.status().mountID }
        var rest: [[UInt8]] = [[]]
        while let directory = rest.popLast() {
            note(contents.items)
            // A directory that may not be listed belongs to this user, or removing it fails.
            let here = directory.isEmpty ? [UInt8(ascii: ".")] : directory
            guard let open = try? FileDescriptor.open(here, in: root, [.reading, .directory]),
                let names = try? open.entryNames()
            else { continue }
            for name in names {
                guard let status = try? open.status(of: name) else { continue }
                let item = directory.isEmpty ? name : directory + [UInt8(ascii: "/")] + name
                if status.mountID != mount {
                    throw CoordinationError(
                        .unsupportedFileSystem, operation: operation, item: printable(item), containerPath: label,
                        reason: "another file system is mounted there",
                        remedy: .init(.unmount, "nothing was deleted; unmount it first"))
                }
                let isOwn = directory.isEmpty && (name == Self.group || name == Self.deleted)
                if isOwn, let obstacle = root.removalObstacle(in: name) { throw mayNotEmpty(obstacle) }
                if isOwn { continue }
                if status.isDirectory, open.cannotEmpty(name, status) {
                    throw mayNotEmpty(RemovalObstacle(path: item, owner: status.owner))
                }
                contents.items += 1
                if status.isRegularFile { contents.bytes += status.size }
                if status.isDirectory { rest.append(item) }
            }
        }
        return contents
    }

    /// Deletes the container. Returns true if the directory itself is removed, too; where this user may not remove it,
    /// it stays, empty. `removed` is called for each item that is removed.
    ///
    /// Errors:
    /// - `lockTimedOut`, with the members, where another process has the container open; nothing was deleted.
    /// - `notPermitted` and similar where something could not be removed; the rest is removed, and the call can be
    ///   repeated.
    ///
    /// System calls: fcntl(F_OFD_SETLK), renameat2, unlinkat, rmdir
    package func remove(_ removed: () -> Void = {}) throws(CoordinationError) -> Bool {
        // Held to the end, so that no process joins.
        let lock = try lockWhole()
        let inside = try lockInside()
        defer {
            extendLifetime(lock)
            extendLifetime(inside)
        }
        let names = try translating(operation, item: label) { () throws(Errno) in
            if try root.statusIfPresent(of: Self.group) != nil {
                try root.removeTree(Self.deleted)
                try root.rename(Self.group, to: Self.deleted, in: root, replacing: false)
                try root.synchronize()
            }
            return try root.entryNames()
        }
        // What is created from now on belongs to a new container, and stays.
        for name in names where name != Self.deleted && name != Self.group { try removeTree(name, removed) }
        try removeTree(Self.deleted)
        return removeDirectory()
    }

    private func removeTree(_ name: [UInt8], _ removed: () -> Void = {}) throws(CoordinationError) {
        do throws(Errno) {
            try root.removeTree(name, removed: removed)
        } catch {
            if let obstacle = root.removalObstacle(in: name) { throw mayNotEmpty(obstacle) }
            throw CoordinationError(error, operation: operation, item: printable(name))
        }
    }

    private func mayNotEmpty(_ obstacle: RemovalObstacle) -> CoordinationError {
        let directory = printable(obstacle.path)
        return CoordinationError(
            .notPermitted, operation: operation, item: directory, containerPath: label,
            reason: "it is a directory of user \(obstacle.owner), and user \(effectiveUser()) may not empty it",
            remedy: .init(
                .askOwner,
                "have user \(obstacle.owner) remove '\(directory)', and delete the container again after that"))
    }

    private func removeDirectory() -> Bool {
        do throws(Errno) {
            try FileDescriptor.removeDirectory(path: path)
            return true
        } catch {
            // The path is a symbolic link to the directory.
            guard error == .notADirectory, let path = try? root.absolutePath() else { return false }
            return (try? FileDescriptor.removeDirectory(path: path)) != nil
        }
    }

    /// Keeps other processes from opening the container. Returns nil where there is no container any more.
    private func lockWhole() throws(CoordinationError) -> WholeContainerLock? {
        do throws(Errno) {
            guard try root.statusIfPresent(of: Self.group) != nil else { return nil }
            return try WholeContainerLock(FileDescriptor.open(Self.group, in: root, [.reading, .directory]))
        } catch {
            if error != .busy { throw CoordinationError(error, operation: operation, item: label) }
        }
        var members: [CoordinationError.Holder] = []
        if let group = try? FileDescriptor.open(Self.group, in: root, [.reading, .directory]) {
            members = WholeContainerLock.members(group, item: label)
        }
        throw CoordinationError(
            .lockTimedOut, operation: operation, item: label, reason: "another process has the container open",
            holders: members, remedy: .init(.endMembers, "nothing was deleted; end the members of the container first"))
    }

    /// Keeps other processes from opening the containers inside, which are deleted, too.
    private func lockInside() throws(CoordinationError) -> [ContainersInside] {
        let names = try translating(operation, item: label) { () throws(Errno) in
            try root.entries().filter { $0.kind != .other && !ContainerMark.isOne($0.name) }.map(\.name)
        }
        var held: [ContainersInside] = []
        for name in names {
            guard let location = try? ItemLocation(name) else { continue }
            do throws(ContainersInside.Obstacle) {
                held.append(try ContainersInside(name, in: root))
            } catch {
                throw CoordinationError(error, at: location, operation).located(in: path)
            }
        }
        return held
    }
}
