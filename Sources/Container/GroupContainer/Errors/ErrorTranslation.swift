import GroupBytes
package import GroupSystemCalls

extension CoordinationError {
    /// Translates a system error; the only place that does so. The error's `cause` is the system error.
    package init(_ errno: Errno, operation: String, item: String?) {
        if [.notPermitted, .noSystemCall].contains(errno), let reason = Self.refusalOfOpening {
            self.init(
                .notPermitted, operation: operation, item: item, reason: reason,
                remedy: .init(
                    .update, "use Linux 5.6 or newer, and a filter that permits openat2, as newer container runtimes do"
                ),
                cause: errno)
            return
        }
        if errno == .crossesDevices {
            self.init(
                .unsupportedFileSystem, operation: operation, item: item, reason: Self.otherFileSystem,
                remedy: .init(.changeWithoutCoordination, Self.aroundOtherFileSystem(operation)), cause: errno)
            return
        }
        let (code, remedy) = Self.translation(of: errno, operation)
        // One of the container's own files has another type.
        let isOwn = item?.hasPrefix(".group/") ?? false
        if isOwn, let item, errno == .tooManyLinks || code == .wrongType {
            self = .damaged(
                operation: operation, item: item,
                reason: errno == .tooManyLinks ? "the file is a symbolic link" : Self.reason(errno))
            cause = errno
            return
        }
        self.init(
            code, operation: operation, item: item, reason: Self.reason(errno),
            remedy: isOwn && code == .notFound ? nil : remedy, cause: errno)
    }

    private static func translation(of errno: Errno, _ operation: String) -> (code: Code, remedy: Remedy?) {
        switch errno {
        case .noSuchEntry: (.notFound, Remedy(.checkPath, "check the path"))
        case .accessDenied, .notPermitted: (.notPermitted, Remedy(.askOwner, "ask the owner for permission"))
        case .readOnly: (.notPermitted, nil)
        case .noSpace, .quotaExceeded:
            (.noSpace, Remedy(.freeSpace, "nothing was changed; free space on the file system, and try again"))
        case .tooManyLinks: (.outsideContainer, nil)
        case .notADirectory, .isADirectory, .noSuchDevice: (.wrongType, nil)
        case .exists: (.conflict, Remedy(.replace, "pass `replacing: true` to replace it"))
        case .notEmpty where operation == "remove":
            (.notEmpty, Remedy(.recurse, "pass `recursively: true`, or remove the contents first"))
        case .notEmpty: (.notEmpty, Remedy(.emptyDirectory, "remove the contents of the directory first"))
        case .nameTooLong: (.invalidArgument, nil)
        case .tooLarge:
            (
                .inputOutput,
                Remedy(.raiseFileSize, "nothing was changed; raise the limit of file sizes (RLIMIT_FSIZE)")
            )
        case .tooManyFilesInSystem:
            (.limitReached, Remedy(.raiseOpenFiles, "raise the machine's limit of open files (fs.file-max)"))
        case .tooManyFiles: (.limitReached, Remedy(.raiseOpenFiles, "raise the limit of open files (RLIMIT_NOFILE)"))
        case .tryAgain:
            (
                .limitReached,
                Remedy(
                    .raiseProcesses, "raise the limit of processes and threads (RLIMIT_NPROC), or of memory (RLIMIT_AS)"
                )
            )
        case .noMemory: (.limitReached, Remedy(.raiseMemory, "free memory, or raise the limit of memory (RLIMIT_AS)"))
        default: (.inputOutput, nil)
        }
    }

    private static func reason(_ errno: Errno) -> String {
        switch errno {
        case .noSuchDevice: "the item is not a regular file"
        case .tooManyLinks: "\(errno): a symbolic link is in the path"
        case .readOnly: "\(errno): the file system is mounted read-only"
        case .tryAgain: "\(errno): no thread can be started"
        default: errno.description
        }
    }

