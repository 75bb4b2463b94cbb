import Glibc
import GroupSystemCalls
import TestSupport

/// A user that renames one directory again and again, more quickly than the journal has its renames, while the plain
/// users of all machines make files in it.
final class RenamingUser {
    private let worker: Worker
    private let root: FileDescriptor

    /// What the names of the directory begin with; nothing else in the root has such a name.
    static let prefix = "q"

    init(_ worker: Worker) throws {
        self.worker = worker
        root = try FileDescriptor.open(path: Array(worker.path.utf8), [.reading, .directory])
    }

    func work() throws {
        var number = 0
        try worker.takeTurns(within: 1_500) {
            let milliseconds = [0, 2, 5, 10, 20][worker.draw(0..<5)]
            for _ in 0..<worker.draw(1..<60) {
                guard let old = try Self.directories(root).first else { continue }
                number += 1
                // While the machine's own program makes something of the other machines there, the name may be old.
                try? root.rename(old, to: Array("\(Self.prefix)\(number)".utf8), in: root, replacing: false)
                if milliseconds > 0 { pause(nanoseconds: Int64(milliseconds) * 1_000_000) }
            }
        }
        printLine("ended")
    }

    /// Returns the names that the directory has: one, if all is well.
    static func directories(_ root: borrowing FileDescriptor) throws(Errno) -> [[UInt8]] {
        try root.entryNames().filter { $0.starts(with: Array(prefix.utf8)) }
    }
}

/// A user that writes a file slowly until it is too large for the cluster, and then makes a small one of it.
final class SlowUser {
    private let worker: Worker
    private let root: FileDescriptor
    private static let file = Array("slow".utf8)

    init(_ worker: Worker) throws {
        self.worker = worker
        root = try FileDescriptor.open(path: Array(worker.path.utf8), [.reading, .directory])
    }

    func work() throws {
        var next = monotonicNanoseconds() + Int64(worker.draw(5..<20)) * 1_000_000_000
        try worker.takeTurns(within: 500) {
            if monotonicNanoseconds() < next { return }
            next = monotonicNanoseconds() + Int64(worker.draw(60..<180)) * 1_000_000_000
            do throws(Errno) {
                try writeSlowly()
            } catch {
                printLine("refused \(error)")
            }
        }
        try? root.unlink(Self.file)
        printLine("ended")
    }

    private func writeSlowly() throws(Errno) {
        let file = try FileDescriptor.open(
            Self.file, in: root, [.writing, .creating, .notFollowing], mode: 0o644)
        for piece in 0..<9 {
            // Not the same bytes each time, and not a hole.
            try file.writeAll([UInt8](repeating: UInt8(piece + worker.draw(0..<100)), count: 8 << 20))
            pause(nanoseconds: Int64(worker.draw(20..<400)) * 1_000_000)
        }
        pause(nanoseconds: Int64(worker.draw(100..<3_000)) * 1_000_000)
        try file.setSize(worker.draw(0..<2) * 1_000)
    }
}
