import GroupBytes
import GroupSystemCalls

/// The facts about what this process itself lacks. Without it, nearly every part of a healthy container looks as if it
/// were damaged.
enum ProcessFacts {
    /// The number of files that a check has open at the same time, and some more.
    private static let neededFiles = 20

    /// The finding where this process cannot open as many files as a check needs; nil where it can. System calls:
    /// openat2(2), fcntl(2)
    static var shortage: Finding? {
        do throws(Errno) {
            try FileDescriptor.open(path: [UInt8(ascii: "/")], [.pathOnly, .directory]).checkRoom(
                forFiles: neededFiles)
            return nil
        } catch {
            return finding(error)
        }
    }

    /// Returns the finding where other findings come from what this process or the machine lacks; nil otherwise. The
    /// leader's report of what it cannot watch is about the leader.
    static func shortage(behind findings: [Finding]) -> Finding? {
        // One of the texts is the beginning of another.
        for error in [Errno.tooManyFilesInSystem, .tooManyFiles, .noMemory]
        where findings.contains(where: { $0.code != .watchingDegraded && $0.what.contains(error.description) }) {
            return finding(error)
        }
        return nil
    }

    /// The finding where /proc is not mounted; nil where it is. System calls: openat2(2)
    static var withoutProc: Finding? {
        do throws(Errno) {
            _ = try FileDescriptor.open(path: Array("/proc/self".utf8), .pathOnly)
            return nil
        } catch {
            if error != .noSuchEntry { return nil }
        }
        return Finding(
            .procMissing, .error, item: "/proc", "/proc is not mounted",
            why:
                "files are reached through it, and other processes are found there: nearly every command ends in an error",
            remedy: "mount it: mount -t proc proc /proc")
    }

    private static func finding(_ error: Errno) -> Finding? {
        let remedy: String
        switch error {
        case .tooManyFiles: remedy = "raise the limit of open files: ulimit -n"
        case .tooManyFilesInSystem: remedy = "raise the limit of open files of the machine: sysctl fs.file-max"
        case .noMemory: remedy = "end programs that take memory, or raise the limit of this process: ulimit -v"
        default: return nil
        }
        return Finding(
            .limitReached, .error, "this process, or the machine, is at a limit: \(error)",
            why: "the container could not be examined: this says nothing about it, and nothing was repaired",
            remedy: remedy)
    }
}

extension PartsFacts {
    /// A directory in which this user may make or remove nothing, because of its mode.
    struct Closed: Equatable, Sendable {
        var item: String
        var path: String
        var mode: UInt32
        var owner: UInt32
        var user: UInt32
    }

    var closing: Finding? {
        closed.map { closed in
            Finding(
                .notWritable, .error, item: closed.item,
                "user \(closed.user) may change nothing in it: it has mode \(PathObstacle.octal(closed.mode)), of user \(closed.owner)",
                why: closed.item == "."
                    ? "no item in it can be made, moved or removed" : "each change ends in an error",
                remedy: closed.owner == closed.user
                    ? "give yourself permission: chmod u+rwx \(closed.path)"
                    : "have user \(closed.owner) give permission: chmod g+rwx \(closed.path)")
        }
    }
}

extension ContainerDirectories {
    /// The first of the container's directories in which this user, who may write the container's files, may change
    /// nothing; nil where there is none. System calls: statx(2), faccessat2(2)
    var closed: PartsFacts.Closed? {
        let own = ["staging", "journal", "defaults", "channels", "widgets"].map { ".group/\($0)" }
        for item in [".", ".group"] + own {
            let name = Array(item.utf8)
            guard root.refusesChanges(in: name), let status = try? root.status(of: name), status.isDirectory else {
                continue
            }
            let path = item == "." ? printable(path) : printable(pathPrefix) + item
            return PartsFacts.Closed(
                item: item, path: path, mode: status.permissions, owner: status.owner, user: effectiveUser())
        }
        return nil
    }
}
