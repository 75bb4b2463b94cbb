import GroupSystemCalls

/// The attributes that a staged item gets before it moves to its place, because it was not created there: those of the
/// file that it replaces, or those that the kernel would give to a new item in its directory.
struct FileAttributes {
    /// The mode for creating the item in staging: not wider than the final mode.
    private(set) var creationMode: UInt32
    private var owner: UInt32 = .max
    private var group: UInt32 = .max
    private var accessList: AccessControlList?
    /// The default list that a directory's later contents get.
    private var defaultList: AccessControlList?
    private var others: [(name: [UInt8], value: [UInt8])] = []
    /// Nil leaves the mode to the umask.
    private var permissions: UInt32?
    /// Whether a directory passes its group on to its later contents.
    private var handsGroupOn = false
    /// The mode that the caller requested; takes precedence.
    private var explicitMode: UInt32?

    private static let accessListName = Array("system.posix_acl_access".utf8)
    private static let defaultListName = Array("system.posix_acl_default".utf8)
    /// Extended attributes that sign the old content.
    private static let signatures = ["security.ima", "security.evm"].map { Array($0.utf8) }

    /// Collects the attributes of a file: those of the file that it replaces; for a new file, those that it would have
    /// if it were created in its directory: the directory's default list in place of the umask, and its group if the
    /// directory is setgid. In a container that a Unix group shares, the group may write the file whatever the umask.
    init(
        ofFileAt location: ItemLocation, replacing old: FileStatus?, in container: OpenContainer, mode: UInt32?
    ) throws(Errno) {
        if let old, let kept = try Self(keptAt: location, old, in: container, mode: mode) {
            self = kept
        } else {
            try self.init(ofNewFileIn: container.directory(at: location.parent).descriptor, of: container, mode: mode)
        }
    }

    /// Collects the attributes of a new file from the directory that it will be in.
    init(ofNewFileIn parent: borrowing FileDescriptor, of container: OpenContainer, mode: UInt32?) throws(Errno) {
        let shared: UInt32? = container.directory.isShared ? 0o660 : nil
        try self.init(madeIn: parent, mode: 0o666, shared: shared, explicit: mode)
    }

    /// Collects the attributes of a new directory in the same way; it also gets the default list, and is setgid in a
    /// setgid directory.
    init(ofNewDirectoryAt location: ItemLocation, in container: OpenContainer) throws(Errno) {
        try self.init(ofNewDirectoryIn: container.directory(at: location.parent).descriptor, of: container)
    }

    init(ofNewDirectoryIn parent: borrowing FileDescriptor, of container: OpenContainer) throws(Errno) {
        let shared: UInt32? = container.directory.isShared ? 0o2770 : nil
        try self.init(madeIn: parent, mode: 0o777, shared: shared, explicit: nil)
        defaultList = try Self.list(Self.defaultListName, of: parent)
        handsGroupOn = group != .max
    }

    /// Collects the attributes of the file to be replaced; nil where there is no file any more because of an external
    /// change. The file need not be readable: attributes that only its readers may read (`user.*`) are left out then.
    /// System calls: llistxattr; with extended attributes, and for an item in another directory: openat2(O_PATH),
    /// statx, listxattr, getxattr
    private init?(
        keptAt location: ItemLocation, _ old: FileStatus, in container: OpenContainer, mode: UInt32?
    ) throws(Errno) {
        if location.parent == nil {
            do throws(Errno) {
                if try container.directory.root.attributeNames(ofEntry: location.name).isEmpty {
                    self.init(kept: old, mode: mode)
                    makeWithFinalMode(in: container)
                    return
                }
            } catch {
                if error == .noSuchEntry { return nil }
                throw error
            }
        }
        guard let file = try Self.openForAttributes(location, in: container) else { return nil }
        let status = try file.status()
        guard status.isRegularFile else { return nil }
        try self.init(keptOf: file, status, mode: mode)
        makeWithFinalMode(in: container)
    }

    /// Has a file made with its final mode, which saves a call. Only in a staging directory that no other user can
    /// enter: the file may belong to another user or group until it has its attributes.
    private mutating func makeWithFinalMode(in container: OpenContainer) {
        guard let permissions, permissions & 0o7000 == 0, explicitMode == nil else { return }
        if !container.directory.isShared && accessList == nil && others.isEmpty { creationMode = permissions }
    }

    /// Collects the attributes of a file or directory, for a copy of it. System calls: statx, listxattr, getxattr
    init(keptOf item: borrowing FileDescriptor) throws(Errno) {
        try self.init(keptOf: item, item.status(), mode: nil)
    }

    private init(kept status: FileStatus, mode: UInt32?) {
        owner = status.owner
        group = status.group
        permissions = status.permissions
        creationMode = status.isDirectory ? 0o700 : 0o600
        explicitMode = mode
    }

    private init(keptOf item: borrowing FileDescriptor, _ status: FileStatus, mode: UInt32?) throws(Errno) {
        self.init(kept: status, mode: mode)
        for name in try item.attributeNames() where !Self.signatures.contains(name) {
            if name == Self.accessListName {
                accessList = try Self.list(name, of: item)
            } else if name == Self.defaultListName {
                defaultList = try Self.list(name, of: item)
            } else {
                try Self.unlessRefused { () throws(Errno) in
                    if let value = try item.attribute(name) { others.append((name, value)) }
                }
            }
        }
    }

    private static func openForAttributes(_ location: ItemLocation, in container: OpenContainer) throws(Errno)
        -> FileDescriptor?
    {
        do throws(Errno) {
            return try FileDescriptor.open(location.bytes, in: container.directory.root, [.pathOnly, .notFollowing])
        } catch {
            if error == .noSuchEntry { return nil }
            throw error
        }
    }