    /// The reason where a filter or an old kernel refuses every call of openat2; nil otherwise.
    static var refusalOfOpening: String? {
        switch FileDescriptor.refusalOfOpening {
        case Errno.notPermitted?: "a filter (seccomp) does not permit the system call openat2"
        case nil: nil
        default: "there is no system call openat2: the kernel is too old, or a filter (seccomp) hides it"
        }
    }

    /// Only a rename fails with this error: a path that was checked does not leave the container.
    private static let otherFileSystem =
        "the item is on another file system than the container's own files (a mount, a btrfs subvolume, a lower layer of an overlay), and no item is renamed from one to the other"

    private static func aroundOtherFileSystem(_ operation: String) -> String {
        switch operation {
        case "move": "copy the item, and remove the original without coordination: these are two changes"
        case "remove": "remove the item without coordination: followers get the change all the same"
        default: "change the item without coordination, or keep it on the container's own file system"
        }
    }

    /// Returns the error for an item on which a file system is mounted, or below it.
    static func mountPoint(_ mount: ItemLocation, _ item: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .unsupportedFileSystem, operation: operation, item: printable(item.bytes),
            reason: mount == item
                ? "a file system is mounted there"
                : "a file system is mounted in the directory, at '\(printable(mount.bytes))'",
            remedy: .init(.unmount, "unmount it first"))
    }

    init(_ fault: ItemLocation.Fault, operation: String, path: [UInt8]) {
        let (code, reason): (Code, String) =
            switch fault {
            case .empty: (.invalidArgument, "the path is empty")
            case .absolute: (.outsideContainer, "the path is absolute; items are named relative to the container")
            case .leadsOut: (.outsideContainer, "the path leads out of the container")
            case .reserved: (.outsideContainer, "'.group' is a container's own directory")
            case .malformed: (.invalidArgument, "the path has an empty component or a '.'")
            case .nulByte: (.invalidArgument, "the path has a NUL byte")
            case .componentTooLong: (.invalidArgument, "a component is longer than 255 bytes")
            case .tooLong: (.invalidArgument, "the path is longer than 4095 bytes")
            }
        self.init(
            code, operation: operation, item: printable(path), reason: reason,
            remedy: fault == .malformed ? Self.simpler(path) : nil)
    }

    private static func simpler(_ path: [UInt8]) -> Remedy? {
        if path.starts(with: "./".utf8) {
            return Remedy(.choosePath, "leave out './': items are named relative to the container")
        }
        return path.last == UInt8(ascii: "/") ? Remedy(.choosePath, "leave out the '/' at the end") : nil
    }

    static func damaged(operation: String, item: String, reason: String) -> CoordinationError {
        CoordinationError(
            .damaged, operation: operation, item: item, reason: reason,
            remedy: .init(.checkContainer, "nothing was changed; check the container for damage"))
    }

    /// Returns this error with the container in which it happened, unless it has one, is about the container itself, or
    /// concerns a file of an absolute path.
    func located(in container: OpenContainer) -> CoordinationError {
        knowingInodes(of: container.directory.root).knowingOwner(in: container.directory.root)
            .relative(to: container.directory.openedAt)
            .located(in: container.directory.path)
    }

    /// Returns this error with the item's name as its remedy, where an absolute path of it was named.
    private func relative(to directory: [UInt8]?) -> CoordinationError {
        guard code == .outsideContainer, remedy == nil, let item, let directory else { return self }
        let prefix = printable(directory) + "/"
        guard item.hasPrefix(prefix), item != prefix else { return self }
        // Empty components and those of '.' are no part of an item's path.
        let rest = item.dropFirst(prefix.count).split(separator: "/").filter { $0 != "." }
        if rest.isEmpty { return self }
        let name = rest.joined(separator: "/")
        var error = self
        error.remedy = Remedy(.choosePath, "name the item '\(name)'")
        return error
    }

    /// Returns this error with its reason where the kernel has one error for two: no room, and no inode. System calls:
    /// fstatfs(2)
    func knowingInodes(of directory: borrowing FileDescriptor) -> CoordinationError {
        guard code == .noSpace, cause as? Errno == .noSpace, (try? directory.freeSpace().inodes) == 0 else {
            return self
        }
        var error = self
        error.reason = "no inode is left: the file system can hold no further file"
        error.remedy = Remedy(
            .freeSpace, "nothing was changed; remove files or directories on the file system, and try again")
        return error
    }

    /// Returns this error with what this user can do where the item, or its directory, refuses its own owner. System
    /// calls: openat2(2), statx(2)
    private func knowingOwner(in root: borrowing FileDescriptor) -> CoordinationError {
        guard cause as? Errno == .accessDenied, remedy?.code == .askOwner, let item else { return self }
        let parent = item.lastIndex(of: "/").map { String(item[..<$0]) } ?? "."
        let parts: [(path: String, needed: UInt32)] =
            switch operation {
            case "read": [(parent, 0o100), (item, 0o400)]
            case "copy": [(item, 0o400), (parent, 0o300)]
            default: [(parent, 0o300)]
            }
        for part in parts {
            // A name that had to be made printable may name nothing: the error stays as it is.
            let status = try? FileDescriptor.open(Array(part.path.utf8), in: root, [.pathOnly]).status()
            guard let status, status.owner == effectiveUser() else { continue }
            let missing = part.needed & ~status.permissions
            if missing == 0 { continue }
            let letters = [(0o400, "r"), (0o200, "w"), (0o100, "x")].filter { missing & $0.0 != 0 }.map(\.1).joined()
            var error = self
            error.reason = "\(Errno.accessDenied): '\(part.path)' is this user's own, and its mode refuses it"
            error.remedy = Remedy(.askOwner, "chmod u+\(letters) on '\(part.path)' permits it")
            return error
        }
        return self
    }

    func located(in directory: [UInt8]) -> CoordinationError {
        let path = printable(directory)
        if containerPath != nil || item == path || (item?.hasPrefix("/") ?? false) { return self }
        var error = self
        error.containerPath = path
        return error
    }
}

