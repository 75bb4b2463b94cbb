import GroupLocking
import GroupBytes
import GroupSystemCalls

/// The process that holds a byte of a container's lock file, as one that is opening the container does, where the
/// system shows which it is.
struct OpeningProcess: CustomStringConvertible {
    let process: Int32
    let view: ProcessView

    /// Finds the process that holds a byte of a lock file: the first one, while it opens the container. Nil where /proc
    /// belongs to another PID namespace or shows nothing of the process. Linear in the number of open files.
    init?(ofLockFile inode: UInt64, byte: Int64 = 0) {
        guard ProcessTable().isOwnProc, let process = OpenFiles.holder(ofByte: byte, ofInode: inode),
            let view = ProcessView(of: process)
        else { return nil }
        self.process = process
        self.view = view
    }

    var command: String { printable(view.command) }

    var description: String {
        let text = command.count > 60 ? command.prefix(59) + "…" : command[...]
        return "process \(process) (" + (view.condition == .stopped ? "stopped, " : "") + "'\(text)')"
    }

    var remedy: CoordinationError.Remedy {
        view.condition == .stopped
            ? .init(.continueProcess, "continue or end process \(process)", process: process)
            : .init(.endProcess, "end process \(process), and try again", process: process)
    }
}

/// The reasons why a container cannot be opened or created, and what its user can do about each, by what is at the
/// path.
enum OpeningErrors {
    static func error(_ errno: Errno, at path: [UInt8], creating: Bool) -> CoordinationError {
        let (label, operation) = (printable(path), creating ? "create" : "open")
        switch errno {
        case .noSuchEntry where path.first != UInt8(ascii: "/") && workingDirectoryIsGone:
            return CoordinationError(
                .notFound, operation: operation, item: label, reason: "the working directory was deleted",
                remedy: .init(
                    .choosePath, "change to an existing directory, or name the container by its absolute path"))
        case .noSuchEntry where danglingLink(on: path) != nil:
            return CoordinationError(
                .notFound, operation: operation, item: label,
                reason: "'\(printable(danglingLink(on: path) ?? path))' is a symbolic link that leads to nothing",
                remedy: .init(.choosePath, "make the directory that the link leads to, or remove the link"))
        case .noSuchEntry where creating:
            return CoordinationError(
                .notFound, operation: operation, item: label, reason: "no directory can be made there",
                remedy: .init(.changeFileSystem, "choose a path on a local file system: ext4, xfs, btrfs, tmpfs"))
        case .noSuchEntry:
            return CoordinationError(
                .notFound, operation: operation, item: label, reason: "there is no container", remedy: .createContainer)
        case .notADirectory:
            return CoordinationError(
                .wrongType, operation: operation, item: label,
                reason: "\(errno): the path, or a part of it, is not a directory",
                remedy: .init(.choosePath, "choose another path"), cause: errno)
        case .accessDenied, .notPermitted:
            var error = CoordinationError(errno, operation: operation, item: label)
            error.remedy = permissionRemedy(path, creating) ?? error.remedy
            return error
        default: return CoordinationError(errno, operation: operation, item: label)
        }
    }

    /// Returns an error if /proc is not mounted, or nil: files are reached by their descriptors through /proc, and
    /// other processes are found there.
    static func withoutProc(_ error: CoordinationError) -> CoordinationError? {
        if (try? FileDescriptor.open(path: Array("/proc/self".utf8), .pathOnly)) != nil { return nil }
        if error.item?.hasPrefix(".group") != true { return nil }
        return CoordinationError(
            .unsupportedFileSystem, operation: error.operation, item: "/proc", reason: "/proc is not mounted",
            remedy: .init(.mountProc, "mount /proc"))
    }

    /// Returns an error with its reason where the file system of a path has no inode left. System calls: openat2(2),
    /// fstatfs(2)
    static func knowingInodes(_ error: CoordinationError, at path: [UInt8]) -> CoordinationError {
        guard error.code == .noSpace, let ancestor = lastThatStands(on: path)?.path,
            let directory = try? FileDescriptor.open(path: ancestor, [.reading, .directory])
        else { return error }
        return error.knowingInodes(of: directory)
    }

