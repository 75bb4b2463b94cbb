import GroupSystemCalls

extension Container {
    /// Appends a record that no change stands behind, and returns its sequence. For the fault tests: they kill and stop
    /// members in the middle of appends, which whole writes would reach a thousand times less often.
    package func appendRawRecord(naming path: ItemPath) throws(CoordinationError) -> UInt64 {
        let record = ChangeRecord(
            .touched, path: path.bytes, state: nil, isCoordinated: true, operation: ChangeRecord.noOperation,
            processIdentifier: processIdentifier(), purpose: [], time: 0)
        return try member.journal.append(record).sequence
    }
}
