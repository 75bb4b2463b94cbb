import GroupBytes
package import GroupSystemCalls

/// A COMMAND that this process runs, and whose end it awaits.
///
/// A signal that another process sends to this one is passed on to COMMAND, and to what COMMAND has started in this
/// process's group. The signal of a key is not passed on: the terminal sends it to the whole group. SIGUSR1 and SIGUSR2
/// are passed on to COMMAND alone.
package struct CommandProcess: ~Copyable {
    private let child: ChildProcess
    private let signals: TerminationSignals
    private let holdsLock: Bool
    /// What COMMAND had started in this process's group when a signal came.
    private var reached: [ReachedProcess] = []
    private var arrivals = ArrivedSignals()
    private var messages = ArrivedSignals.passedOn()
    /// The last signal that another process has sent.
    private var sent: Int32?
    /// Whether the end was waited for: COMMAND's number may be another process's now.
    private var isOver = false

    /// Starts a COMMAND with these variables besides this process's own, and with this process's input and output, or
    /// the descriptors that are given. The kernel kills it when the calling thread ends.
    package init(
        _ command: [[UInt8]], input: Int32 = -1, output: Int32 = -1,
        variables: [(name: String, value: [UInt8])], _ signals: TerminationSignals
    ) throws(Errno) {
        try self.init(command, input, output, variables, signals, holdsLock: false)
    }

    private init(
        _ command: [[UInt8]], _ input: Int32, _ output: Int32, _ variables: [(name: String, value: [UInt8])],
        _ signals: TerminationSignals, holdsLock: Bool
    ) throws(Errno) {
        (self.signals, self.holdsLock) = (signals, holdsLock)
        child = try ChildProcess.start(command, input: input, output: output, variables: variables)
    }

    /// Waits for the end, and returns the exit status. Uses a thread.
    package mutating func wait() throws(Errno) -> Int32 {
        let identifier = child.identifier
        let patience = Self.interrupt { ChildProcess.awaitEnd(of: identifier) }
        while true {
            let seen = Interruption.latest
            if let status = try child.wait(nanoseconds: 0) {
                isOver = true
                return status
            }
            passOn()
            Interruption.wait(since: seen, atMost: patience)
        }
    }

    /// Passes on the signals that have arrived since the last call.
    private mutating func passOn() {
        while let message = messages.next() { if !isOver { child.signal(message.number) } }
        while var signal = arrivals.next() {
            // When a terminal is gone, the kernel tells only the leader of its session.
            if signal.number == Signal.hangup.rawValue && ProcessTree.leadsSession { signal.isFromTerminal = false }
            // What COMMAND starts because of the signal, as in a trap, is not to get it, too.
            let others = signal.isFromTerminal ? [] : self.others
            let isReached = signal.isFromTerminal && ProcessTree.isInOwnGroup(child.identifier)
            if !isOver && !isReached { child.signal(signal.number) }
            if signal.isFromTerminal { continue }
            sent = signal.number
            // Those that cannot be opened have ended by now, or there is no descriptor to wait for their end with.
            if !holdsLock { reached += others.compactMap { try? ReachedProcess($0) } }
            others.forEach { ProcessTree.signal($0, signal.number) }
        }
    }

    /// What COMMAND has started in this process's group: each process after the one that started it, so that a shell
    /// cannot go on to its next command.
    private var others: [Int32] {
        // Under a lock, this process adopts those whose parents have ended, and has no other children.
        let root = holdsLock ? ProcessTree.ownIdentifier : child.identifier
        if !holdsLock && isOver { return [] }
        return ProcessTree.descendants(of: root).filter { $0 != child.identifier && ProcessTree.isInOwnGroup($0) }
    }

    /// Raises an interruption when a process has ended, and returns for how long to wait for one at most.
    private static func interrupt(after awaitEnd: @escaping @Sendable () -> Void) -> Int64 {
        do throws(Errno) {
            try WorkThread.start {
                awaitEnd()
                Interruption.raise()
            }
            return .max
        } catch {
            // The user may have no more threads.
            return 100_000_000
        }
    }
}

/// For the answer to a question. Somebody waits for what COMMAND saves, also after a signal.
extension CommandProcess {
    /// Runs COMMAND with nothing as its standard input, and returns the exit status.
    ///
    /// After a signal, also waits for what COMMAND had started in this process's group; another signal ends this wait.
    /// Several may run at once, on threads of their own.
    package static func runForAnswer(
        _ command: [[UInt8]], variables: [(name: String, value: [UInt8])], _ signals: TerminationSignals,
        remark: (String) -> Void
    ) throws(Errno) -> Int32 {
        let nothing = try FileDescriptor.inMemory()
        var process = try CommandProcess(command, input: nothing.number, variables: variables, signals)
        let status = try process.wait()
        process.passOn()
        var wait = OtherWait(before: "the question is answered")
        for other in process.reached {
            let patience = interrupt { other.awaitEnd() }
            if !wait.outlasts(other.identifier, &process.arrivals, patience, remark, hasEnded: { other.hasEnded }) {
                break
            }
        }
        return status
    }
}

/// Under a lock. A signal does not end this process, which would free the lock, before COMMAND has ended by it.
extension CommandProcess {
    /// Runs COMMAND while this process holds a lock, and returns the exit status.
    ///
    /// After a signal, also waits for what COMMAND has started in this process's group; another signal ends this wait.
    /// Before and after the call, signals have their default effect.
    package static func runUnderLock(
        _ command: [[UInt8]], variables: [(name: String, value: [UInt8])], for run: borrowing CommandRun
    ) throws(Errno) -> Int32 {
        let signals = try noteSignals()
        defer { TerminationSignals.restoreDefaults() }
        var process = try CommandProcess(command, -1, -1, variables, signals, holdsLock: true)
        let status = try process.wait()
        process.awaitOthers(run)
        return status
    }

