public import FoundationEssentials
import GroupBytes
import GroupSystemCalls

/// An item of a container: a file, a directory, a symbolic link, or another type.
public struct Item: Hashable, Sendable {
    /// The item's path.
    public var path: ItemPath
    /// The item's type.
    public var type: ItemType
    /// The size in bytes.
    public var size: UInt64
    /// The time of the last modification.
    public var modified: Date { Date(nanoseconds: modifiedNanoseconds) }
    /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
    package var modifiedNanoseconds: Int64

    init(path: ItemPath, _ state: ItemState) {
        (self.path, type, size, modifiedNanoseconds) = (path, state.type, state.size, state.modified)
    }
}

extension Container {
    /// Returns the items in a directory of the container, sorted by the bytes of their paths. At the top, `.group` is
    /// not among them; a directory that is another container is one item. A listing takes no lock: it may be out of
    /// date when it is read. Errors: `notFound`, `wrongType`, `outsideContainer`, `invalidArgument`. System calls:
    /// openat2, getdents, statx
    public func items(in directory: ItemPath? = nil) throws(CoordinationError) -> [Item] {
        try opened.locating { () throws(CoordinationError) -> [Item] in
            let location = try directory?.location(for: "list")
            if let location {
                try opened.checkIsNoLink(location, "list")
                try opened.checkIsOurs(location, "list")
                if opened.isContainer(location.bytes[...]) { throw .hasContainer(location.bytes, location, "list") }
            }
            return try translating("list", item: directory?.description ?? path.description) { () throws(Errno) in
                let open = try opened.openDirectory(location)
                var items: [Item] = []
                for name in try open.entryNames() where !ContainerMark.isOne(name) {
                    // The entry may be gone by now.
                    guard let status = try open.statusIfPresent(of: name) else { continue }
                    let state = ItemState(status, contentHash: nil)
                    let path = location.map { $0.bytes + [UInt8(ascii: "/")] + name } ?? name
                    items.append(Item(path: ItemPath(bytes: path), state))
                }
                return items.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
            }
        }
    }

    /// Returns the identifiers of this user's containers, sorted. Errors: `notPermitted`.
    public static func identifiers() throws(CoordinationError) -> [String] {
        let home = try ContainerLocation.home()
        return try translating("list", item: home) { () throws(Errno) in
            do throws(Errno) {
                let directory = try FileDescriptor.open(path: Array(home.utf8), [.reading, .directory])
                var found: [String] = []
                for name in try directory.entryNames() {
                    let format = name + Array("/.group/format".utf8)
                    if (try? FileDescriptor.open(format, in: directory, .placeOnly)) != nil {
                        found.append(printable(name))
                    }
                }
                return found.sorted()
            } catch {
                if error == .noSuchEntry { return [] }
                throw error
            }
        }
    }
}

/// The type of an item.
public enum ItemType: UInt8, Sendable, CaseIterable {
    case file = 1
    case directory = 2
    case link = 3
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

    /// Returns whether two states are the same as far as `statx` can show. The size and dates of a directory change
    /// with its entries, which have records of their own.
    func looksLike(_ other: ItemState) -> Bool {
        if (type, inode, mode) != (other.type, other.inode, other.mode) { return false }
        // Through two mappings, the same owner has two numbers.
        if view == other.view && (owner, group) != (other.owner, other.group) { return false }
        return type == .directory || (size, modified, changed) == (other.size, other.modified, other.changed)
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
        (self.type, self.inode, self.size, self.modified, self.changed) = (type, inode, size, modified, changed)
        (self.mode, self.owner, self.group, self.contentHash) = (mode, owner, group, contentHash)
        self.view = view
    }
}
