import GroupSystemCalls

/// A value that any thread may set and read.
final class Kept<Value: Sendable>: Sendable {
    private let kept = Guarded<Value?>(nil)

    var value: Value? { kept.withLock { $0 } }

    func keep(_ value: Value) { kept.withLock { $0 = value } }
}
