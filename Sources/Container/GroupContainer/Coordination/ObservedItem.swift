import GroupSystemCalls
public import Observation

/// An item's value, decoded from JSON, for views and models that use Observation: code that reads `value` within
/// `withObservationTracking`, or from a type that is `@Observable`, is notified when any process changes the item.
/// Follows the item as long as the object lives. Also a property wrapper, whose `$` is this object.
///
///     @ObservedItem var todos: [Todo]
///     init(_ app: Coordinator) throws { _todos = try ObservedItem("todo.json", default: [], by: app) }
///     func add(_ todo: Todo) async throws { try await $todos.update { $0.append(todo) } }
///
/// (In a class with the macro `@Observable`, which cannot have a property wrapper, keep the object in a `let`.)
@propertyWrapper
public final class ObservedItem<Value: Codable & Sendable>: Observable, Sendable {
    private struct State: Sendable {
        var value: Value
        var error: (any Error)?
    }

    private let path: ItemPath
    private let missing: Value
    private let coordinator: Coordinator
    private let registrar = ObservationRegistrar()
    private let state: Guarded<State>
    private let following = Guarded<Task<Void, Never>?>(nil)

    /// Reads the item, blocking for at most `timeout`, and begins to follow it. `default` is the value of an absent or
    /// empty item. Errors: those of `Coordinator.read(_:as:default:)`.
    public init(
        _ path: ItemPath, default missing: Value, by coordinator: Coordinator,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws {
        self.path = path
        self.missing = missing
        self.coordinator = coordinator
        // From before the first read on, so that no change is missed.
        let changes = coordinator.member.changes(since: .now, matching: ChangeFilter(only: path))
        let value = try coordinator.blocking.read(path, as: Value.self, default: missing, timeout: timeout)
        state = Guarded(State(value: value))
        let task = Task { [weak self] in
            do {
                for try await _ in changes { await self?.readAgain() }
            } catch {
                self?.take(error)
            }
        }
        following.withLock { $0 = task }
    }

    deinit { following.withLock { $0?.cancel() } }

    /// The value that was read last.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    /// The reason why the last read failed, and `value` is an earlier one: for instance content that does not decode,
    /// or a container that was removed. Nil after a read.
    public var error: (any Error)? {
        registrar.access(self, keyPath: \.error)
        return state.withLock { $0.error }
    }

    /// The value, for a property.
    public var wrappedValue: Value { value }

    /// This object.
    public var projectedValue: ObservedItem { self }

    /// Writes a value for all processes; `value` follows. Errors: those of `Coordinator.write(json:to:)`.
    public func set(_ value: Value, durability: Durability = .durable) async throws {
        try await coordinator.write(json: value, to: path, durability: durability)
    }

    /// Reads, changes and writes the value under one lock, and returns it; `value` follows. Errors: those of
    /// `Coordinator.update(_:default:)`.
    @discardableResult
    public func update(
        durability: Durability = .durable, _ body: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Value {
        try await coordinator.update(path, default: missing, durability: durability, body).value
    }

    private func readAgain() async {
        do {
            let value = try await coordinator.read(path, as: Value.self, default: missing)
            registrar.withMutation(of: self, keyPath: \.value) { state.withLock { $0.value = value } }
            if error != nil { take(nil) }
        } catch {
            take(error)
        }
    }

    private func take(_ error: (any Error)?) {
        registrar.withMutation(of: self, keyPath: \.error) { state.withLock { $0.error = error } }
    }
}
