package import GroupSystemCalls

/// The process that is opening a container, where the system says which.
struct OpeningProcess: CustomStringConvertible {
    let process: Int32
    let view: ProcessView

    /// Nil where /proc is of another PID namespace, or shows nothing of it. Linear in the files that are open.
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

/// Why a container cannot be opened or made, and what its user can do: said of what stands there.
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

    /// Files that are found by their descriptors, and other processes, are found in /proc.
    static func withoutProc(_ error: CoordinationError) -> CoordinationError? {
        if (try? FileDescriptor.open(path: Array("/proc/self".utf8), .placeOnly)) != nil { return nil }
        if error.item?.hasPrefix(".group") != true { return nil }
        return CoordinationError(
            .unsupportedFileSystem, item: "/proc", operation: error.operation, cause: "/proc is not mounted",
            advice: "mount it: mount -t proc proc /proc")
    }

    /// Another process holds the byte that a process needs to open the container.
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
        // A user can be put into a group that may enter; else the owner alone can do something.
        if barrier.isForGroup {
            let name = groupName(ofNumber: barrier.group).map { "'\($0)'" } ?? "\(barrier.group)"
            return
                "'\(barrier.path)' is shared with the Unix group \(name): have user \(barrier.user) put into it, and log in anew"
        }
        return
            "'\(barrier.path)' is for user \(barrier.owner) alone, who can share what they make with 'groupctl create --unix-group'"
    }

    /// The directory of a path that is there, next to those that are not.
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
    /// What to do about a file of its user's, outside of every container.
    fileprivate init(_ errno: Errno, ofOwnFile path: [UInt8], operation: String, writing: Bool) {
        self.init(errno, item: printable(path), operation: operation)
        switch errno {
        case .noSuchEntry: advice = writing ? "make the directory that it is to stand in, first" : "check the path"
        case .accessDenied, .notPermitted:
            advice = writing ? "name a file that you may write" : "name a file that you may read"
        default: break
        }
    }

    /// The directory around a test's container could not be made.
    package static func temporaryDirectory(_ path: String, _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: Array(path.utf8), operation: "make the temporary directory", writing: true)
    }

    /// A file that keeps a cursor outside of the container could not be read or written.
    package static func cursorFile(_ path: [UInt8], _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: path, operation: "keep the cursor in", writing: true)
    }

    /// A file that keeps a generation outside of the container could not be written.
    package static func generationFile(_ path: [UInt8], _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: path, operation: "keep the generation in", writing: true)
    }

    /// A file that is to be imported could not be read.
    package static func importFile(_ path: [UInt8], _ errno: Errno) -> CoordinationError {
        CoordinationError(errno, ofOwnFile: path, operation: "import", writing: false)
    }

    /// A file that should hold a cursor holds something else.
    package static func damagedCursorFile(_ path: [UInt8]) -> CoordinationError {
        CoordinationError(
            .damaged, item: printable(path), operation: "read the cursor from", cause: "it does not hold one",
            advice: "remove the file to begin as --since says")
    }
}
