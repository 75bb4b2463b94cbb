package import GroupSystemCalls

/// The end of a command for which this process waits.
package enum CommandEnd {
    /// Waits for the end of a command, and returns its exit status. The first signal that arrives meanwhile is passed
    /// on, so that no command is left running, and returned. Uses a thread.
    package static func wait(
        for child: consuming ChildProcess, _ signals: TerminationSignals
    ) throws(Errno) -> (status: Int32, signal: Int32?) {
        let number = child.identifier
        var limit = Int64.max
        do throws(Errno) {
            try WorkThread.start {
                ChildProcess.awaitEnd(of: number)
                Interruption.raise()
            }
        } catch {
            // The user may have no more threads.
            limit = 100_000_000
        }
        var passedOn: Int32?
        while true {
            let seen = Interruption.latest
            if let status = try child.wait(nanoseconds: 0) { return (status, passedOn) }
            if passedOn == nil, let signal = signals.received {
                child.signal(signal)
                passedOn = signal
            }
            Interruption.wait(since: seen, atMost: limit)
        }
    }
}
