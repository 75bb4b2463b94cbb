import Dispatch

/// Rung by any thread, heard by one that waits. Rings while nobody waits are one.
final class Bell: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func ring() { semaphore.signal() }

    /// False: nobody rang in that time (nil: for ever).
    func wait(nanoseconds: Int64?) -> Bool {
        guard let nanoseconds else {
            semaphore.wait()
            return true
        }
        return semaphore.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds))) == .success
    }
}
