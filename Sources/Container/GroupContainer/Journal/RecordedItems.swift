import GroupLog
import GroupSystemCalls

/// The items as the journal has them.
extension OpenContainer {
    /// Returns the journal view up to the end. The first time linear in the items and in the records after the
    /// checkpoint, then in the new records. Errors: `damaged`
    func recordedTree() throws(CoordinationError) -> JournalView {
        try withRecordedTree(forLookingUp: false) { $0 }
    }

    /// Returns an item as in its last record; nil if none is recorded. The first time linear in the records after the
    /// checkpoint, then in the new records. Errors: `damaged`
    func recordedItem(at location: ItemLocation) throws(CoordinationError) -> TreeIndex.Item? {
        try recordedItemAndPosition(at: location).item
    }

    /// The form of `recordedItem` that also returns the position up to which the journal was read.
    func recordedItemAndPosition(
        at location: ItemLocation
    ) throws(CoordinationError) -> (item: TreeIndex.Item?, position: LogPosition) {
        let (item, found, isBroken) = try withRecordedTree(forLookingUp: true) {
            ($0.item(at: location), $0.position, $0.isBroken)
        }
        if !isBroken { return (item, found) }
        return try withRecordedTree(forLookingUp: false) { ($0.item(at: location), $0.position) }
    }

    private func withRecordedTree<Answer>(
        forLookingUp: Bool, _ look: (JournalView) -> Answer
    ) throws(CoordinationError) -> Answer {
        try recorded.withLock { (kept) throws(CoordinationError) in
            var tree: JournalView
            if let kept, forLookingUp || !kept.isForLookingUp {
                tree = kept
            } else {
                tree = try forLookingUp ? JournalView(forLookingUpIn: journal) : JournalView(journal)
            }
            // A view without a second reference is changed in place, rather than copied.
            kept = nil
            defer { kept = tree }
            try tree.catchUp(journal)
            return look(tree)
        }
    }
}
