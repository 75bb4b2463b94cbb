import CGroupLinux
import Glibc

/// A child that is talked with, stopped and continued, and whose end is noticed without waiting for it.
package struct SupervisedProcess: ~Copyable, Sendable {
    package enum Event: Hashable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
        /// All of it stands still.
        case stopped
    }

    package let identifier: Int32
    private let leadsGroup: Bool

    /// Looks the command up in PATH. It dies with the thread that starts it, also where it is stopped then; what it
    /// starts itself is signalled with it as long as it stays in its group. Standard error of -1 is ours.
    /// System calls: fork(2), prctl(PR_SET_PDEATHSIG), setpgid(2), execve(2)
    package init(
        _ words: [[UInt8]], variables: [(name: String, value: [UInt8])], input: borrowing FileDescriptor,
        output: borrowing FileDescriptor, errors: Int32 = -1, leadsGroup: Bool = true
    ) throws(Errno) {
        var flags = Int32(clinux_spawn_dies_with_parent)
        if leadsGroup { flags |= Int32(clinux_spawn_own_group) }
        identifier = try ChildProcess.spawn(
            words, environment: ChildProcess.environment(with: variables),
            streams: [input.number, output.number, errors],
            flags: flags)
        self.leadsGroup = leadsGroup
    }

    /// To all of its group; to it alone where it leads none. Not after its end was noticed. System calls: kill(2)
    package func signal(_ signal: Signal) { _ = kill(leadsGroup ? -identifier : identifier, signal.rawValue) }

    /// What `signal` reaches: it, and its group. System calls: getdents(2), getpgid(2)
    package var signalled: [Int32] { leadsGroup ? OpenFiles.processes(ofGroup: identifier) : [identifier] }

    /// What it may be told by the kernel.
    package enum Signal: Int32, Sendable {
        case kill = 9, goOn = 18, stop = 19
    }

    /// What became of it since the last call; nil: nothing. After `exited` or `killed` it is gone, and its number may
    /// be another's. System calls: waitid(2)
    package func nextEvent() -> Event? {
        var number: Int32 = 0
        switch unsafe clinux_child_event(identifier, &number) {
        case 1: return .exited(number)
        case 2: return .killed(signal: number)
        case 3: return .stopped
        case 0: return nil
        // ECHILD: somebody else has waited for it; there is nothing more to learn.
        default: return .exited(-1)
        }
    }

    /// The resident memory of a process, in bytes; nil where there is none. Reads /proc/PID/statm.
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
    /// Both ends of a pipe. System calls: pipe2(2)
    package static func pipe() throws(Errno) -> PipeEnds {
        var ends: [Int32] = [-1, -1]
        _ = try check { unsafe clinux_pipe(&ends) }
        return PipeEnds(reading: FileDescriptor(owning: ends[0]), writing: FileDescriptor(owning: ends[1]))
    }

    /// Reading and writing answer `tryAgain` rather than wait. Of the open file description: for every process that
    /// shares it, too. System calls: fcntl(F_SETFL)
    package func setNonBlocking() throws(Errno) {
        let number = number
        let flags = try check { fcntl(number, F_GETFL) }
        _ = try check { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }

    /// As much of it as there is room for now; how much. System calls: write(2)
    package func writeSome(_ content: ArraySlice<UInt8>) throws(Errno) -> Int {
        let number = number
        return try retryingOnInterrupt {
            unsafe content.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
        }
    }
}

/// The ends of a pipe.
package struct PipeEnds: ~Copyable {
    package var reading: FileDescriptor
    package var writing: FileDescriptor
}
