import GroupSystemCalls

/// A file of the user's own, outside of any container.
enum UserFile {
    /// Replaces a file as a whole or not at all, for every reader; if synchronized, after a power cut as well. Creates
    /// missing directories.
    static func replace(
        _ name: String, in directory: String, by content: [UInt8], isSynchronized: Bool
    ) throws(Errno) {
        var draft = try Draft(Array(name.utf8), in: makeDirectories(directory))
        try draft.file.writeAll(content)
        if isSynchronized { try draft.file.synchronizeData() }
        try draft.publish(as: Array(name.utf8))
    }

    private static func makeDirectories(_ path: String) throws(Errno) -> FileDescriptor {
        // An existing directory takes one call.
        if let here = try? FileDescriptor.open(path: Array(path.utf8), [.reading, .directory]) { return here }
        var made = ""
        for part in path.split(separator: "/") {
            let parent = try FileDescriptor.open(
                path: Array((made.isEmpty ? "/" : made).utf8), [.pathOnly, .directory])
            made += "/\(part)"
            if try parent.statusIfPresent(of: Array(part.utf8)) == nil {
                do throws(Errno) {
                    try parent.createDirectory(Array(part.utf8), mode: 0o700)
                } catch {
                    if error != .exists { throw error }
                }
            }
        }
        return try FileDescriptor.open(path: Array(path.utf8), [.reading, .directory])
    }
}

/// The widgets that are shown, their order, and which of them are expanded. Kinds that are not installed keep their
/// place.
package struct ShownList: Hashable, Sendable {
    /// The user's choice; nil: all installed widgets, sorted by kind.
    package private(set) var chosen: [String]?
    package private(set) var expanded: Set<String>

    package init(_ chosen: [String]? = nil, expanded: Set<String> = []) {
        var seen: Set<String> = []
        self.chosen = chosen?.filter { seen.insert($0).inserted }
        self.expanded = expanded
    }

    /// Returns the kinds that are shown, of those installed.
    package func kinds(among installed: some Collection<String>) -> [String] {
        chosen.map { $0.filter(installed.contains) } ?? installed.sorted()
    }

    /// Adds a kind at the end. Returns false if it is on the list already.
    package mutating func add(_ kind: String, among installed: some Collection<String>) -> Bool {
        let present = chosen ?? installed.sorted()
        if present.contains(kind) { return false }
        chosen = present + [kind]
        return true
    }

    /// Removes a kind. Returns false if it is not on the list.
    package mutating func remove(_ kind: String, among installed: some Collection<String>) -> Bool {
        let present = chosen ?? installed.sorted()
        if !present.contains(kind) { return false }
        chosen = present.filter { $0 != kind }
        expanded.remove(kind)
        return true
    }

    /// Moves kinds to the front, in this order; the others keep theirs. Kinds that are not on the list are ignored.
    package mutating func order(_ first: [String], among installed: some Collection<String>) {
        let present = chosen ?? installed.sorted()
        self = ShownList(first.filter(present.contains) + present.filter { !first.contains($0) }, expanded: expanded)
    }

    /// Expands or collapses a kind. Returns false if nothing changes.
    package mutating func setExpanded(_ isExpanded: Bool, _ kind: String) -> Bool {
        isExpanded ? expanded.insert(kind).inserted : expanded.remove(kind) != nil
    }
}
