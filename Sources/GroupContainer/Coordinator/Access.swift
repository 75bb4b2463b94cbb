import SystemCalls

/// Granted access to the items of a request, for the time of its closure. Every call blocks while the disk works.
public final class Access {
    /// Nil once its closure has ended: whoever kept the object has nothing.
    private var granted: Lease?
    private let member: Member
    private let locations: [ItemPath: ItemLocation]
    private let purpose: String
    private let durability: Durability
    /// The end of the last record that must be on the disk before the request returns.
    private(set) var durableThrough: LogPosition?
    private(set) var hasChanged = false

    init(_ lease: Lease, _ resolution: AccessRequest.Resolution, purpose: String, _ durability: Durability) {
        (granted, member, self.purpose, self.durability) = (lease, lease.member, purpose, durability)
        locations = resolution.locations
    }

    /// Gives the lease back.
    func end() { granted = nil }

    private func location(_ path: ItemPath, for mode: LeaseMode, _ operation: String) throws(CoordinationError)
        -> ItemLocation
    {
        let asked = try path.location(for: operation)
        let location = locations[path] ?? asked
        guard let granted, granted.covers(location, for: mode) else {
            throw CoordinationError(
                .invalidArgument, item: path.description, operation: operation,
                cause: granted == nil ? "its access has ended" : "the request did not ask for it in this mode",
                advice: "name it in coordinate(_:), and use the access within its closure")
        }
        return location
    }

    /// An item's content. Errors: `notFound`, `wrongType`, `inputOutput`. System calls: openat2, read
    public func readBytes(_ path: ItemPath) throws(CoordinationError) -> [UInt8] {
        try member.readFile(location(path, for: .reading, "read")).content
    }

    /// The same, or nil where nothing stands.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        do {
            return try readBytes(path)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    /// Replaces an item's content atomically; folders on the way are made. It is durable, if the request is, when
    /// `coordinate` returns.
    ///
    /// Of the file that it replaces are kept: mode, owner, group, extended attributes and access control list. What the
    /// system does not permit this user is left out: giving a file to another owner, a group that is not one's own,
    /// `trusted.*` and `security.*`, and the `user.*` of a file that it may not read. Without the owner setuid goes,
    /// without the group setgid, and the group that it has instead may do what others may. Signatures of the old content
    /// (`security.ima`, `security.evm`), flags of chattr(1) and dates are not kept. Another hard link keeps the old file.
    ///
    /// A new file or folder gets what it would get if it were made in its folder: a default access control list, or else
    /// what the umask leaves (where a Unix group shares the container: 0660, 2770), and in a setgid folder the group. A
    /// `mode` is the file's, whatever was there.
    ///
    /// Errors: `wrongType`, `noSpace`, `notPermitted`, `inputOutput`: nothing was changed; `notDurable`: it is visible.
    public func write(bytes content: [UInt8], to path: ItemPath, mode: UInt32? = nil) throws(CoordinationError)
        -> WriteOutcome
    {
        let location = try location(path, for: .writing, "write")
        let label = path.description
        var keepsContent = false
        let old = try translating(label, "write") { () throws(Errno) in try member.status(of: location) }
        if let old {
            guard old.isRegularFile else {
                throw CoordinationError(
                    .wrongType, item: label, operation: "write",
                    cause: old.isFolder ? "it is a folder" : "it is not a regular file")
            }
            if old.size == UInt64(content.count) {
                keepsContent = try member.isReadable(location, as: content)
            }
            if keepsContent && (mode == nil || mode == old.permissions) {
                if durability == .durable { try confirm(location) }
                return .unchanged
            }
        }
        try makeMissingFolders(of: location)
        let position = try change { (change) throws(CoordinationError) in
            try change.write(
                content, to: location, replacing: old, mode: mode,
                as: old == nil ? .created : keepsContent ? .touched : .modified)
        }
        return .written(position.sequence)
    }

    /// The same content may have come by a relaxed write, or by one whose writer died: what is acknowledged as durable
    /// is on the disk.
    private func confirm(_ location: ItemLocation) throws(CoordinationError) {
        try translating(printable(location.bytes), "write") { () throws(Errno) in
            try FileDescriptor.open(
                location.bytes, in: member.folder.root, [.reading, .notFollowing, .nonBlocking]
            ).synchronize()
            try member.openFolder(location.parent).synchronize()
        }
        durableThrough = try member.journal.log.end()
    }

    private func makeMissingFolders(of location: ItemLocation) throws(CoordinationError) {
        for folder in location.ancestors {
            let status = try translating(printable(folder.bytes), "make folder") { () throws(Errno) in
                try member.status(of: folder)
            }
            if status != nil { continue }
            guard let granted, granted.covers(folder, for: .writing) else {
                throw CoordinationError(
                    .conflict, item: printable(location.bytes), operation: "write",
                    cause: "its folder '\(printable(folder.bytes))' was removed meanwhile", advice: "try again")
            }
            _ = try change { (change) throws(CoordinationError) in try change.makeFolder(at: folder) }
        }
    }

    private func change(
        _ make: (StagedChange) throws(CoordinationError) -> LogPosition
    ) throws(CoordinationError) -> LogPosition {
        hasChanged = true
        let position = try make(StagedChange(by: member, purpose: purpose, durability))
        if durability == .durable { durableThrough = position }
        return position
    }
}
