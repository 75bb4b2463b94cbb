import GroupLog
package import GroupContainer
import GroupSystemCalls

extension Container {
    /// Appends a record without a change to the journal, and returns its sequence number. Tests that kill and stop
    /// members in the middle of appends reach that a thousand times more often than with complete writes.
    package func appendRawRecord(naming path: ItemPath) throws(CoordinationError) -> UInt64 {
        let record = ChangeRecord(
            .touched, path: path.bytes, state: nil, isCoordinated: true, operation: ChangeRecord.noOperation,
            processIdentifier: processIdentifier(), purpose: [], time: 0)
        return try opened.journal.append(record).sequence
    }
}
