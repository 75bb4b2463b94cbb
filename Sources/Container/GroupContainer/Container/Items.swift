public import FoundationEssentials
import GroupBytes
package import GroupSystemCalls

/// An item of a container: a file, a directory, a symbolic link, or another type.
public struct Item: Hashable, Sendable {
    /// The item's path.
    public var path: ItemPath
    /// The item's type.
    public var type: ItemType
    /// The size in bytes.
    public var size: UInt64
    /// The time of the last modification; 1970 for an item that cannot be looked at.
    public var modifiedAt: Date {
        guard let modified else { return Date(nanoseconds: 0) }
        return Date(timeIntervalSince1970: Double(modified.seconds) + Double(modified.nanoseconds) / 1e9)
    }
    /// That time with the nanoseconds, which a `Date` has only to about 120 ns; nil for an item that cannot be looked
    /// at.
    package var modified: FileTime?

    /// Makes the item of a status; nil for one that cannot be looked at.
    init(path: ItemPath, _ status: FileStatus?) {
        let state = status.map { ItemState($0, contentHash: nil) } ?? .unknown
        self.path = path
        type = state.type
        size = state.size
        modified = status?.modifiedTime
    }
}

extension Container {
    /// Returns an item; nil if there is none. Takes no lock: the item may be another one when the answer is read.
    /// Errors: `outsideContainer`, `invalidArgument`. System calls: openat2, statx
    package func item(at path: ItemPath) throws(CoordinationError) -> Item? {
        try opened.locating { () throws(CoordinationError) -> Item? in
            let location = try path.location(for: "look at")
            return try opened.status(of: location, for: "look at").map { Item(path: path, $0) }
        }
    }

    /// Returns the items in a directory of the container, sorted by the bytes of their paths. At the top, `.group` is
    /// not among them; a directory that is another container is one item, and an item that cannot be looked at, such as
    /// the path of a mount whose server is gone, is of type `other`. A listing takes no lock: it may be out of date
    /// when it is read. Errors: `notFound`, `wrongType`, `outsideContainer`, `invalidArgument`. System calls: openat2,
    /// getdents, statx
    public func items(in directory: ItemPath? = nil) throws(CoordinationError) -> [Item] {
        try opened.locating { () throws(CoordinationError) -> [Item] in
            let location = try directory?.location(for: "list")
            if let location {
                try opened.checkIsNoLink(location, "list")
                try opened.checkIsOurs(location, "list")
                if opened.isContainer(location.bytes[...]) { throw opened.isAnother(location, "list") }
            }
            return try translating("list", item: directory?.description ?? path.description) { () throws(Errno) in
                let open = try opened.openDirectory(location)
                var items: [Item] = []
                for name in try open.entryNames() where !ContainerMark.isOne(name) {
                    let status: FileStatus?
                    do throws(Errno) {
                        // The entry may be gone by now.
                        guard let found = try open.statusIfPresent(of: name) else { continue }
                        status = found
                    } catch {
                        // Without permission for the directory, each of its entries would fail.
                        if error == .accessDenied { throw error }
                        status = nil
                    }
                    if DatabaseFiles.mayBeCompanion(name), let location = ItemLocation.entry(name, of: location),
                        opened.database(of: location) != nil
                    {
                        continue
                    }
                    let path = location.map { $0.bytes + [UInt8(ascii: "/")] + name } ?? name
                    items.append(Item(path: ItemPath(bytes: path), status))
                }
                return items.sorted { $0.path < $1.path }
            }
        }
    }

    /// Returns the identifiers of this user's containers, sorted. Errors: `notPermitted`.
    public static func groupIdentifiers() throws(CoordinationError) -> [String] { try ContainerLocation.identifiers() }
}
