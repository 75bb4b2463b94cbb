import GroupSystemCalls
public import Observation

/// A key's value for views and models that are told by `TreeWatcher`: reading `value` within `withObservationTracking`,
/// or from a type that is `@Observable`, is told when any process sets it. Follows the key as long as it lives.
///
///     @Observable final class Model { let opened = ObservedDefault(defaults, .opened) }
public final class ObservedDefault<Value: Sendable>: Observable, Sendable {
    private let defaults: GroupDefaults
    private let key: GroupDefaults.Key<Value>
    private let registrar = ObservationRegistrar()
    private let present: Guarded<Value>
    private let following = Guarded<Task<Void, Never>?>(nil)

    /// Begins to follow. Where several sets come at once, the last one is told.
    public init(_ defaults: GroupDefaults, _ key: GroupDefaults.Key<Value>) {
        (self.defaults, self.key) = (defaults, key)
        present = Guarded(defaults[key])
        let values = defaults.values(of: key, delivering: .latest)
        let task = Task { [weak self] in
            do {
                for try await value in values { self?.take(value) }
            } catch {
                // The container is gone, or the suite's log is damaged, as its diagnostics say: the value stays.
                return
            }
        }
        following.withLock { $0 = task }
    }

    deinit { following.withLock { $0?.cancel() } }

    /// The value that was told last.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return present.withLock { $0 }
    }

    /// Sets the key for all; `value` follows. Errors: those of `GroupDefaults.set`.
    public func set(_ value: Value) throws(CoordinationError) { try defaults.set(value, for: key) }

    private func take(_ value: Value) {
        registrar.withMutation(of: self, keyPath: \.value) { present.withLock { $0 = value } }
    }
}
