import Dispatch
import Foundation
import GroupSystemCalls

/// An event that one thread waits for and another lets happen, once.
package final class Event: Sendable {
    private let happened = DispatchSemaphore(value: 0)

    package init() {}

    package func happen() { happened.signal() }

    /// Returns false if the event did not happen within `patience`. It may be called again.
    package func await() -> Bool {
        guard happened.wait(timeout: .now() + .seconds(Int(patience.components.seconds))) == .success else {
            return false
        }
        happened.signal()
        return true
    }
}

/// Work on a thread of its own, which may block.
package final class Side<Answer: Sendable>: Sendable {
    private let result = Guarded<Result<Answer, any Error>?>(nil)
    private let ended = Event()

    package init(_ work: @escaping @Sendable () throws -> Answer) {
        // A dispatch queue has few threads, and a test must not wait for another.
        let thread = Thread {
            let answer = Result { try work() }
            self.result.withLock { $0 = answer }
            self.ended.happen()
        }
        thread.name = "side"
        thread.start()
    }

    package struct Endless: Error {}

    /// Releases the answer.
    package func forget() { result.withLock { $0 = nil } }

    package func answer() throws -> Answer {
        guard ended.await(), let result = result.withLock({ $0 }) else { throw Endless() }
        return try result.get()
    }
}
