import GroupSystemCalls

/// What is looked at before a container is made.
extension GroupDirectory {
    /// Nobody makes a container in a container's own directory, whatever way leads there. Errors: `outsideContainer`.
    /// System calls: openat2, readlink
    static func checkIsOutsideOfGroup(_ path: [UInt8]) throws(CoordinationError) {
        if !isReserved(path) && !isReserved(realPlace(of: path)) { return }
        throw CoordinationError(
            .outsideContainer, item: printable(path), operation: "create",
            cause: "'.group' is a container's own directory", advice: "choose a place outside of it")
    }

    private static func isReserved(_ path: [UInt8]) -> Bool {
        path.split(separator: UInt8(ascii: "/")).contains { ContainerMark.isOne($0) }
    }

    /// Where the last directory on the way that is there really is; nothing where there is none.
    private static func realPlace(of path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        var existing = path[...]
        while true {
            let place = existing.isEmpty ? [path.first == slash ? slash : UInt8(ascii: ".")] : Array(existing)
            if let open = try? FileDescriptor.open(path: place, [.placeOnly, .directory]) {
                return (try? open.absolutePath()) ?? []
            }
            if existing.isEmpty { return [] }
            existing = existing[..<(existing.lastIndex(of: slash) ?? existing.startIndex)]
        }
    }

    /// What stands there is no container's rest. Errors: `conflict`. System calls: statx
    static func checkIsNoRest(_ root: borrowing FileDescriptor, _ label: String) throws(CoordinationError) {
        guard hasRest(root) else { return }
        throw CoordinationError(
            .conflict, item: label, operation: "create", cause: "a deletion of it was interrupted",
            advice: "'\(deletion(of: label))' finishes it")
    }

    /// A container stood there, and its deletion has not come to its end.
    static func hasRest(_ root: borrowing FileDescriptor) -> Bool {
        do throws(Errno) {
            if try root.statusIfPresent(of: ContainerMark.standing) != nil { return false }
            return try root.statusIfPresent(of: ContainerMark.deleted) != nil
        } catch {
            return false
        }
    }

    static func deletion(of label: String) -> String { "groupctl delete-group --yes \(label)" }

    /// Of a container that was there before. Errors: `conflict` where it is not shared with that Unix group.
    func checkIsShared(with group: UInt32, _ label: String) throws(CoordinationError) {
        let status = try translating(label, "create") { () throws(Errno) in try self.group.status() }
        if isShared && status.group == group { return }
        let present = groupName(ofNumber: status.group) ?? "\(status.group)"
        throw CoordinationError(
            .conflict, item: label, operation: "create",
            cause: "it exists already, " + (isShared ? "shared with the Unix group \(present)" : "for its user alone"),
            advice: "open it without a Unix group, or make another one and move what is in it there")
    }

    /// Only its user may enter it, or a Unix group: the one that is named, or that a directory that was there is shared
    /// with by its mode. Errors: `notPermitted` for what others could enter and this user may not close.
    static func makePrivate(
        _ root: borrowing FileDescriptor, unixGroup: UInt32?, _ label: String
    ) throws(CoordinationError) {
        do throws(Errno) {
            if let unixGroup {
                try root.setOwner(.max, group: unixGroup)
                return try root.setMode(0o2770)
            }
            let mode = try root.status().permissions
            if mode & 0o2020 != 0o2020 && mode & 0o077 != 0 { try root.setMode(0o700) }
        } catch {
            if error != .notPermitted { throw CoordinationError(error, item: label, operation: "create") }
            throw CoordinationError(
                .notPermitted, item: label, operation: "create",
                cause: unixGroup == nil
                    ? "the directory belongs to another user, and others may enter it"
                    : "the directory belongs to another user, or this one is not in the Unix group",
                advice: "make the container in a directory of your own")
        }
    }
}
