import Dispatch
import Foundation
import GroupSystemCalls
import TestSupport

/// Something that one thread waits for and another lets happen, once.
final class Event: Sendable {
    private let happened = DispatchSemaphore(value: 0)

    func happen() { happened.signal() }

    /// False: it did not, for all our patience. May be asked again and again.
    func await() -> Bool {
        guard happened.wait(timeout: .now() + .seconds(Int(patience.components.seconds))) == .success else {
            return false
        }
        happened.signal()
        return true
    }
}

/// Work on a thread of its own, which may block.
final class Side<Answer: Sendable>: Sendable {
    private let result = Guarded<Result<Answer, any Error>?>(nil)
    private let ended = Event()

    init(_ work: @escaping @Sendable () throws -> Answer) {
        // Not a dispatch queue's: those have few, and a test must not wait for another.
        let thread = Thread {
            let answer = Result { try work() }
            self.result.withLock { $0 = answer }
            self.ended.happen()
        }
        thread.name = "side"
        thread.start()
    }

    struct Endless: Error {}

    func answer() throws -> Answer {
        guard ended.await(), let result = result.withLock({ $0 }) else { throw Endless() }
        return try result.get()
    }
}
