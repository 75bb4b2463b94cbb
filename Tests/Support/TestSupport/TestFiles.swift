import Foundation
import Glibc
import GroupSystemCalls

/// Where tests make their files: in memory if enough of it is free, because on a disk the syncs, and the thousands of
/// files, of some tests take minutes; else on the disk.
package enum TestFiles {
    /// The directory of this run, which is removed at its end; the programs that tests start have it in their
    /// environment.
    package static let directory: String = {
        if let inherited = environmentValue(variable) { return inherited }
        removeRemains(in: parent)
        let path = "\(parent)/\(prefix)\(getpid())"
        if unsafe mkdir(path, 0o755) != 0 && errno != EEXIST { return parent }
        atexit { TestFiles.remove(TestFiles.directory) }
        let free = (freeBytes(parent) ?? 0) >> 20
        let line = Array("the tests make their files in \(path), where \(free) MiB are free\n".utf8)
        _ = unsafe write(2, line, line.count)
        return path
    }()

    /// The directory around that of a run, for files that outlive the process.
    package static let parent: String = hasRoom(memory) ? memory : disk

    /// A directory on the disk: $TMPDIR, else /tmp.
    package static let disk: String = environmentValue("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"

    /// The directories in which tests run that are about a kind of file system: in memory, if there is room, and on the
    /// disk.
    package static let kinds: [String] = hasRoom(memory) ? [memory, disk] : [disk]

    /// Whether the run's files are in memory (tmpfs).
    package static let isInMemory = succeeds(["sh", "-c", "test \"$(stat -f -c %T '\(directory)')\" = tmpfs"])

    private static let memory = "/dev/shm"
    static let variable = "GROUP_CONTAINER_TEST_FILES"
    /// Short, because the path of a socket has at most 107 bytes.
    private static let prefix = "gc-tests-"
    /// What a run needs at most, about: see `EtcdServer` for the largest part of it.
    private static let needed: UInt64 = 1_536 << 20

    /// Returns whether a run may use a file system in memory: there is room on it, and that memory is free.
    private static func hasRoom(_ path: String) -> Bool {
        guard let free = freeBytes(path), unsafe access(path, W_OK) == 0 else { return false }
        let facts = (try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8)) ?? ""
        let available =
            facts.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }?
            .split(separator: " ").dropFirst().first.flatMap { UInt64($0) } ?? 0
        // The programs need memory, too.
        return free >= needed && available << 10 >= 2 * needed
    }

    private static func freeBytes(_ path: String) -> UInt64? {
        var facts = statvfs()
        guard unsafe statvfs(path, &facts) == 0 else { return nil }
        return UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
    }

    /// Removes the directories of runs that were killed.
    private static func removeRemains(in parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
            guard name.hasPrefix(prefix), let process = pid_t(name.dropFirst(prefix.count)),
                Glibc.kill(process, 0) != 0, errno == ESRCH
            else { continue }
            remove("\(parent)/\(name)")
        }
    }

    /// Removes a tree of any depth. `Spawn.environment` is not used: it has the directory that is being chosen.
    private static func remove(_ path: String) {
        let words = ["rm", "-rf", "--", path].map(\.commandBytes)
        guard let process = try? Spawn(words: words, environment: ["PATH=/usr/bin:/bin"], streams: (2, 2, 2)).start()
        else {
            return
        }
        _ = ProcessLife(of: process).reap()
    }
}
