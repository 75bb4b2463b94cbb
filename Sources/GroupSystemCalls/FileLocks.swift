import Glibc

/// A lock that a process holds on a file, whichever code made it and by whichever call.
package struct FileLock: Hashable, Sendable {
    /// Where the kernel says that the file is; empty where nothing but the lock can be seen.
    package var path: [UInt8]
    /// `POSIX`, `OFDLCK`, `FLOCK` or `LEASE`.
    package var family: String
    package var isExclusive: Bool
    /// The first byte that it covers.
    package var start: Int64

    /// As /proc/PID/fdinfo and /proc/locks describe it: `1: POSIX  ADVISORY  WRITE 812 08:01:1234 0 EOF`. Nil: it is
    /// none, or one that is still awaited.
    package init?(_ line: some Sequence<UInt8>, path: [UInt8]) {
        let words = Self.words(line)
        guard words.count >= 8, words[1] != "->", let start = Int64(words[words.count - 2]) else { return nil }
        (self.path, self.start, family, isExclusive) = (path, start, words[1], words[3] == "WRITE")
    }

    /// What the processes hold that are signalled with the leader of a group. What somebody has handed down to us and
    /// them alike is not theirs. Of a process that may not be looked at /proc/locks tells, without its open file
    /// description locks. Linear in the files that they have open.
    package static func held(by process: Int32) -> [FileLock] {
        guard let found = lines(of: process) else { return listed(of: process) }
        let own = found.contains { !isOfProcess($0.line) } ? Set((lines(of: getpid()) ?? []).map(\.line)) : []
        return found.filter { isOfProcess($0.line) || !own.contains($0.line) }
            .compactMap { FileLock($0.line, path: $0.path) }
    }

    /// A lock of a process rather than of an open file, which may have been handed down.
    private static func isOfProcess(_ line: [UInt8]) -> Bool { words(line).dropFirst().first == "POSIX" }

    private static func words(_ line: some Sequence<UInt8>) -> [String] {
        String(decoding: Array(line), as: UTF8.self).split(separator: " ").map(String.init)
    }

    /// Without their numbers, which differ between two who look. Nil: it may not be looked at.
    private static func lines(of process: Int32) -> [(path: [UInt8], line: [UInt8])]? {
        guard let tasks = try? OpenFiles.directory("/proc/\(process)/task").entryNames() else { return [] }
        for task in tasks {
            let place = "/proc/\(process)/task/\(String(decoding: task, as: UTF8.self))"
            guard let files = try? OpenFiles.directory(place + "/fd"), let names = try? files.entryNames() else {
                return nil
            }
            // A thread that has ended has none, and the other ones have the same.
            if names.isEmpty { continue }
            return names.flatMap { name in
                // A file has a path; an inotify instance, which may say very much, has none.
                guard let path = try? files.linkTarget(of: name), path.first == UInt8(ascii: "/") else {
                    return [(path: [UInt8], line: [UInt8])]()
                }
                return content(Array("\(place)/fdinfo/".utf8) + name).compactMap { line in
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

    /// The processes of a process group, in this namespace and in those below it. Linear in all processes.
    /// System calls: getdents(2), getpgid(2)
    package static func processes(ofGroup group: Int32) -> [Int32] {
        let names = (try? directory("/proc").entryNames()) ?? []
        return names.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }.filter { getpgid($0) == group }
    }
}
