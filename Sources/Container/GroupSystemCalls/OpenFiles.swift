#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The files that processes have open, by /proc. The files of other users' processes are visible only to root.
package enum OpenFiles {
    /// Lets this process open as many files as it may. Its limit is lower for programs that use select(2). System calls:
    /// prlimit(2)
    package static func raiseLimit() {
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// How many files this process may have open; its limit is that of the shell's 'ulimit -n'. System calls: prlimit(2)
    package static var limit: UInt64 {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return UInt64(limit.rlim_cur)
    }

    /// Returns how much of inotify this user's processes use. Linear in the files that they have open.
    package static func inotifyUse() -> (instances: Int, watches: Int) {
        var (instances, watches) = (0, 0)
        for process in processes(of: effectiveUser()) {
            for (file, target) in files(of: process) where target.elementsEqual("anon_inode:inotify".utf8) {
                instances += 1
                watches += details(of: file, process).count { $0.starts(with: "inotify wd:".utf8) }
            }
        }
        return (instances, watches)
    }

    /// Returns a process that holds an exclusive lock which begins at a byte of the file with that inode; nil where
    /// none is visible. Linear in the files that are open.
    package static func holder(ofByte byte: Int64 = 0, ofInode inode: UInt64) -> Int32? {
        processes(of: nil).first { process in
            files(of: process).contains { file, _ in
                details(of: file, process).contains { line in
                    let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
                    guard words.count >= 3, words[0].hasPrefix("lock:"), words.contains("WRITE") else { return false }
                    // … WRITE -1 MAJOR:MINOR:INODE START END
                    return words[words.count - 2] == "\(byte)" && words[words.count - 3].hasSuffix(":\(inode)")
                }
            }
        }
    }

    /// Returns the processes that /proc shows, of one user or of all (nil).
    static func processes(of user: UInt32?) -> [Int32] {
        guard let directory = try? FileDescriptor.open(path: Array("/proc".utf8), [.reading, .directory]),
            let names = try? directory.entryNames()
        else { return [] }
        return names.compactMap { name in
            guard let number = Int32(String(decoding: name, as: UTF8.self)) else { return nil }
            if let user, (try? directory.status(of: name))?.owner != user { return nil }
            return number
        }
    }

    private static func files(of process: Int32) -> [(number: String, target: [UInt8])] {
        let path = Array("/proc/\(process)/fd".utf8)
        guard let directory = try? FileDescriptor.open(path: path, [.reading, .directory]),
            let names = try? directory.entryNames()
        else { return [] }
        return names.compactMap { name in
            guard let target = try? directory.linkTarget(of: name) else { return nil }
            return (String(decoding: name, as: UTF8.self), target)
        }
    }

    private static func details(of file: String, _ process: Int32) -> [ArraySlice<UInt8>] {
        let path = Array("/proc/\(process)/fdinfo/\(file)".utf8)
        let text = (try? FileDescriptor.open(path: path, .reading).readAll(limit: 1 << 24)) ?? []
        return text.split(separator: UInt8(ascii: "\n"))
    }
}
