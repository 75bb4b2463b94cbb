@testable import GroupContainer

extension TreeIndex {
    /// Applies a record without a sequence number, for tests that are not about generations.
    mutating func apply(_ record: ChangeRecord) { apply(record, at: 0) }

    /// All items by their locations.
    var items: [ItemLocation: Item] { Dictionary(uniqueKeysWithValues: map { ($0.location, $0.item) }) }
}

extension TreeIndex: Equatable {
    static func == (left: TreeIndex, right: TreeIndex) -> Bool {
        left.count == right.count && left.elementsEqual(right, by: ==)
            && left.allSatisfy {
                left.location(ofInode: $0.item.state.inode) == right.location(ofInode: $0.item.state.inode)
            }
    }
}

extension Checkpoint<[UInt8]> {
    /// Returns the bytes of the file.
    static func encode(_ treeIndex: TreeIndex, _ header: CheckpointHeader) -> [UInt8] {
        var bytes: [UInt8] = []
        CheckpointPieces(treeIndex: treeIndex, header: header).forEach { bytes += $0 }
        return bytes
    }
}
