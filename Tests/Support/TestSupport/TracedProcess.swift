import Glibc
import GroupSystemCalls

/// A command under strace(1), which logs each system call as it is made.
package final class TracedProcess {
    private let process: RunningProcess
    private let log: Drain
    /// Keeps the log from ending before strace has opened it.
    private var writer: FileDescriptor?
    private let temporary: TemporaryDirectory

    /// `words` are strace's own options, then the command.
    init(_ words: [String], input: String) throws {
        temporary = try TemporaryDirectory()
        let fifo = "\(temporary.path)/log"
        if unsafe mkfifo(fifo, 0o600) != 0 { throw SetUpError("mkfifo", errno) }
        // By its path: below a directory no call waits for a FIFO's other end, nor for its data.
        let opener = try FileDescriptor.open(path: Array(fifo.utf8), .readingAndWriting)
        let reader = try FileDescriptor.open(path: Array(fifo.utf8), .reading)
        writer = try FileDescriptor.open(path: Array(fifo.utf8), .writing)
        _ = consume opener
        log = Drain(owning: reader.release())
        // Without `--seccomp-bpf`, with which injected signals get lost.
        process = try RunningProcess(["strace", "-f", "-o", fifo] + words, input: input)
    }

    /// Whether the fault's call was reached; valid once the process has ended or is stopped.
    package var isReached: Bool {
        let text = log.text
        return text.contains("(INJECTED)") || text.contains("killed by SIGKILL") || text.contains(Self.stopped)
    }

    /// The call that returned an injected error, as strace prints it.
    package var injected: Strace.Call? {
        let lines = log.text.split(separator: "\n")
        guard let place = lines.firstIndex(where: { $0.contains("(INJECTED)") }) else { return nil }
        let process = lines[place].prefix { $0 != " " } + " "
        let begin = lines[...place].last { $0.hasPrefix(process) && !$0.contains("<... ") }
        let words = begin?.drop { $0 != " " }.drop { $0 == " " } ?? ""
        return Strace.Call(name: String(words.prefix { $0 != "(" }), number: 0, arguments: String(words))
    }

    private static let stopped = "stopped by SIGSTOP"

    /// Waits for the fault `stop`. Returns false if the process ended without reaching it.
    package func waitUntilStopped() throws -> Bool {
        // strace itself lives on, and its log with it. The log has the ends of threads, too.
        try log.waitForText { text in
            text.contains(Self.stopped) || text.contains("+++ ") && !hasTracee
        }
        return log.text.contains(Self.stopped)
    }

    /// Whether the traced process is there: strace logs its end after it has waited for it.
    private var hasTracee: Bool {
        let path = "/proc/\(process.identifier)/task/\(process.identifier)/children"
        guard let file = try? FileDescriptor.open(path: Array(path.utf8), .reading),
            let children = try? file.readAll(limit: 64)
        else { return false }
        return !children.isEmpty
    }

    /// Lets a stopped process go on.
    package func resume() { process.signal(SIGCONT, toGroup: true) }

    /// Kills the traced process, and strace with it.
    package func kill() throws {
        process.signal(SIGKILL, toGroup: true)
        _ = try finish()
    }

    /// Waits for the end, and returns the status and everything that was printed; nothing of strace's own.
    package func finish() throws -> (status: Int32, text: String) {
        let answer = try process.finish()
        process.reap()
        writer = nil
        try log.waitForEnd(within: patience)
        return answer
    }
}
