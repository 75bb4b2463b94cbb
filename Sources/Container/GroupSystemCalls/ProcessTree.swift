import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The processes below this one, by /proc/PID/task/TID/children.
package enum ProcessTree {
    /// This process.
    package static var ownIdentifier: Int32 { getpid() }

    /// Makes this process the parent of the processes below it whose own parents have ended, also of those that have left
    /// their group and session. System calls: prctl(PR_SET_CHILD_SUBREAPER)
    package static func adoptOrphans() throws(Errno) { _ = try check { clinux_adopt_orphans() } }

    /// Kills and reaps all children of this process, and the orphans that these leave, until there are none. Only for a
    /// process that waits for no other child. System calls: kill(2), waitpid(2)
    package static func endAll() {
        while let child = children(of: ownIdentifier).first {
            kill(child, SIGKILL)
            var status: Int32 = 0
            if unsafe waitpid(child, &status, 0) == -1 && errno != EINTR { return }
        }
    }

    /// Returns the children of a process, those that have ended and were not waited for among them.
    package static func children(of process: Int32) -> [Int32] {
        let tasks = (try? OpenFiles.directory("/proc/\(process)/task").entryNames()) ?? []
        return tasks.flatMap { task -> [Int32] in
            let path = Array("/proc/\(process)/task/".utf8) + task + Array("/children".utf8)
            let text = (try? FileDescriptor.open(path: path, .reading).readAll(limit: 1 << 20)) ?? []
            return text.split(separator: UInt8(ascii: " ")).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
        }
    }

    /// Returns the children of a process, their children, and so on.
    package static func descendants(of process: Int32) -> [Int32] {
        var found: [Int32] = []
        var next = children(of: process)
        while let child = next.popLast() {
            // A process cannot be below itself, but numbers are used again.
            if found.contains(child) { continue }
            found.append(child)
            next += children(of: child)
        }
        return found
    }

    /// Whether a process is in the process group of this one. System calls: getpgid(2)
    package static func isInOwnGroup(_ process: Int32) -> Bool { getpgid(process) == getpgrp() }

    /// Whether this process leads its session: it alone gets the signal that its terminal is gone. System calls: getsid(2)
    package static var leadsSession: Bool { getsid(0) == getpid() }

    /// Sends a signal to a process. System calls: kill(2)
    package static func signal(_ process: Int32, _ number: Int32) { _ = kill(process, number) }
}
