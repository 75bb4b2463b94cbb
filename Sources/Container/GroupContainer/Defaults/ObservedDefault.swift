import GroupSystemCalls
public import Observation

/// A key's value for views and models that use Observation: code that reads `value` within `withObservationTracking`,
/// or from a type that is `@Observable`, is notified when any process sets the key. Follows the key as long as the
/// object lives. Also a property wrapper, whose `$` is this object.
///
///     @Observable final class Model { let opened = ObservedDefault(.opened, in: defaults) }
///
///     @ObservedDefault(.opened, in: defaults) var opened: Int
///     try $opened.set(0)
@propertyWrapper
public final class ObservedDefault<Value: Sendable>: Observable, Sendable {
    private let defaults: GroupDefaults
    private let key: GroupDefaults.Key<Value>
    private let registrar = ObservationRegistrar()
    private let present: Guarded<Value>
    private let following = Guarded<Task<Void, Never>?>(nil)

    /// Begins to follow the key. Where several sets come at once, only the last one is delivered.
    public init(_ key: GroupDefaults.Key<Value>, in defaults: GroupDefaults) {
        self.defaults = defaults
        self.key = key
        present = Guarded(defaults[key])
        let values = defaults.values(of: key, delivering: .latest)
        let task = Task { [weak self] in
            do {
                for try await value in values { self?.take(value) }
            } catch {
                // The container was removed, or the suite's log is damaged, which its diagnostics report: the value
                // stays.
                return
            }
        }
        following.withLock { $0 = task }
    }

    deinit { following.withLock { $0?.cancel() } }

    /// The value that was delivered last.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return present.withLock { $0 }
    }

    /// The value, for a property.
    public var wrappedValue: Value { value }

    /// This object.
    public var projectedValue: ObservedDefault { self }

    /// Sets the key for all processes; `value` follows. Errors: those of `GroupDefaults.set`.
    public func set(_ value: Value) throws(CoordinationError) { try defaults.set(value, for: key) }

    private func take(_ value: Value) {
        registrar.withMutation(of: self, keyPath: \.value) { present.withLock { $0 = value } }
    }
}
