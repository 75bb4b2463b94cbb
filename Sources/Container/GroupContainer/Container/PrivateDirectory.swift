import GroupLocking
package import GroupSystemCalls

/// A directory below `.group` in which one of this package's own modules keeps files.
package struct PrivateDirectory: Sendable {
    let opened: OpenContainer
    let name: String

    package init(_ name: String, in container: Container) { (opened, self.name) = (container.opened, name) }

    /// Opens the directory, and makes it where it is missing.
    package func open() throws(CoordinationError) -> FileDescriptor {
        try opened.locating { () throws(CoordinationError) in try opened.directory.ownDirectory(name) }
    }

    /// Replaces an item by a file of the directory, with one change. The file is the item then: a process that finds
    /// its inode there has placed it before it was killed. The directories around the item are made. Errors: those of
    /// `BlockingCoordinator.write(bytes:to:)`
    @discardableResult
    package func install(
        _ file: [UInt8], at path: ItemPath, purpose: String, timeout: Duration?
    ) throws -> WriteResult {
        let coordinator = Container(opened).coordinator(purpose: purpose).blocking
        try makeDirectory(around: path, by: coordinator, timeout)
        let call = ItemCall.write(path)
        return try coordinator.run(call, .durable, timeout) { access in
            let content = try opened.locating { () throws(CoordinationError) -> NewContent in
                let directory = try opened.directory.ownDirectory(name)
                return .staged(
                    try translating("write", item: path.description) { () throws(Errno) in
                        try StagedFile(moving: file, in: directory, by: opened)
                    })
            }
            return try access.write(content, to: path, if: .always, mode: nil)
        }
    }

    private func makeDirectory(
        around path: ItemPath, by coordinator: BlockingCoordinator, _ timeout: Duration?
    ) throws {
        guard let parent = try path.location(for: "write").parent,
            try opened.status(of: parent, for: "write") == nil
        else { return }
        try coordinator.createDirectory(ItemPath(bytes: parent.bytes), timeout: timeout)
    }

    /// Returns whether an item is the file with this inode.
    package func isInstalled(inode: UInt64, at path: ItemPath) throws(CoordinationError) -> Bool {
        try opened.locating { () throws(CoordinationError) -> Bool in
            try opened.status(of: try path.location(for: "look at"), for: "look at")?.inode == inode
        }
    }
}

extension ItemPath {
    /// Checks that an item can have this path, and returns it as text. Errors: `invalidArgument`, `outsideContainer`;
    /// also for a path that is not UTF-8
    package func checkedText(for operation: String) throws(CoordinationError) -> String {
        _ = try location(for: operation)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CoordinationError(
                .invalidArgument, operation: operation, item: description, reason: "the path is not UTF-8")
        }
        return text
    }
}

/// The right to be the one process of a container that does some work, as long as the object and the process live: a
/// lock on a byte of the lock file. System calls: fcntl(F_OFD_SETLK, F_OFD_GETLK)
package final class SoleProcess: Sendable {
    /// Work that one process of a container does for all. Each kind has a byte of the lock file, from
    /// `ContainerLock.services`; `docs/reference/format.md` lists them.
    package struct Work: Sendable {
        package let name: String
        package let byte: Int64

        package init(_ name: String, byte: Int64) {
            self.name = name
            self.byte = byte
        }
    }

    private let byte: HeldByte
    private let opened: OpenContainer

    /// Takes the right; nil where another process has it.
    package init?(for work: Work, of container: Container) throws(CoordinationError) {
        let opened = container.opened
        if let readOnly = opened.readOnly {
            throw readOnly.error(container.path.description, "lock the \(work.name) of")
        }
        let byte = try locking("lock the \(work.name) of") { () throws(LockFileFailure) in
            try HeldByte(work.byte, .exclusive, opened.lockManager)
        }
        guard let byte else { return nil }
        self.byte = byte
        self.opened = opened
    }

    /// Returns whether a process does the work.
    package static func isThere(for work: Work, of container: Container) throws(CoordinationError) -> Bool {
        let opened = container.opened
        return try locking("read the locks of") { () throws(LockFileFailure) in
            try HeldByte.isHeld(work.byte, opened.lockManager)
        }
    }
}
