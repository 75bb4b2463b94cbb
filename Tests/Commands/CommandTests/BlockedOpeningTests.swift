import Foundation
import GroupSystemCalls
import TestSupport
import Testing

/// A process is stopped while it opens the container. Here the test's process holds the byte.
@Suite(.tags(.process)) struct `A blocked opening of a container` {
    private static let bound = Duration.seconds(15)

    /// Locks the byte as long as the result exists.
    private func block(_ container: TemporaryContainer) throws -> FileDescriptor {
        let lock = try FileDescriptor.open(path: Array("\(container.path)/.group/lock".utf8), .readingAndWriting)
        #expect(try lock.tryLock(.exclusive, ByteRange(start: 0, length: 1)))
        return lock
    }

    /// Whether a thread of a process sleeps in the kernel for this file's lock. The process prints nothing then, but
    /// /proc/locks has the thread with an arrow.
    private func waitsInTheKernel(_ command: RunningProcess, for lock: borrowing FileDescriptor) async throws -> Bool {
        let inode = try lock.status().inode
        return try await eventually {
            if command.hasEnded { return true }
            // Foundation reads only the first 4 KiB of such a file, and the file has the locks of all processes.
            let file = try FileDescriptor.open(path: Array("/proc/locks".utf8), .reading)
            let locks = String(decoding: try file.readAll(), as: UTF8.self).split(separator: "\n")
            return locks.contains { $0.contains(" -> ") && $0.contains(":\(inode) ") }
        } && !command.hasEnded
    }

    @Test(arguments: [["read", "item"], ["lock", "item", "--", "true"], ["status"], ["defaults get", "s", "key"]])
    func `a blocked opening is awaited until the timeout, and its process named`(words: [String]) async throws {
        let container = try TemporaryContainer()
        let lock = try block(container)
        let command = words[0].split(separator: " ").map(String.init) + ["--timeout", "1500ms", container.path]
        // Without the option it would be 30 s.
        let outcome = try await container.start("groupctl", command + words.dropFirst()).finish(within: .seconds(25))
        #expect(outcome.status == 75 || outcome.status == 4, "\(outcome)")
        #expect(outcome.errors.contains("process \(getpid())"), "\(outcome)")
        withExtendedLifetime(lock) {}
    }

    @Test func `a blocked opening ends groupctl lock with the conflict status`() async throws {
        let container = try TemporaryContainer()
        let lock = try block(container)
        let words = ["lock", "--timeout", "0", "--conflict-exit-code", "99", container.path, "item", "--", "true"]
        #expect(try await container.start("groupctl", words).finish(within: .seconds(8)).status == 99)
        withExtendedLifetime(lock) {}
    }

    @Test(
        arguments: [SIGTERM, SIGINT],
        [["watch-group"], ["watch-group", "--defaults", "s"], ["groupctl", "channels", "follow"]])
    func `a signal ends a follower that waits for a blocked opening`(signal: Int32, program: [String]) async throws {
        let container = try TemporaryContainer()
        let lock = try block(container)
        var words = Array(program.dropFirst())
        if program.first == "groupctl" {
            words += [container.path, "channel", "--listener", "l"]
        } else {
            words.append(container.path)
        }
        let follower = try container.start(program[0], words)
        #expect(try await waitsInTheKernel(follower, for: lock))
        follower.signal(signal)
        #expect(try await follower.finish(within: .seconds(8)).status == 128 + signal)
        withExtendedLifetime(lock) {}
    }
}
