import Dispatch
import GroupSystemCalls

/// A queue of elements for one thread, which sleeps while the queue is empty.
final class Mailbox<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])
    private let semaphore = DispatchSemaphore(value: 0)

    func post(_ element: Element) {
        elements.withLock { $0.append(element) }
        semaphore.signal()
    }

    /// Returns the next element; nil if there is none by the deadline.
    func next(until deadline: DispatchTime = .distantFuture) -> Element? {
        while true {
            if semaphore.wait(timeout: deadline) == .timedOut { return nil }
            if let element = elements.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return element }
        }
    }

    /// Returns all elements that are there.
    func takeAll() -> [Element] {
        elements.withLock { elements in
            defer { elements = [] }
            return elements
        }
    }
}