    /// Returns the error for the case that another process holds the byte that a process needs to open the container.
    static func blocked(_ lockFile: LockFile, _ path: [UInt8]) -> CoordinationError {
        let opener = OpeningProcess(ofLockFile: lockFile.inode)
        return CoordinationError(
            .lockTimedOut, operation: "open", item: printable(path),
            reason: "\(opener?.description ?? "another process") has been opening the container for too long",
            remedy: opener?.remedy ?? .init(.endProcess, "end that process, and try again"))
    }

    /// Returns the first symbolic link on a path that leads to nothing; nil where there is none. System calls: openat2,
    /// statx
    static func danglingLink(on path: [UInt8]) -> [UInt8]? {
        let slash = UInt8(ascii: "/")
        for end in path.indices.dropFirst().map(\.self) + [path.count] where end == path.count || path[end] == slash {
            let ancestor = Array(path[..<end])
            if ancestor.last == slash { continue }
            let isLink =
                (try? FileDescriptor.open(path: ancestor, [.pathOnly, .notFollowing]).status().isLink) ?? false
            if isLink && (try? FileDescriptor.open(path: ancestor, .pathOnly)) == nil { return ancestor }
        }
        return nil
    }

    private static var workingDirectoryIsGone: Bool {
        let here = try? FileDescriptor.open(path: [UInt8(ascii: ".")], [.pathOnly, .directory])
        return (try? here?.status().links) == 0
    }

    private static func permissionRemedy(_ path: [UInt8], _ creating: Bool) -> CoordinationError.Remedy? {
        if creating, let (parent, status) = lastThatStands(on: path), parent != path {
            let mode = PathObstacle.octal(status.permissions)
            return .init(
                .setEnvironment,
                "user \(effectiveUser()) may make nothing in \(printable(parent)) (mode \(mode), of user \(status.owner)); "
                    + "name a directory of your own by its path, or set GROUP_CONTAINERS_HOME to one")
        }
        if CoordinationError.refusalOfOpening != nil { return nil }
        guard let barrier = PathObstacle.first(to: path)?.barrier else { return nil }
        if barrier.isOwn {
            return .init(
                .askOwner,
                "'\(barrier.path)' is your own, with mode \(PathObstacle.octal(barrier.mode)): give yourself permission (chmod u+rwx)"
            )
        }
        // A user can be added to a Unix group that may enter; otherwise only the owner can do something.
        if barrier.isForGroup {
            let name = groupName(ofNumber: barrier.group).map { "'\($0)'" } ?? "\(barrier.group)"
            return .init(
                .askOwner,
                "'\(barrier.path)' is shared with the Unix group \(name): have user \(barrier.user) added to it, and log in "
                    + "again")
        }
        return .init(
            .askOwnerToShare,
            "'\(barrier.path)' is for user \(barrier.owner) alone; have that user share a container with a Unix group")
    }

    /// Returns the deepest existing directory of a path, and its status.
    private static func lastThatStands(on path: [UInt8]) -> (path: [UInt8], status: FileStatus)? {
        var ancestor = path
        while true {
            while ancestor.count > 1, ancestor.last == UInt8(ascii: "/") { ancestor.removeLast() }
            if let status = try? FileDescriptor.open(path: ancestor, .pathOnly).status() { return (ancestor, status) }
            guard let slash = ancestor.lastIndex(of: UInt8(ascii: "/")) else {
                return ancestor == [UInt8(ascii: ".")]
                    ? nil : lastThatStands(on: [UInt8(ascii: ".")])
            }
            if slash == 0 && ancestor.count == 1 { return nil }
            ancestor = slash == 0 ? [UInt8(ascii: "/")] : Array(ancestor[..<slash])
        }
    }
}