extension CoordinationError {
    /// Returns this error with the container in which it happened, for modules above this one.
    package func located(in container: Container) -> CoordinationError { located(in: container.opened) }
}

extension Container {
    /// Runs the body of a call of a module above this one, and adds the container to its error.
    package func locating<Answer: ~Copyable>(
        _ body: () throws(CoordinationError) -> Answer
    ) throws(CoordinationError) -> Answer {
        try opened.locating(body)
    }

    /// The generation that an item's last record has; nil where there is none.
    package func recordedGeneration(of path: ItemPath) throws(CoordinationError) -> Generation? {
        try opened.recordedItem(at: path.location(for: "look at")).map { Generation(rawValue: $0.generation) }
    }
}

extension OpenContainer {
    /// Runs the body of a public call, and adds the container to its error.
    func locating<Answer: ~Copyable>(
        _ body: () throws(CoordinationError) -> Answer
    ) throws(CoordinationError) -> Answer {
        do {
            return try body()
        } catch {
            throw error.located(in: self)
        }
    }
}

/// Runs a body that makes system calls, and translates its error with the item and the operation.
func translating<Answer: ~Copyable>(
    _ operation: String, item: @autoclosure () -> String?, _ body: () throws(Errno) -> Answer
) throws(CoordinationError) -> Answer {
    do {
        return try body()
    } catch {
        throw CoordinationError(error, operation: operation, item: item())
    }
}

/// Returns the result of `body`, or nil where it throws `notFound`.
func ifPresent<Answer>(_ body: () throws(CoordinationError) -> Answer) throws(CoordinationError) -> Answer? {
    do {
        return try body()
    } catch {
        if error.code == .notFound { return nil }
        throw error
    }
}
