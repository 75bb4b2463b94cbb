import Glibc

/// What /proc says of a process at this moment.
package struct ProcessView: Sendable {
    package enum Condition: Sendable {
        case running
        /// By a signal, or by a debugger.
        case stopped
        /// Its first thread has ended; what the others hold, it holds still.
        case zombie
    }

    package var condition: Condition
    /// In the kernel's ticks since boot.
    package var started: UInt64
    /// Its words, separated by blanks; empty for a zombie.
    package var command: [UInt8]

    /// Nil where there is no such process, or no /proc. Reads /proc/PID/stat and /proc/PID/cmdline.
    package init?(of process: Int32) { self.init(of: "\(process)") }

    /// By its name in /proc: a number, or "self".
    init?(of process: String) {
        guard let stat = Self.content(of: "/proc/\(process)/stat"),
            // The name is in parentheses and may have any byte in it.
            let end = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19, let state = fields[0].first,
            let started = UInt64(String(decoding: fields[19], as: UTF8.self))
        else { return nil }
        condition = Condition(state)
        self.started = started
        let words = Self.content(of: "/proc/\(process)/cmdline") ?? []
        command = words.split(separator: 0).joined(separator: [UInt8(ascii: " ")]).map { $0 }
    }

    /// None of its threads does anything: each is stopped, or has ended. Reads /proc/PID/task/TID/stat.
    package static func isStill(_ process: Int32) -> Bool {
        let tasks = (try? OpenFiles.directory("/proc/\(process)/task").entryNames()) ?? []
        return tasks.allSatisfy { task in
            guard let stat = content(of: "/proc/\(process)/task/\(String(decoding: task, as: UTF8.self))/stat"),
                let end = stat.lastIndex(of: UInt8(ascii: ")")), end + 2 < stat.endIndex
            else { return true }
            return Condition(stat[end + 2]) != .running
        }
    }

    private static func content(of path: String) -> [UInt8]? {
        try? FileDescriptor.open(path: Array(path.utf8), .reading).readAll(limit: 4_096)
    }
}

extension ProcessView.Condition {
    /// As /proc/PID/stat has it.
    fileprivate init(_ letter: UInt8) {
        switch letter {
        case UInt8(ascii: "T"), UInt8(ascii: "t"): self = .stopped
        case UInt8(ascii: "Z"), UInt8(ascii: "X"): self = .zombie
        default: self = .running
        }
    }
}
