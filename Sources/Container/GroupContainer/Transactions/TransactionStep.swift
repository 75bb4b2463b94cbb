import GroupSystemCalls

/// One step of a committed transaction: an item is exchanged with the file in staging for it. The inodes show whether
/// the step was taken, so that any member can take it, and undo it, any number of times.
struct TransactionStep {
    let container: OpenContainer
    /// The name in staging: of the new item before the step, and of the replaced or removed item after it.
    let name: [UInt8]
    let inode: UInt64
    let part: ChangePart
    let location: ItemLocation
    /// The origin of an item that moves, and whether the move may replace an item.
    let origin: ItemLocation?
    let replaces: Bool

    /// Creates the step; nil where the part's path names no item, because another program wrote the manifest.
    init?(_ container: OpenContainer, _ operation: [UInt8], _ step: TransactionManifest.Step, _ part: ChangePart) {
        guard let location = try? ItemLocation(part.path) else { return nil }
        self.container = container
        self.part = part
        self.location = location
        origin = part.kind == .moved ? part.from.flatMap { try? ItemLocation($0) } : nil
        if part.kind == .moved && origin == nil { return nil }
        replaces = step.replaces
        name = TransactionChanges.name(of: operation, Int(step.number))
        inode = step.inode
    }

    var staging: FileDescriptor { _read { yield container.directory.staging } }
    private var isRemoval: Bool { part.kind == .removed }

    /// Takes the step, unless it was taken. Never replaces a directory that was made externally: `isADirectory`,
    /// `exists`. System calls: renameat2
    func take() throws(Errno) {
        if let origin { return try takeArrival(from: origin) }
        let staged = try staging.statusIfPresent(of: name)
        if isRemoval {
            if staged != nil { return }
            let parent = try container.openDirectory(location.parent)
            // An item with another inode is not the one to remove.
            guard let old = try parent.statusIfPresent(of: location.name), old.inode == inode else { return }
            if !old.isDirectory { return try parent.rename(location.name, to: name, in: staging, replacing: false) }
            return try Self.renameDirectory(location.name, in: parent, to: name, in: staging)
        }
        guard staged?.inode == inode else { return }
        let parent = try container.openDirectory(location.parent)
        guard let old = try parent.statusIfPresent(of: location.name), part.kind != .created else {
            return try staging.rename(name, to: location.name, in: parent, replacing: false)
        }
        if old.isDirectory { throw Errno.isADirectory }
        do throws(Errno) {
            // The replaced item is kept until the transaction is complete, so that the step can be undone.
            try staging.exchange(name, with: location.name, in: parent)
        } catch {
            if error != .invalid { throw error }
            try staging.rename(name, to: location.name, in: parent, replacing: true)
        }
    }

    /// Renames a directory. Throws `busy` where a process has a container in it open, also one created after the
    /// commit.
    static func renameDirectory(
        _ name: [UInt8], in directory: borrowing FileDescriptor, to newName: [UInt8], in other: borrowing FileDescriptor
    ) throws(Errno) {
        try ContainersInside.checkNoneIsOpen(name, in: directory)
        try directory.rename(name, to: newName, in: other, replacing: false)
        do throws(Errno) {
            try ContainersInside.checkNoneIsOpen(newName, in: other)
        } catch {
            try other.rename(newName, to: name, in: directory, replacing: false)
            throw error
        }
    }

    /// Undoes the step, unless it was not taken. System calls: renameat2
    func takeBack() throws(Errno) {
        if let origin { return try takeArrivalBack(to: origin) }
        let staged = try staging.statusIfPresent(of: name)
        if isRemoval {
            if staged == nil { return }
            return try staging.rename(
                name, to: location.name, in: container.openDirectory(location.parent), replacing: false)
        }
        if staged?.inode == inode { return }
        let parent = try container.openDirectory(location.parent)
        guard try parent.statusIfPresent(of: location.name)?.inode == inode else { throw Errno.noSuchEntry }
        if staged != nil { return try staging.exchange(name, with: location.name, in: parent) }
        // A step whose replaced item was not kept cannot be undone.
        if part.kind != .created { throw Errno.noSuchEntry }
        try parent.rename(location.name, to: name, in: staging, replacing: false)
    }

