public import GroupContainer

/// The states of a transfer, first the present one, then each that follows, until it is over. A consumer that is slow
/// gets the last state of those that it has missed.
///
///     for try await transfer in transfers.progress(of: id) { bar.value = Double(transfer.received) }
///
/// The sequence waits for the container's records: while nothing is transferred, it makes no system call.
public struct TransferProgress: AsyncSequence, Sendable {
    private let id: Transfer.ID
    private let records: TransferRecords
    private let changes: DefaultsChanges

    init(_ id: Transfer.ID, _ records: TransferRecords) {
        // The changes begin before the first read, so that none is missed.
        self.id = id
        self.records = records
        changes = records.changes(of: id)
    }

    /// Returns an iterator that starts with the present state.
    public func makeAsyncIterator() -> Iterator {
        Iterator(id: id, records: records, changes: changes.makeAsyncIterator())
    }

    /// The position of one consumer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let id: Transfer.ID
        fileprivate let records: TransferRecords
        fileprivate var changes: DefaultsChanges.Iterator
        fileprivate var last: Transfer?

        /// Returns the next state; nil after that of a transfer that is over, where there is no such transfer, and when
        /// the task is cancelled. Errors: those of `GroupDefaults.changes(of:since:delivering:)`
        public mutating func next() async throws(CoordinationError) -> Transfer? {
            if last?.state.isOver == true { return nil }
            repeat {
                guard let transfer = records[id] else { return nil }
                if transfer != last {
                    last = transfer
                    return transfer
                }
            } while try await changes.next() != nil
            return nil
        }
    }
}

extension Transfers {
    /// Returns the states of a transfer as they change: see `TransferProgress`.
    public func progress(of id: Transfer.ID) -> TransferProgress { TransferProgress(id, records) }
}
