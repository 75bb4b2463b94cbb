import GroupSystemCalls

/// One value that somebody said, from wherever.
final class Kept<Value: Sendable>: Sendable {
    private let kept = Guarded<Value?>(nil)

    var value: Value? { kept.withLock { $0 } }

    func keep(_ value: Value) { kept.withLock { $0 = value } }
}
