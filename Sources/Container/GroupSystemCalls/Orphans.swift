import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Processes below this one whose own parents have ended, also those that have left their group and session.
package enum Orphans {
    /// Makes this process the parent of such processes from now on, so that they can be ended.
    /// System calls: prctl(PR_SET_CHILD_SUBREAPER)
    package static func adopt() throws(Errno) { _ = try check { clinux_adopt_orphans() } }

    /// Kills and reaps all children of this process, and the orphans that these leave, until there are none. Only for a
    /// process that waits for no other child. System calls: kill(2), waitpid(2); reads /proc/self/task/TID/children
    package static func endAll() {
        while let child = firstChild() {
            kill(child, SIGKILL)
            var status: Int32 = 0
            if unsafe waitpid(child, &status, 0) == -1 && errno != EINTR { return }
        }
    }

    private static func firstChild() -> Int32? {
        for task in (try? OpenFiles.directory("/proc/self/task").entryNames()) ?? [] {
            let path = Array("/proc/self/task/".utf8) + task + Array("/children".utf8)
            let text = try? FileDescriptor.open(path: path, .reading).readAll(limit: 1 << 16)
            let first = text?.split(separator: UInt8(ascii: " ")).first
            if let first, let child = Int32(String(decoding: first, as: UTF8.self)) { return child }
        }
        return nil
    }
}
