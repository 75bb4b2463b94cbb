// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The type of an item.
public enum ItemType: UInt8, Sendable, CaseIterable {
    case file = 1
    case directory = 2
    case symbolicLink = 3
    /// A socket, a FIFO or a device.
    case other = 4
}

/// The state of an item right after a change, as a record has it: enough to detect later whether the item was changed
/// since. Times are nanoseconds since 1970, compared for equality only, never for order.
package struct ItemState: Equatable, Sendable {
    var type: ItemType
    var inode: UInt64
    var size: UInt64
    var modified: Int64
    var changed: Int64
    var mode: UInt32
    var owner: UInt32
    var group: UInt32
    /// The mapping of users and groups through which owner and group were read: 0 for the machine's own, else a number
    /// of a user namespace.
    var view: UInt16 = 0
    /// The hash of the content, keyed by the container; nil if the content was not read.
    var contentHash: UInt64?

    /// Files up to this size, in bytes, are read to distinguish a change of content from a change of dates.
    static let largestHashed: UInt64 = 1 << 20

    /// The state of an item that is there and cannot be looked at.
    static let unknown = ItemState(
        type: .other, inode: 0, size: 0, modified: 0, changed: 0, mode: 0, owner: 0, group: 0, contentHash: nil)

    /// Returns whether two states are the same as far as `statx` can show. The size and dates of a directory change
    /// with its entries, which have records of their own.
    func looksLike(_ other: ItemState) -> Bool {
        if (type, inode) != (other.type, other.inode) || hasOtherAttributes(than: other) { return false }
        return type == .directory || (size, modified, changed) == (other.size, other.modified, other.changed)
    }

    /// Returns whether mode or owner differ.
    func hasOtherAttributes(than other: ItemState) -> Bool {
        // Through two mappings, the same owner has two numbers.
        mode != other.mode || (view == other.view && (owner, group) != (other.owner, other.group))
    }

    /// Returns the state with the content hash of an earlier state, if it has none and the content is still the same.
    func knowing(_ earlier: ItemState?) -> ItemState {
        guard contentHash == nil, let earlier,
            (type, inode, size, modified) == (earlier.type, earlier.inode, earlier.size, earlier.modified)
        else { return self }
        var state = self
        state.contentHash = earlier.contentHash
        return state
    }

    /// The size of an encoded state, in bytes.
    static let size = 56

    func encode(into writer: inout ByteWriter) {
        writer.write(type.rawValue)
        writer.write(UInt8(contentHash == nil ? 0 : 1))
        writer.write(view)
        for number in [mode, owner, group] { writer.write(number) }
        for number in [inode, size, UInt64(bitPattern: modified), UInt64(bitPattern: changed), contentHash ?? 0] {
            writer.write(number)
        }
    }

    init?(from reader: inout ByteReader) throws(ByteReader.TooShort) {
        let type: UInt8 = try reader.number()
        let hashed: UInt8 = try reader.number()
        view = try reader.number()
        mode = try reader.number()
        owner = try reader.number()
        group = try reader.number()
        inode = try reader.number()
        size = try reader.number()
        modified = try reader.number()
        changed = try reader.number()
        let hash: UInt64 = try reader.number()
        contentHash = hashed & 1 == 1 ? hash : nil
        guard let known = ItemType(rawValue: type) else { return nil }
        self.type = known
    }

    init(
        type: ItemType, inode: UInt64, size: UInt64, modified: Int64, changed: Int64, mode: UInt32, owner: UInt32,
        group: UInt32, contentHash: UInt64?, view: UInt16 = 0
    ) {
        self.type = type
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.mode = mode
        self.owner = owner
        self.group = group
        self.contentHash = contentHash
        self.view = view
    }
}