    /// The part of the record for the step after it was taken; the state from staging, where another item is at the
    /// location by now.
    var result: ChangePart {
        guard !isRemoval, let parent = try? container.openDirectory(location.parent),
            let status = try? parent.statusIfPresent(of: location.name), status.inode == inode
        else { return part }
        var part = part
        part.state = ItemState(status, contentHash: part.state?.contentHash)
        return part
    }

    /// Whether an error comes from an external change. The manifest was right about the item when it was
    /// written, and no longer is.
    static func isForeign(_ error: Errno) -> Bool {
        [.noSuchEntry, .notADirectory, .tooManyLinks, .isADirectory, .exists, .notEmpty, .crossesDevices, .busy]
            .contains(
                error)
    }
}

extension OpenContainer {
    /// Synchronizes each directory that has a change, and staging, once.
    func synchronizeDirectories(of moves: [TransactionStep]) throws(Errno) {
        for directory in Set(moves.map(\.location.parent) + moves.compactMap { $0.origin.map(\.parent) }) {
            do throws(Errno) {
                try openDirectory(directory).synchronize()
            } catch {
                if !TransactionStep.isForeign(error), !RefusedRepair.isPermission(error) { throw error }
            }
        }
        try directory.staging.synchronize()
    }
}

/// The step of a transaction that moves an item. The item goes directly to its path, never through staging, so that
/// nothing deleted from staging is ever the only copy. A replaced file keeps another hard link in staging.
extension TransactionStep {
    /// Moves the item to its destination, unless it was moved. System calls: linkat, renameat2
    func takeArrival(from origin: ItemLocation) throws(Errno) {
        let from = try container.openDirectory(origin.parent)
        // The item was moved already, or another item is there now.
        guard let moved = try from.statusIfPresent(of: origin.name), moved.inode == inode else { return }
        let to = try container.openDirectory(location.parent)
        let old = try to.statusIfPresent(of: location.name)
        // A member was undoing the move, and the item has both names.
        if old?.inode == inode { return try from.unlink(origin.name) }
        guard let old, replaces else {
            if moved.isDirectory { return try Self.renameDirectory(origin.name, in: from, to: location.name, in: to) }
            return try from.rename(origin.name, to: location.name, in: to, replacing: false)
        }
        if old.isDirectory { throw Errno.isADirectory }
        if try staging.statusIfPresent(of: name) == nil {
            do throws(Errno) {
                try to.link(location.name, as: name, in: staging)
            } catch {
                // Some files cannot have another hard link; then the step cannot be undone.
                if ![.notPermitted, .notSupported, .noMoreNames].contains(error) { throw error }
            }
        }
        try from.rename(origin.name, to: location.name, in: to, replacing: true)
    }

    /// Moves the item back to its origin, unless it is there. System calls: linkat, renameat2
    func takeArrivalBack(to origin: ItemLocation) throws(Errno) {
        let from = try container.openDirectory(origin.parent)
        let isThere = try from.statusIfPresent(of: origin.name)?.inode == inode
        // The destination's directory may not exist yet.
        if try container.status(of: location)?.inode != inode {
            if isThere { return }
            throw Errno.noSuchEntry
        }
        let to = try container.openDirectory(location.parent)
        let isKept = try staging.statusIfPresent(of: name) != nil
        if !isKept {
            // A step whose replaced item was not kept cannot be undone.
            if replaces { throw Errno.noSuchEntry }
            return try to.rename(location.name, to: origin.name, in: from, replacing: false)
        }
        if !isThere { try to.link(location.name, as: origin.name, in: from) }
        try staging.rename(name, to: location.name, in: to, replacing: true)
    }
}
