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
        let patience = Self.interrupt(atEndOf: child.identifier)
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

    /// Raises an interruption at the end of a child, and returns for how long to wait for one at most.
    private static func interrupt(atEndOf child: Int32) -> Int64 {
        do throws(Errno) {
            try WorkThread.start {
                ChildProcess.awaitEnd(of: child)
                Interruption.raise()
            }
            return .max
        } catch {
            // The user may have no more threads.
            return 100_000_000
        }
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
    /// exit status; after a signal that another process has sent, that of the signal. Returns nil if the output is
    /// longer than `limit` bytes; then COMMAND was killed.
    ///
    /// The input is a file rather than a pipe, so a COMMAND that writes before it has read everything cannot deadlock.
    package static func filterUnderLock(
        _ command: [[UInt8]], input: borrowing FileDescriptor, atMost limit: Int,
        variables: [(name: String, value: [UInt8])], for run: borrowing CommandRun
    ) throws(Errno) -> (output: [UInt8], status: Int32)? {
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
        return (output, process.sent.map { 128 + $0 } ?? status)
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
        let start = monotonicNanoseconds()
        var isSaid = false
        while let left = ProcessTree.children(of: ProcessTree.ownIdentifier)
            .first(where: ProcessTree.isInOwnGroup)
        {
            let other = ChildProcess(adopted: left)
            let patience = Self.interrupt(atEndOf: left)
            while true {
                let seen = Interruption.latest
                if arrivals.next() != nil { return }
                if Self.hasEnded(other) { break }
                if !isSaid, monotonicNanoseconds() - start >= Self.silence {
                    isSaid = true
                    let name = ProcessView(of: left).map { PipeText.escaped($0.command) } ?? "a process"
                    run.remark(
                        "waiting for '\(name)' (process \(left)) before the lock is freed; a signal ends the wait")
                }
                Interruption.wait(since: seen, atMost: isSaid ? patience : min(patience, Self.silence))
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

    /// For how long it waits before it says so, in nanoseconds.
    private static var silence: Int64 { 1_000_000_000 }
}
