import Dispatch
import GroupSystemCalls

/// What opens URLs may take long. Those of a scheme are opened in their order; an app that does not answer keeps no other
/// one waiting.
final class OpeningQueues: Sendable {
    /// Of each scheme that has something to be opened.
    private let queues = Guarded([String: (queue: DispatchQueue, count: Int)]())

    func add(_ scheme: String, _ open: @escaping @Sendable () -> Void) {
        let queue = queues.withLock { queues in
            let queue = queues[scheme]?.queue ?? DispatchQueue(label: "widget-host.open.\(scheme)")
            queues[scheme] = (queue, (queues[scheme]?.count ?? 0) + 1)
            return queue
        }
        queue.async {
            open()
            self.end(scheme)
        }
    }

    private func end(_ scheme: String) {
        queues.withLock { queues in
            guard let (queue, count) = queues[scheme] else { return }
            queues[scheme] = count > 1 ? (queue, count - 1) : nil
        }
    }
}
