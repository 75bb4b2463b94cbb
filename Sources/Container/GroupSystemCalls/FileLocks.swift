#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock that a process holds on a file, whichever code took it and by whichever call.
package struct FileLock: Hashable, Sendable {
    /// The path of the file, by the kernel; empty where only the lock can be seen.
    package var path: [UInt8]
    /// `POSIX`, `OFDLCK`, `FLOCK` or `LEASE`.
    package var family: String
    package var isExclusive: Bool
    /// The first byte of its range.
    package var start: Int64

    /// Parses a line of /proc/PID/fdinfo or /proc/locks: `1: POSIX  ADVISORY  WRITE 812 08:01:1234 0 EOF`. Nil where
    /// the line is no lock, or a lock that is still waited for.
    package init?(_ line: some Sequence<UInt8>, path: [UInt8]) {
        let words = Self.words(line)
        guard words.count >= 8, words[1] != "->", let start = Int64(words[words.count - 2]) else { return nil }
        self.path = path
        self.start = start
        family = words[1]
        isExclusive = words[3] == "WRITE"
    }

    /// Returns the locks that a process holds. A lock that this process and the other one have both inherited does not
    /// count. The locks of a process that may not be examined come from /proc/locks, which does not assign open file
    /// description locks to processes. Linear in the files that the process has open.
    package static func held(by process: Int32) -> [FileLock] {
        guard let found = lines(of: process) else { return listed(of: process) }
        let own = found.contains { !isOfProcess($0.line) } ? Set((lines(of: getpid()) ?? []).map(\.line)) : []
        return found.filter { isOfProcess($0.line) || !own.contains($0.line) }
            .compactMap { FileLock($0.line, path: $0.path) }
    }

    /// Returns whether the lock belongs to a process rather than to an open file, which may be inherited.
    private static func isOfProcess(_ line: [UInt8]) -> Bool { words(line).dropFirst().first == "POSIX" }

    private static func words(_ line: some Sequence<UInt8>) -> [String] {
        String(decoding: Array(line), as: UTF8.self).split(separator: " ").map(String.init)
    }

    /// Returns the locks without their numbers, which differ between two readings. Nil where the process may not be
    /// examined.
    private static func lines(of process: Int32) -> [(path: [UInt8], line: [UInt8])]? {
        guard let tasks = try? OpenFiles.directory("/proc/\(process)/task").entryNames() else { return [] }
        for task in tasks {
            let directory = "/proc/\(process)/task/\(String(decoding: task, as: UTF8.self))"
            guard let files = try? OpenFiles.directory(directory + "/fd"), let names = try? files.entryNames() else {
                return nil
            }
            // A thread that has ended has no files, and all other threads have the same ones.
            if names.isEmpty { continue }
            return names.flatMap { name in
                // A file has a path; an inotify instance, whose fdinfo may be very long, has none.
                guard let path = try? files.linkTarget(of: name), path.first == UInt8(ascii: "/") else {
                    return [(path: [UInt8], line: [UInt8])]()
                }
                return content(Array("\(directory)/fdinfo/".utf8) + name).compactMap { line in
                    guard line.starts(with: "lock:".utf8) else { return nil }
                    return (path, Array("0: ".utf8) + line.drop { $0 != UInt8(ascii: " ") }.drop { $0 == 0x20 })
                }
            }
        }
        return []
    }

    private static func listed(of process: Int32) -> [FileLock] {
        content(Array("/proc/locks".utf8)).filter { words($0).dropFirst(4).first == "\(process)" }
            .compactMap { FileLock($0, path: []) }
    }

    private static func content(_ path: [UInt8]) -> [ArraySlice<UInt8>] {
        let text = (try? FileDescriptor.open(path: path, .reading).readAll(limit: 1 << 24)) ?? []
        return text.split(separator: UInt8(ascii: "\n"))
    }
}

extension OpenFiles {
    static func directory(_ path: String) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(path: Array(path.utf8), [.reading, .directory])
    }

    /// Returns the processes of a process group, in this namespace and in those below it. Linear in all processes.
    /// System calls: getdents(2), getpgid(2)
    package static func processes(ofGroup group: Int32) -> [Int32] {
        let names = (try? directory("/proc").entryNames()) ?? []
        return names.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }.filter { getpgid($0) == group }
    }
}
