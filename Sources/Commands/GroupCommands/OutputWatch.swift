package import GroupCommandLine
import GroupSystemCalls

extension StandardOutput {
    /// Calls a closure on another thread once no process can read this output any more; never for a file, which has no
    /// reader. If there can be no more threads, the next write notices it.
    package func whenReaderIsGone(_ action: @escaping @Sendable () -> Void) {
        if !hasReader { return }
        let wait = waitUntilReaderIsGone
        try? WorkThread.start {
            wait()
            action()
        }
    }
}
