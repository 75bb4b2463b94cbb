// Imports nothing: no file, clock or process.

/// The hash and the number of the bytes that were read from a file. If the number differs from the size that was looked
/// up before, the file was written to in between.
struct ContentHash {
    var hash: UInt64
    var size: UInt64
}

/// The disk and the journal, as far as the reconciler needs them.
protocol FileSystemView {
    /// The journal's tree, up to the position that was read.
    var treeIndex: TreeIndex { get }
    /// Whether another member has taken over as leader: nothing may be appended then.
    var isSuperseded: Bool { get }
    /// Reads the journal to its end. Returns true if there were records of other processes.
    mutating func catchUp() throws(CoordinationError) -> Bool
    /// Returns the state of the item at a location; nil if there is none, or if a parent is not a directory.
    mutating func state(at location: ItemLocation) throws(CoordinationError) -> ItemState?
    /// Returns the hash of a file's content; nil if the file may not be read or is too large. Error: `notFound`, also
    /// if another file stands there
    mutating func contentHash(of location: ItemLocation, inode: UInt64) throws(CoordinationError) -> ContentHash?
    /// Returns whether the item was changed so recently that the next change might leave the same dates.
    mutating func isFresh(_ state: ItemState) -> Bool
    /// Returns whether a location must not be recorded now: it is locked for writing; an in-flight operation is on it,
    /// or within one of `directories`, which are about to be recorded as moved or removed; or it is a database in a
    /// transaction, or one that was recorded a moment ago. Of the locations that the caller's own lock covers, only the
    /// databases are checked. To be called after `state(at:)`.
    mutating func isBusy(_ locations: [ItemLocation], in directories: [ItemLocation]) throws(CoordinationError) -> Bool
    /// Appends a record exactly at the position up to which the journal was read. Returns false if another record
    /// stands there already.
    mutating func append(_ record: ChangeRecord) throws(CoordinationError) -> Bool
    /// Waits until a rename that has taken an item from a location has both of its events in the queue. To be called after
    /// the first one was read, and before the other one is read: the kernel queues them one after the other, and the
    /// process may be interrupted in between. (Looking for the item, which would find nothing, waits for that, too.)
    mutating func awaitRenames(from location: ItemLocation)
    /// Returns whether an item that is new elsewhere may be recorded as moved from a location.
    func mayComeFrom(_ origin: ItemLocation) -> Bool
    /// Returns whether the item is a database in which a transaction was being written when its state was read. The end
    /// of the transaction changes the state, and causes no event.
    func isBeingWritten(_ location: ItemLocation) -> Bool
    /// Returns a record of an external change.
    func record(
        _ kind: ChangeRecord.Kind, _ location: ItemLocation, _ state: ItemState?, from: ItemLocation?,
        other: ItemState?
    ) -> ChangeRecord
}

extension FileSystemView {
    func awaitRenames(from location: ItemLocation) {}
    func mayComeFrom(_ origin: ItemLocation) -> Bool { true }
    func isBeingWritten(_ location: ItemLocation) -> Bool { false }
}
