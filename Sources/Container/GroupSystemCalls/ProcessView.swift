#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The state of a process at this moment, by /proc.
package struct ProcessView: Sendable {
    package enum Condition: Sendable {
        case running
        /// Stopped by a signal, or by a debugger.
        case stopped
        /// The first thread has ended; what the other threads hold, the process still holds.
        case zombie
    }

    package var condition: Condition
    /// The number of the process that started it, or that took it over; 0 where that is in another PID namespace.
    package var parent: Int32
    /// The start of the process, in the kernel's ticks since boot.
    package var started: UInt64
    /// The words of the command, separated by blanks; empty for a zombie.
    package var command: [UInt8]

    /// Reads the state of a process; nil where there is no such process, or no /proc. Reads /proc/PID/stat and
    /// /proc/PID/cmdline.
    package init?(of process: Int32) { self.init(of: "\(process)") }

    /// Reads the state of a process by its name in /proc: a number, or "self".
    init?(of process: String) {
        guard let stat = Self.content(of: "/proc/\(process)/stat"),
            // The name is in parentheses and may contain any byte.
            let end = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19, let state = fields[0].first,
            let parent = Int32(String(decoding: fields[1], as: UTF8.self)),
            let started = UInt64(String(decoding: fields[19], as: UTF8.self))
        else { return nil }
        condition = Condition(state)
        self.parent = parent
        self.started = started
        let words = Self.content(of: "/proc/\(process)/cmdline") ?? []
        command = words.split(separator: 0).joined(separator: [UInt8(ascii: " ")]).map { $0 }
    }

    /// Returns whether any thread of the process has not ended. Reads /proc/PID/task/TID/stat.
    package static func isAlive(_ process: Int32) -> Bool { conditions(of: process).contains { $0 != .zombie } }

    /// Returns whether no thread of the process runs: each is stopped, or has ended. Reads /proc/PID/task/TID/stat.
    package static func isStill(_ process: Int32) -> Bool { !conditions(of: process).contains(.running) }

    /// Returns the conditions of a process's threads; those that end meanwhile are left out.
    private static func conditions(of process: Int32) -> [Condition] {
        let tasks = (try? OpenFiles.directory("/proc/\(process)/task").entryNames()) ?? []
        return tasks.compactMap { task in
            guard let stat = content(of: "/proc/\(process)/task/\(String(decoding: task, as: UTF8.self))/stat"),
                let end = stat.lastIndex(of: UInt8(ascii: ")")), end + 2 < stat.endIndex
            else { return nil }
            return Condition(stat[end + 2])
        }
    }

    private static func content(of path: String) -> [UInt8]? {
        try? FileDescriptor.open(path: Array(path.utf8), .reading).readAll(limit: 4_096)
    }
}

extension ProcessView.Condition {
    /// Translates the letter in /proc/PID/stat.
    fileprivate init(_ letter: UInt8) {
        switch letter {
        case UInt8(ascii: "T"), UInt8(ascii: "t"): self = .stopped
        case UInt8(ascii: "Z"), UInt8(ascii: "X"): self = .zombie
        default: self = .running
        }
    }
}