    /// Collects the attributes of a new item in a directory. System calls: getxattr, statx
    private init(
        madeIn parent: borrowing FileDescriptor, mode: UInt32, shared: UInt32?, explicit: UInt32?
    ) throws(Errno) {
        let status = try parent.status()
        if status.permissions & 0o2000 != 0 { group = status.group }
        accessList = try Self.list(Self.defaultListName, of: parent)?.limited(to: mode)
        permissions = accessList?.permissions ?? shared
        // The owner's digits only, until all attributes are set; the umask decides only where nothing else does.
        creationMode = permissions == nil && explicit == nil ? mode : mode & 0o700
        explicitMode = explicit
    }

    /// Returns these attributes with the umask applied, for a file that was created before its attributes were known.
    /// The umask cannot be queried, so its effect is read from a sample file. System calls: openat2, those of `apply`,
    /// unlinkat
    func withUmaskApplied(trying name: [UInt8], in staging: borrowing FileDescriptor) throws(Errno) -> FileAttributes {
        if permissions != nil || explicitMode != nil { return self }
        let sample = try FileDescriptor.open(
            name, in: staging, .newFile, mode: creationMode)
        defer { try? staging.unlink(name) }
        try apply(to: sample)
        var resolved = self
        resolved.explicitMode = try sample.status().permissions
        return resolved
    }

    /// Sets the attributes and returns the item's earlier status. Owner and group come first, because changing them
    /// clears setuid, setgid and capabilities; the mode comes last, because a list changes it. Attributes that the
    /// system does not permit this user to set are left out, without widening any permission: a group that is not the
    /// intended one gets the permissions of others. Errors: ENOSPC, EDQUOT, EIO and the like. System calls: statx,
    /// fchown, fsetxattr, getxattr, fremovexattr, fchmod
    @discardableResult
    func apply(to item: borrowing FileDescriptor) throws(Errno) -> FileStatus {
        let made = try item.status()
        let (hasOwner, hasGroup) = try giveOwner(to: item, whichIs: made)
        var hasChanged = !hasOwner || !hasGroup || !isOwned(made) || !others.isEmpty
        for (name, value) in others {
            try Self.unlessRefused { () throws(Errno) in try item.setAttribute(name, to: value) }
        }

        var mode = permissions
        if let meant = accessList {
            let list = hasGroup ? meant : meant.withholdingFromOwningGroup()
            let isSet = try Self.unlessRefused { () throws(Errno) in
                try item.setAttribute(Self.accessListName, to: list.encoded())
            }
            if !isSet { mode = mode.map { $0 & ~0o777 | list.permissionsWithoutList } }
        } else {
            // The dropped list replaced the umask, which cannot be queried.
            if try Self.drop(Self.accessListName, of: item) {
                hasChanged = true
                mode = mode ?? made.permissions & ~0o077
            }
            if !hasGroup { mode = mode.map { $0 & ~0o070 | ($0 & 0o007) << 3 } }
        }
        if let defaultList {
            try Self.unlessRefused { () throws(Errno) in
                try item.setAttribute(Self.defaultListName, to: defaultList.encoded())
            }
        } else if made.isDirectory {
            try Self.drop(Self.defaultListName, of: item)
        }

        if !hasOwner { mode = mode.map { $0 & ~0o4000 } }
        if !hasGroup { mode = mode.map { $0 & ~0o2000 } }
        if handsGroupOn && hasGroup { mode = (mode ?? made.permissions) | 0o2000 }
        // Owner, group and list may have changed the mode that the item was made with.
        let isAsMade = !hasChanged && accessList == nil && defaultList == nil
        if let mode = explicitMode ?? mode, !isAsMade || mode != made.permissions { try item.setMode(mode) }
        return made
    }

    /// Sets owner and group, and returns which of the two are as intended. Only root may give files away; a group that
    /// the user is not in cannot be set either.
    private func giveOwner(
        to item: borrowing FileDescriptor, whichIs made: FileStatus
    ) throws(Errno) -> (owner: Bool, group: Bool) {
        let isOwner = owner == .max || owner == made.owner
        let isGroup = group == .max || group == made.group
        if isOwned(made) { return (true, true) }
        if try Self.unlessRefused({ () throws(Errno) in try item.setOwner(owner, group: group) }) {
            return (true, true)
        }
        if isOwner || isGroup { return (isOwner, isGroup) }
        return (false, try Self.unlessRefused { () throws(Errno) in try item.setOwner(.max, group: group) })
    }

    /// Whether an item has the intended owner and group already.
    private func isOwned(_ item: FileStatus) -> Bool {
        (owner == .max || owner == item.owner) && (group == .max || group == item.group)
    }

    /// Removes the list that an item got from staging's own default list. Returns whether there was one.
    @discardableResult
    private static func drop(_ name: [UInt8], of item: borrowing FileDescriptor) throws(Errno) -> Bool {
        if try item.attribute(name) == nil { return false }
        try item.removeAttribute(name)
        return true
    }

    private static func list(_ name: [UInt8], of item: borrowing FileDescriptor) throws(Errno) -> AccessControlList? {
        guard let bytes = try item.attribute(name) else { return nil }
        // A form that no present kernel uses: its permissions cannot be known.
        guard let list = AccessControlList(decoding: bytes) else { throw .invalid }
        return list
    }

    /// Returns whether `body` succeeded. It is no error if this user, its user namespace (EINVAL: a user that is
    /// unknown there) or this file system does not permit or support what the original had.
    @discardableResult
    private static func unlessRefused(_ body: () throws(Errno) -> Void) throws(Errno) -> Bool {
        do throws(Errno) {
            try body()
            return true
        } catch {
            if [.notPermitted, .accessDenied, .notSupported, .invalid].contains(error) { return false }
            throw error
        }
    }
}
