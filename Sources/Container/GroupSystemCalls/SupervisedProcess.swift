import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A child process that can be communicated with, stopped and continued, and whose end is noticed without a blocking
/// wait.
package struct SupervisedProcess: ~Copyable, Sendable {
    package enum Event: Hashable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
        /// All threads of the process are stopped.
        case stopped
    }

    package let identifier: Int32
    private let leadsGroup: Bool

    /// Describes why a command could not be started: a name without a slash was looked for in PATH.
    package static func reason(_ error: Errno, of command: [UInt8]) -> String {
        if error != .noSuchEntry || command.contains(UInt8(ascii: "/")) { return "\(error)" }
        return "no directory of PATH has a program of that name"
    }

    /// Starts a command, which is looked up in PATH. The kernel kills it when the thread that starts it ends, also
    /// while it is stopped. Processes that it starts are signaled with it as long as they stay in its group. For
    /// `errors` -1 is this process's own standard error. With `attached` its descriptors 3, 4, … are copies of these,
    /// and it inherits no other descriptor of this process, whether that is close-on-exec or not.
    /// System calls: fork(2), prctl(PR_SET_PDEATHSIG), setpgid(2), close_range(2), execve(2)
    package init(
        _ words: [[UInt8]], variables: [(name: String, value: [UInt8])], input: borrowing FileDescriptor,
        output: borrowing FileDescriptor, errors: Int32 = -1, attached: [Int32]? = nil, leadsGroup: Bool = true
    ) throws(Errno) {
        var flags = Int32(clinux_spawn_dies_with_parent)
        if leadsGroup { flags |= Int32(clinux_spawn_own_group) }
        if attached != nil { flags |= Int32(clinux_spawn_only_streams) }
        identifier = try ChildProcess.spawn(
            words, environment: ChildProcess.environment(with: variables),
            streams: [input.number, output.number, errors] + (attached ?? []), flags: flags)
        self.leadsGroup = leadsGroup
    }

    /// Starts a command as the leader of its group, with numbers of descriptors: -1 is this process's own stream.
    package init(
        _ words: [[UInt8]], variables: [(name: String, value: [UInt8])], input: Int32, output: Int32
    ) throws(Errno) {
        identifier = try ChildProcess.spawn(
            words, environment: ChildProcess.environment(with: variables), streams: [input, output, -1],
            flags: Int32(clinux_spawn_dies_with_parent | clinux_spawn_own_group))
        leadsGroup = true
    }

    /// Sends a signal to its group, or to the process alone where it leads no group. Not after its end was noticed.
    /// System calls: kill(2)
    package func signal(_ signal: Signal) { _ = kill(leadsGroup ? -identifier : identifier, signal.rawValue) }

    /// The processes that `signal` reaches: its group, or the process alone. System calls: getdents(2), getpgid(2)
    package var signalled: [Int32] { leadsGroup ? OpenFiles.processes(ofGroup: identifier) : [identifier] }

    /// Whether it has ended. Until `nextEvent` reports that, no other process or group gets its number.
    /// System calls: waitid(WNOWAIT)
    package var hasEnded: Bool { clinux_child_has_ended(identifier, 0) != 0 }

    /// Waits until it has ended, and blocks the calling thread. System calls: waitid(WNOWAIT)
    package func awaitEnd() { _ = clinux_child_has_ended(identifier, 1) }

    /// Kills its group, and returns when none of the group's other processes runs, or after five seconds: a process of
    /// another user cannot be killed, and one that waits in the kernel for a disk or a network ends after that wait.
    /// Only while its own end was not reported. System calls: kill(2), getdents(2), getpgid(2), pidfd_open(2),
    /// epoll_pwait2(2)
    package func endGroup() {
        signal(.kill)
        awaitGroup(until: monotonicNanoseconds() + 5_000_000_000) { signal(.kill) }
    }

    /// Returns when none of the group's other processes runs, or at a moment of the monotonic clock. Calls `again`
    /// after each wait. Only while its own end was not reported. System calls: those of `endGroup`
    package func awaitGroup(until end: Int64, _ again: () -> Void = {}) {
        while monotonicNanoseconds() < end,
            let other = signalled.first(where: { $0 != identifier && ProcessView.isAlive($0) })
        {
            do throws(Errno) {
                try Self.awaitEnd(of: other)
            } catch {
                // It has ended just now, or no descriptor is free.
                pause(nanoseconds: 1_000_000)
            }
            again()
        }
    }

    /// Waits for the end of a process, for a limited time, as another process may have got its number meanwhile.
    private static func awaitEnd(of process: Int32) throws(Errno) {
        let poller = try Poller()
        let end = try FileDescriptor.process(process)
        try poller.add(end.number)
        _ = try poller.wait(nanoseconds: 20_000_000)
    }

    /// Returns what happened to it since the last call; nil for nothing. After `exited` or `killed` it is gone, and its
    /// number may be another process's. System calls: waitid(2)
    package func nextEvent() -> Event? {
        var number: Int32 = 0
        switch unsafe clinux_child_event(identifier, &number) {
        case 1: return .exited(number)
        case 2: return .killed(signal: number)
        case 3: return .stopped
        case 0: return nil
        // ECHILD: other code has waited for it; nothing more can be found out.
        default: return .exited(-1)
        }
    }

    /// Returns the resident memory of a process, in bytes; nil where there is no such process. Reads /proc/PID/statm.
    package static func residentMemory(of process: Int32) -> UInt64? {
        guard let file = try? FileDescriptor.open(path: Array("/proc/\(process)/statm".utf8), .reading),
            let text = try? file.readAll(limit: 256)
        else { return nil }
        let fields = text.split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = UInt64(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}

extension FileDescriptor {
    /// Opens a process: the descriptor is readable once the process has ended. System calls: pidfd_open(2)
    package static func process(_ identifier: Int32) throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try check { clinux_process_descriptor(identifier) })
    }

    /// Creates a pipe. System calls: pipe2(2)
    package static func pipe() throws(Errno) -> PipeEnds {
        var ends: [Int32] = [-1, -1]
        _ = try check { unsafe clinux_pipe(&ends) }
        return PipeEnds(reading: FileDescriptor(owning: ends[0]), writing: FileDescriptor(owning: ends[1]))
    }

    /// Makes reading and writing throw `tryAgain` rather than wait. Affects the open file description, so every process
    /// that shares it, too. System calls: fcntl(F_SETFL)
    package func setNonBlocking() throws(Errno) {
        let number = number
        let flags = try check { fcntl(number, F_GETFL) }
        _ = try check { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Writes as many bytes as there is room for now, and returns their number. System calls: write(2)
    package func writeSome(_ content: ArraySlice<UInt8>) throws(Errno) -> Int {
        let number = number
        return try retryingOnInterrupt {
            unsafe content.withUnsafeBytes { unsafe writeBytes(number, $0.baseAddress, $0.count) }
        }
    }
}

/// The two ends of a pipe.
package struct PipeEnds: ~Copyable {
    package var reading: FileDescriptor
    package var writing: FileDescriptor
}

/// This process's end of a pipe, for reading and writing without waiting.
package final class PipeSide: Sendable {
    package let descriptor: FileDescriptor

    package var number: Int32 { descriptor.number }

    /// Takes over a descriptor. System calls: fcntl(F_SETFL)
    package init(_ descriptor: consuming FileDescriptor) throws(Errno) {
        try descriptor.setNonBlocking()
        self.descriptor = descriptor
    }

    /// Reads into `chunk`, and returns the number of bytes; nil if nothing is there now, 0 at the end or after an
    /// error. System calls: read(2)
    package func take(_ chunk: inout [UInt8]) -> Int? {
        do throws(Errno) {
            return try descriptor.read(into: &chunk)
        } catch {
            return error == .tryAgain ? nil : 0
        }
    }
}
