// Imports nothing: no file, clock or process.

/// The disk and the journal, as far as a reconciliation needs them.
protocol FileSystemView {
    /// What the journal says, as far as it was read.
    var treeIndex: TreeIndex { get }
    /// Another member has taken over: nothing may be appended.
    var isSuperseded: Bool { get }
    /// Reads the journal to its end. True: there was something of others'.
    mutating func catchUp() throws(CoordinationError) -> Bool
    /// What stands there; nothing where a directory on the way to it is none.
    mutating func found(_ location: ItemLocation) throws(CoordinationError) -> ItemState?
    /// The hash of a file's content; nil where it may not be read, or is too large. Error: `notFound`, also where
    /// another file stands there
    mutating func contentHash(of location: ItemLocation, inode: UInt64) throws(CoordinationError) -> UInt64?
    /// It was changed a moment ago, so that the next change might leave the same dates.
    mutating func isFresh(_ state: ItemState) -> Bool
    /// Somebody has one of these for writing, or a change of it under way that has no record yet; or one in these
    /// directories, which go. Asked after `found`.
    mutating func isBusy(_ locations: [ItemLocation], in directories: [ItemLocation]) throws(CoordinationError) -> Bool
    /// Appends exactly at the place up to which the journal was read. False: something stands there by now.
    mutating func append(_ record: ChangeRecord) throws(CoordinationError) -> Bool
    /// A record of a change that was made without coordination.
    func record(
        _ kind: ChangeRecord.Kind, _ location: ItemLocation, _ state: ItemState?, from: ItemLocation?,
        other: ItemState?
    ) -> ChangeRecord
}
