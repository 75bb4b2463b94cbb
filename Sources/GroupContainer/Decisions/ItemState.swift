/// What kind of thing stands at a path.
public enum ItemType: UInt8, Sendable, CaseIterable {
    case file = 1
    case directory = 2
    case link = 3
    /// A socket, a FIFO, a device.
    case other = 4
}

/// What a record says of an item as it stood right after a change: enough to tell later whether anybody changed it
/// since. Times are nanoseconds since 1970 and compared for equality only, never for order.
struct ItemState: Equatable, Sendable {
    var type: ItemType
    var inode: UInt64
    var size: UInt64
    var modified: Int64
    var changed: Int64
    var mode: UInt32
    var owner: UInt32
    var group: UInt32
    /// Through which mapping owner and group were seen: 0 for the machine's own, else a user namespace's.
    var view: UInt16 = 0
    /// Of the content, keyed by the container; nil where nobody read it.
    var contentHash: UInt64?

    /// Files up to this size are read to tell a change of content from a change of dates.
    static let largestHashed: UInt64 = 1 << 20

    /// The same as far as `statx` can tell. A directory's size and dates change with its entries, which have records
    /// of their own.
    func looksLike(_ other: ItemState) -> Bool {
        if (type, inode, mode) != (other.type, other.inode, other.mode) { return false }
        // Seen through two mappings the same owner has two numbers.
        if view == other.view && (owner, group) != (other.owner, other.group) { return false }
        return type == .directory || (size, modified, changed) == (other.size, other.modified, other.changed)
    }

    /// With the content's hash of an earlier state, where none was taken and the content is still that.
    func knowing(_ earlier: ItemState?) -> ItemState {
        guard contentHash == nil, let earlier,
            (type, inode, size, modified) == (earlier.type, earlier.inode, earlier.size, earlier.modified)
        else { return self }
        var state = self
        state.contentHash = earlier.contentHash
        return state
    }

    /// In bytes, in a file.
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
        (self.type, self.inode, self.size, self.modified, self.changed) = (type, inode, size, modified, changed)
        (self.mode, self.owner, self.group, self.contentHash) = (mode, owner, group, contentHash)
        self.view = view
    }
}
