import Foundation
import GroupContainer
import GroupSystemCalls

/// An item of a container that a file URL names.
struct LocatedItem: Sendable {
    let container: Container
    /// The URL of the container's directory, as the item's URL has it.
    let root: URL
    let path: ItemPath

    /// Finds the container around an item: the innermost directory above it that has a `.group` directory. Errors:
    /// those of `Container.init`; `outsideContainer`, `invalidArgument`
    init(_ url: URL, for operation: String) throws(CoordinationError) {
        guard url.isFileURL else {
            throw CoordinationError(
                .invalidArgument, operation: operation, item: url.absoluteString, reason: "that is no URL of a file")
        }
        let named = url.standardizedFileURL
        // The item itself need not exist, and may be a symbolic link.
        let resolved = named.deletingLastPathComponent().resolvingSymlinksInPath()
            .appendingPathComponent(named.lastPathComponent)
        if FileManager.default.fileExists(atPath: named.appendingPathComponent(".group").path) {
            throw CoordinationError(
                .outsideContainer, operation: operation, item: url.path,
                reason: "that is a container, and not an item of one",
                remedy: .init(.checkPath, "name the items in it"))
        }
        guard let root = Self.root(around: named) ?? Self.root(around: resolved) else {
            throw CoordinationError(
                .outsideContainer, operation: operation, item: url.path, reason: "no container contains it",
                remedy: .init(
                    .createContainer,
                    "create a container in a directory above it, with `Container(path:creating:)` or `groupctl create`")
            )
        }
        container = try OpenContainers.container(at: root.directory.path)
        self.root = root.directory
        path = ItemPath(root.rest)
    }

    init(_ path: ItemPath, beside other: LocatedItem) {
        container = other.container
        root = other.root
        self.path = path
    }

    private static func root(around item: URL) -> (directory: URL, rest: String)? {
        var directory = item
        var names: [String] = []
        while directory.path != "/" && !directory.path.isEmpty {
            names.insert(directory.lastPathComponent, at: 0)
            directory.deleteLastPathComponent()
            var isDirectory: ObjCBool = false
            let mark = directory.appendingPathComponent(".group").path
            if unsafe FileManager.default.fileExists(atPath: mark, isDirectory: &isDirectory), isDirectory.boolValue {
                return (directory, names.joined(separator: "/"))
            }
        }
        return nil
    }

    /// Returns the URL of an item of this container.
    func url(of path: ItemPath, isDirectory: Bool = false) -> URL {
        root.appendingPathComponent(String(decoding: path.bytes, as: UTF8.self), isDirectory: isDirectory)
    }
}

/// The containers that this process has opened by URLs of their items. They stay open: an app coordinates again and
/// again.
enum OpenContainers {
    private struct Known: Sendable {
        var container: Container
        /// The directory's own number, by which another container at the same path is noticed.
        var inode: UInt64?
    }
    private static let known = Guarded([String: Known]())

    /// Returns the container at a path. Errors: those of `Container.init`
    static func container(at path: String) throws(CoordinationError) -> Container {
        let inode = inode(of: path)
        if let one = known.withLock({ $0[path] }), one.inode == inode { return one.container }
        let opened = try Container(path: path)
        known.withLock { $0[path] = Known(container: opened, inode: inode) }
        return opened
    }

    /// Makes a container that is open the one of its path.
    static func add(_ container: Container) {
        let path = "\(container.path)"
        known.withLock { $0[path] = Known(container: container, inode: inode(of: path)) }
    }

    /// The inode of the container's mark: a container that is made anew in the same directory has another one.
    private static func inode(of path: String) -> UInt64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/.group")
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value
    }
}
