package import GroupCommandLine
import GroupSystemCalls

extension StandardOutput {
    /// Interrupts the waits of this process once no process can read its output any more: see `Interruption`. A thread
    /// waits for that; without one, it is noticed at the next write.
    package func interruptWhenReaderIsGone() {
        if !hasReader { return }
        let wait = waitUntilReaderIsGone
        try? WorkThread.start {
            wait()
            Interruption.raise()
        }
    }
}
