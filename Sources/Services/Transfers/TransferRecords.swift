import FoundationEssentials
package import GroupContainer
import GroupSystemCalls

/// The records of the transfers: a suite of the container, with a key for each. The suite is the queue, the state of
/// each transfer and its progress at once, and wakes those that wait for a change of it.
package struct TransferRecords: Sendable {
    package static let suite = "group-container.transfers"
    private let suite: GroupDefaults

    package init(_ container: Container) throws(CoordinationError) {
        suite = try GroupDefaults(container, suite: Self.suite)
    }

    /// Returns the readable records, the oldest first.
    package func all() -> [Transfer] {
        suite.dictionaryRepresentation().compactMap { Self.decode($0.value, $0.key) }
            .sorted { ($0.queuedAt, $0.id) < ($1.queuedAt, $1.id) }
    }

    /// Returns the keys of the records that cannot be read, sorted: a newer version or another program wrote them.
    package func unreadable() -> [String] {
        suite.dictionaryRepresentation().filter { Self.decode($0.value, $0.key) == nil }.map(\.key).sorted()
    }

    package subscript(id: Transfer.ID) -> Transfer? { Self.decode(suite.value(forKey: id), id) }

    static func decode(_ value: DefaultsValue?, _ id: Transfer.ID) -> Transfer? {
        guard case .json(let bytes)? = value,
            let transfer = try? JSONDecoder().decode(Transfer.self, from: Data(bytes)),
            transfer.id == id, transfer.isSound
        else { return nil }
        return transfer
    }

    static func encode(_ transfer: Transfer) throws(CoordinationError) -> DefaultsValue {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return .json(Array(try encoder.encode(transfer)))
        } catch {
            throw CoordinationError(
                .invalidContent, operation: "record", item: transfer.id, reason: "\(error)", cause: error)
        }
    }

    func add(_ transfer: Transfer) throws(CoordinationError) {
        try suite.set(Self.encode(transfer), forKey: transfer.id, durability: .durable)
    }

    /// Changes a record by one step of the suite. Returns what `body` returns, which decides whether the record is
    /// changed; false where there is no record.
    @discardableResult
    package func update(
        _ id: Transfer.ID, durability: Durability = .relaxed, _ body: (inout Transfer) -> Bool
    ) throws(CoordinationError) -> Bool {
        while true {
            let old = try suite.readVersion(forKey: id)
            guard var transfer = Self.decode(old.value, id), body(&transfer) else { return false }
            if try suite.compareAndSet(
                forKey: id, from: old.value, to: Self.encode(transfer), durability: durability)
            {
                return true
            }
        }
    }

    package func remove(_ id: Transfer.ID) throws(CoordinationError) -> Bool {
        guard let transfer = self[id], !transfer.needsWork else { return false }
        try suite.removeValue(forKey: id)
        return true
    }

    package func changes() throws(CoordinationError) -> Follower<DefaultsChange> { try suite.follow(since: .now) }

    func changes(of id: Transfer.ID) -> DefaultsChanges { suite.changes(of: [id], delivering: .latest) }
}
