import Dispatch
import GroupSystemCalls

/// Queues for opening URLs, which may take long. URLs of one scheme are opened in their order; an app that does not
/// answer does not delay those of other schemes.
final class OpeningQueues: Sendable {
    /// The queues of schemes with URLs to open.
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
