package import GroupSystemCalls

/// The process that is opening a container, where the system shows which it is.
struct OpeningProcess: CustomStringConvertible {
    let process: Int32
    let view: ProcessView

    /// Finds the process that holds the first byte of a lock file. Nil where /proc belongs to another PID namespace or
    /// shows nothing of the process. Linear in the number of open files.
    init?(ofLockFile inode: UInt64) {
        guard ProcessTable().isOwnProc, let process = OpenFiles.holderOfFirstByte(ofInode: inode),
            let view = ProcessView(of: process)
        else { return nil }
        (self.process, self.view) = (process, view)
    }

    var command: String { printable(view.command) }

    var description: String {
        let text = command.count > 60 ? command.prefix(59) + "…" : command[...]
        return "process \(process) (" + (view.condition == .stopped ? "stopped, " : "") + "'\(text)')"
    }

    var advice: String {
        view.condition == .stopped
            ? "continue it: kill -CONT \(process); or end it" : "end process \(process), and try again"
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
                .notFound, item: label, operation: operation, cause: "the working directory was deleted",
                advice: "go to one that is there, or name the container by its whole path")
        case .noSuchEntry where creating:
            return CoordinationError(
                .notFound, item: label, operation: operation, cause: "no directory can be made there",
                advice: "choose a place on a local file system: ext4, xfs, btrfs, tmpfs")
        case .noSuchEntry:
            return CoordinationError(
                .notFound, item: label, operation: operation, cause: "there is no container",
                advice: "make it with groupctl create, or creating: true")
        case .notADirectory:
            return CoordinationError(
                .wrongType, item: label, operation: operation, cause: errno.description,
                advice: "something else stands there, or on the way: choose another place")
        case .accessDenied, .notPermitted:
            var error = CoordinationError(errno, item: label, operation: operation)
            error.advice = permissionAdvice(path, creating) ?? error.advice
            return error
        default: return CoordinationError(errno, item: label, operation: operation)
        }
    }

    /// Returns an error if /proc is not mounted, or nil: files are reached by their descriptors through /proc, and
    /// other processes are found there.
    static func withoutProc(_ error: CoordinationError) -> CoordinationError? {
        if (try? FileDescriptor.open(path: Array("/proc/self".utf8), .placeOnly)) != nil { return nil }
        if error.item?.hasPrefix(".group") != true { return nil }
        return CoordinationError(
            .unsupportedFileSystem, item: "/proc", operation: error.operation, cause: "/proc is not mounted",
            advice: "mount it: mount -t proc proc /proc")
    }

    /// Returns the error for the case that another process holds the byte that a process needs to open the container.
    static func blocked(_ lockFile: LockFile, _ path: [UInt8]) -> CoordinationError {
        let opener = OpeningProcess(ofLockFile: lockFile.inode)
        return CoordinationError(
            .lockTimedOut, item: printable(path), operation: "open",
            cause: "\(opener?.description ?? "another process") is opening it and does not come to an end",
            advice: opener?.advice ?? "groupctl doctor says which, to its user; end it, and try again")
    }

    private static var workingDirectoryIsGone: Bool {
        let here = try? FileDescriptor.open(path: [UInt8(ascii: ".")], [.placeOnly, .directory])
        return (try? here?.status().links) == 0
    }

    private static func permissionAdvice(_ path: [UInt8], _ creating: Bool) -> String? {
        if creating, let (parent, status) = lastThatStands(on: path), parent != path {
            return
                "user \(effectiveUser()) may make nothing in \(printable(parent)) (mode \(LocationFacts.octal(status.permissions)), of user \(status.owner)); name a directory of your own by its path, or set GROUP_CONTAINERS_HOME to one"
        }
        guard case .forbidden(let barrier) = LocationFacts.standing(of: path, code: .notPermitted, cause: "") else {
            return nil
        }
        // A user can be added to a Unix group that may enter; otherwise only the owner can do something.
        if barrier.isForGroup {
            let name = groupName(ofNumber: barrier.group).map { "'\($0)'" } ?? "\(barrier.group)"
            return
                "'\(barrier.path)' is shared with the Unix group \(name): have user \(barrier.user) put into it, and log in anew"
        }
        return
            "'\(barrier.path)' is for user \(barrier.owner) alone, who can share what they make with 'groupctl create --unix-group'"
    }

    /// Returns the deepest existing directory of a path, and its status.
    private static func lastThatStands(on path: [UInt8]) -> (path: [UInt8], status: FileStatus)? {
        var place = path
        while true {
            while place.count > 1, place.last == UInt8(ascii: "/") { place.removeLast() }
            if let status = try? FileDescriptor.open(path: place, .placeOnly).status() { return (place, status) }
            guard let slash = place.lastIndex(of: UInt8(ascii: "/")) else {
                return place == [UInt8(ascii: ".")]
                    ? nil : lastThatStands(on: [UInt8(ascii: ".")])
            }
            if slash == 0 && place.count == 1 { return nil }
            place = slash == 0 ? [UInt8(ascii: "/")] : Array(place[..<slash])
        }
    }
}

extension CoordinationError {
    /// Creates an error about a file of the user's own, outside of every container, with advice.
    fileprivate init(_ errno: Errno, ofOwnFile path: [UInt8], operation: String, writing: Bool) {
        self.init(errno, item: printable(path), operation: operation)
        switch errno {
        case .noSuchEntry: advice = writing ? "make the directory that it is to stand in, first" : "check the path"
        case .accessDenied, .notPermitted:
            advice = writing ? "name a file that you may write" : "name a file that you may read"
        default: break
        }
    }

    /// Returns the error for a directory around a test's container that could not be made.
    package static func temporaryDirectory(_ path: String, _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: Array(path.utf8), operation: "make the temporary directory", writing: true)
    }

    /// Returns the error for a file outside of the container that keeps a cursor and could not be read or written.
    package static func cursorFile(_ path: [UInt8], _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: path, operation: "keep the cursor in", writing: true)
    }

    /// Returns the error for a file outside of the container that keeps a generation and could not be written.
    package static func generationFile(_ path: [UInt8], _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: path, operation: "keep the generation in", writing: true)
    }

    /// Returns the error for a file that is to be imported and could not be read.
    package static func importFile(_ path: [UInt8], _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: path, operation: "import", writing: false)
    }

    /// Returns the error for a file that should hold a cursor and holds something else.
    package static func damagedCursorFile(_ path: [UInt8]) -> CoordinationError {
        CoordinationError(
            .damaged, item: printable(path), operation: "read the cursor from", cause: "it does not hold one",
            advice: "remove the file to begin as --since says")
    }
}