    /// Runs COMMAND with a file as its standard input while this process holds a lock, and returns its output and its
    /// exit status; after a signal that another process has sent, that of the signal, and the signal. Returns nil if the
    /// output is longer than `limit` bytes; then COMMAND was killed.
    ///
    /// The input is a file rather than a pipe, so a COMMAND that writes before it has read everything cannot deadlock.
    package static func filterUnderLock(
        _ command: [[UInt8]], input: borrowing FileDescriptor, atMost limit: Int,
        variables: [(name: String, value: [UInt8])], for run: borrowing CommandRun
    ) throws(Errno) -> (output: [UInt8], status: Int32, signal: Int32?)? {
        let signals = try noteSignals()
        defer { TerminationSignals.restoreDefaults() }
        let pipe = try FileDescriptor.pipe()
        let reading = try pipe.reading.duplicate()
        var process = try CommandProcess(
            command, input.number, pipe.writing.number, variables, signals, holdsLock: true)
        _ = consume pipe
        let output = try process.output(of: reading, atMost: limit)
        let status = try process.wait()
        process.awaitOthers(run)
        guard let output else { return nil }
        return (output, process.sent.map { 128 + $0 } ?? status, process.sent)
    }

    private static func noteSignals() throws(Errno) -> TerminationSignals {
        try ProcessTree.adoptOrphans()
        return TerminationSignals()
    }

    /// Reads COMMAND's output up to its end. Returns nil if it is longer than `limit` bytes; then COMMAND was killed.
    private mutating func output(of pipe: consuming FileDescriptor, atMost limit: Int) throws(Errno) -> [UInt8]? {
        let (number, found) = (pipe.release(), Guarded<Result<[UInt8]?, Errno>?>(nil))
        do throws(Errno) {
            try WorkThread.start {
                let pipe = FileDescriptor(owning: number)
                let result = Result { () throws(Errno) in try ChildProcess.content(of: pipe, atMost: limit) }
                found.withLock { $0 = result }
                Interruption.raise()
            }
        } catch {
            _ = FileDescriptor(owning: number)
            child.signal(Signal.kill.rawValue)
            throw error
        }
        while true {
            let seen = Interruption.latest
            if let result = found.withLock({ $0 }) {
                let output = try result.get()
                if output == nil { child.signal(Signal.kill.rawValue) }
                return output
            }
            passOn()
            Interruption.wait(since: seen, atMost: .max)
        }
    }

    /// After a signal, waits for what COMMAND has left in this process's group.
    private mutating func awaitOthers(_ run: borrowing CommandRun) {
        if signals.received == nil { return }
        passOn()
        var wait = OtherWait(before: "the lock is freed")
        while let left = ProcessTree.children(of: ProcessTree.ownIdentifier)
            .first(where: ProcessTree.isInOwnGroup)
        {
            let patience = Self.interrupt { ChildProcess.awaitEnd(of: left) }
            if !wait.outlasts(
                left, &arrivals, patience, { run.remark($0) },
                hasEnded: { Self.hasEnded(ChildProcess(adopted: left)) })
            {
                return
            }
        }
    }

    /// Whether a child has ended, or is no child of this process any more.
    private static func hasEnded(_ child: borrowing ChildProcess) -> Bool {
        do throws(Errno) {
            return try child.wait(nanoseconds: 0) != nil
        } catch {
            return true
        }
    }
}

/// A process that got a signal, and whose end is awaited: it need not be a child of this process.
private final class ReachedProcess: Sendable {
    let identifier: Int32
    private let descriptor: FileDescriptor

    /// System calls: pidfd_open(2)
    init(_ identifier: Int32) throws(Errno) {
        self.identifier = identifier
        descriptor = try FileDescriptor.process(identifier)
    }

    /// Waits until it has ended, and blocks the calling thread. System calls: poll(2)
    func awaitEnd() {
        while StandardStreams.wait(for: .readable, of: descriptor.number, milliseconds: nil).isEmpty {}
    }

    /// Whether it has ended. System calls: poll(2)
    var hasEnded: Bool {
        !StandardStreams.wait(for: .readable, of: descriptor.number, milliseconds: 0).isEmpty
    }
}

/// The wait for what COMMAND has started, after COMMAND has ended by a signal.
private struct OtherWait {
    /// What happens after the wait, for people.
    private let next: String
    private let start = monotonicNanoseconds()
    private var isSaid = false

    init(before next: String) { self.next = next }

    /// For how long it waits before it says so, in nanoseconds.
    private static var silence: Int64 { 1_000_000_000 }

    /// Waits until a process has ended, and looks after each interruption, or so many nanoseconds. Returns false if
    /// another signal ends the wait.
    mutating func outlasts(
        _ process: Int32, _ arrivals: inout ArrivedSignals, _ patience: Int64, _ remark: (String) -> Void,
        hasEnded: () -> Bool
    ) -> Bool {
        while true {
            let seen = Interruption.latest
            if arrivals.next() != nil { return false }
            if hasEnded() { return true }
            if !isSaid, monotonicNanoseconds() - start >= Self.silence {
                isSaid = true
                let name = ProcessView(of: process).map { PipeText.escaped($0.command) } ?? "a process"
                remark("waiting for '\(name)' (process \(process)) before \(next); a signal ends the wait")
            }
            Interruption.wait(since: seen, atMost: isSaid ? patience : min(patience, Self.silence))
        }
    }
}
