import Synchronization

/// Who waits for the calls that a thread makes: the thread itself, or the one for which it makes them. Each has a number
/// that this process gives to no other.
package enum Caller {
    private final class Numbers: Sendable {
        let own: UInt64
        let current: Atomic<UInt64>

        init() {
            own = Caller.newNumber()
            current = Atomic(own)
        }
    }

    private static let latest = Atomic<UInt64>(0)
    private static let ofThread = ThreadLocal<Numbers>()

    /// Returns a number that none has had.
    package static func newNumber() -> UInt64 { latest.add(1, ordering: .relaxed).newValue }

    /// The caller for whom this thread works now.
    package static var current: UInt64 { numbers.current.load(ordering: .relaxed) }

    /// Has the calling thread work for another caller until the next call; 0: for itself again.
    package static func work(for caller: UInt64) {
        let numbers = numbers
        numbers.current.store(caller == 0 ? numbers.own : caller, ordering: .relaxed)
    }

    /// Runs a closure that does not suspend for another caller.
    package static func during<Answer>(_ caller: UInt64, _ body: () throws -> Answer) rethrows -> Answer {
        let before = current
        work(for: caller)
        defer { work(for: before) }
        return try body()
    }

    /// Begins the work of a thread that is used again: what it did before was another caller's.
    static func begin() { if ofThread.value != nil { ofThread.value = nil } }

    private static var numbers: Numbers {
        if let numbers = ofThread.value { return numbers }
        let numbers = Numbers()
        ofThread.value = numbers
        return numbers
    }
}
