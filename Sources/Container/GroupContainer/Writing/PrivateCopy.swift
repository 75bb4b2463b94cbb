import GroupLocking
import GroupBytes
import GroupSystemCalls

/// A private copy of an item in staging, made under the lock for a closure that takes long to read it. If its process
/// dies, repair deletes the copy like everything else of that process in staging.
struct PrivateCopy: Sendable {
    let path: ItemPath
    private let name: [UInt8]

    /// Makes the copy; none where there is no item. Errors: `wrongType` for anything but a file or directory.
    init(of path: ItemPath, at location: ItemLocation, by container: OpenContainer) throws(CoordinationError) {
        self.path = path
        let name = StagingName.of(container.memberTable.makeOperation())
        self.name = name
        let label = path.description
        let status = try translating("read", item: label) { () throws(Errno) in try container.status(of: location) }
        guard let status else { return }
        if !status.isRegularFile && !status.isDirectory {
            throw CoordinationError(
                .wrongType, operation: "read", item: label, reason: "the item is not a file or directory")
        }
        do throws(CoordinationError) {
            if status.isDirectory {
                try Self.copyDirectory(name, of: location, by: container)
            } else {
                try translating("read", item: label) { () throws(Errno) in
                    _ = try FileCopy.make(name, of: .item(location), in: container.directory, isDurable: false)
                }
            }
        } catch {
            remove(by: container)
            throw error
        }
    }

    private static func copyDirectory(
        _ name: [UInt8], of location: ItemLocation, by container: OpenContainer
    ) throws(CoordinationError) {
        var tree: TreeCopy
        do throws(TreeCopy.Fault) {
            tree = try TreeCopy(of: TreeCopy.open(location, in: container))
        } catch {
            throw CoordinationError(error.reason, operation: "read", item: printable(location.bytes))
        }
        try tree.refuseContainers(in: location, "read")
        do throws(TreeCopy.Fault) {
            _ = try tree.make(name, of: location, in: container, isDurable: false)
        } catch {
            throw CoordinationError(error.reason, operation: "read", item: printable(location.bytes))
        }
    }

    /// Returns the path in staging of an item of the copy; nil for an item that is not part of it.
    func path(of other: ItemPath) -> [UInt8]? {
        if other == path { return name }
        let below = path.bytes + [UInt8(ascii: "/")]
        // The kernel would refuse a malformed rest; no path leads out of staging.
        guard other.bytes.starts(with: below), (try? ItemLocation(other.bytes)) != nil else { return nil }
        return name + other.bytes[path.bytes.count...]
    }

    func remove(by container: OpenContainer) { try? container.directory.staging.removeTree(name) }
}
