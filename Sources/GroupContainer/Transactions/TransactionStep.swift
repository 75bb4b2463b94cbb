import GroupSystemCalls

/// One step of a committed transaction: an entry changes places with what lies in staging for it. Whether it was taken
/// is told by the inodes, so it can be taken, and taken back, any number of times, by any member.
struct TransactionStep {
    let member: Member
    /// In staging: what is to be placed, afterwards what it replaced; or what was removed.
    let name: [UInt8]
    let inode: UInt64
    let part: ChangePart
    let location: ItemLocation
    /// For what is moved: where it stands before, and whether something else may stand where it goes.
    let origin: ItemLocation?
    let replaces: Bool

    /// Nil where the part's path names no item: another program wrote it.
    init?(_ member: Member, _ operation: [UInt8], _ step: TransactionManifest.Step, _ part: ChangePart) {
        guard let location = try? ItemLocation(part.path) else { return nil }
        (self.member, self.part, self.location) = (member, part, location)
        origin = part.kind == .moved ? part.from.flatMap { try? ItemLocation($0) } : nil
        if part.kind == .moved && origin == nil { return nil }
        replaces = step.replaces
        name = TransactionChanges.name(of: operation, Int(step.number))
        inode = step.inode
    }

    var staging: FileDescriptor { _read { yield member.directory.staging } }
    private var isRemoval: Bool { part.kind == .removed }

    /// Takes it, unless it was taken. Never puts a directory that somebody made there without coordination away:
    /// `isADirectory`, `exists`. System calls: renameat2
    func take() throws(Errno) {
        if let origin { return try takeArrival(from: origin) }
        let staged = try staging.statusIfPresent(of: name)
        if isRemoval {
            if staged != nil { return }
            let parent = try member.openDirectory(location.parent)
            // What stands there now, if it is another one, is not what was to go.
            guard let old = try parent.statusIfPresent(of: location.name), old.inode == inode else { return }
            if !old.isDirectory { return try parent.rename(location.name, to: name, in: staging, replacing: false) }
            return try Self.renameDirectory(location.name, in: parent, to: name, in: staging)
        }
        guard staged?.inode == inode else { return }
        let parent = try member.openDirectory(location.parent)
        guard let old = try parent.statusIfPresent(of: location.name), part.kind != .created else {
            return try staging.rename(name, to: location.name, in: parent, replacing: false)
        }
        if old.isDirectory { throw Errno.isADirectory }
        do throws(Errno) {
            // What is replaced is kept until all is done, so that it can be put back.
            try staging.exchange(name, with: location.name, in: parent)
        } catch {
            if error != .invalid { throw error }
            try staging.rename(name, to: location.name, in: parent, replacing: true)
        }
    }

    /// Not where somebody has a container in it open, also one that was made after the transaction was decided: `busy`.
    static func renameDirectory(
        _ name: [UInt8], in directory: borrowing FileDescriptor, to newName: [UInt8], in other: borrowing FileDescriptor
    ) throws(Errno) {
        try ContainersInside.checkNobodyIsThere(name, in: directory)
        try directory.rename(name, to: newName, in: other, replacing: false)
        do throws(Errno) {
            try ContainersInside.checkNobodyIsThere(newName, in: other)
        } catch {
            try other.rename(newName, to: name, in: directory, replacing: false)
            throw error
        }
    }

    /// Takes it back, unless it was not taken. System calls: renameat2
    func takeBack() throws(Errno) {
        if let origin { return try takeArrivalBack(to: origin) }
        let staged = try staging.statusIfPresent(of: name)
        if isRemoval {
            if staged == nil { return }
            return try staging.rename(
                name, to: location.name, in: member.openDirectory(location.parent), replacing: false)
        }
        if staged?.inode == inode { return }
        let parent = try member.openDirectory(location.parent)
        guard try parent.statusIfPresent(of: location.name)?.inode == inode else { throw Errno.noSuchEntry }
        if staged != nil { return try staging.exchange(name, with: location.name, in: parent) }
        // Where it replaced something that was not kept, there is no way back.
        if part.kind != .created { throw Errno.noSuchEntry }
        try parent.rename(location.name, to: name, in: staging, replacing: false)
    }

    /// After it was taken, what the record is to say; as it was in staging, where something else stands there already.
    var result: ChangePart {
        guard !isRemoval, let parent = try? member.openDirectory(location.parent),
            let status = try? parent.statusIfPresent(of: location.name), status.inode == inode
        else { return part }
        var part = part
        part.state = ItemState(status, contentHash: part.state?.contentHash)
        return part
    }

    /// What was in its way was put there without coordination: what it says was so, and is no longer.
    static func isForeign(_ error: Errno) -> Bool {
        [.noSuchEntry, .notADirectory, .tooManyLinks, .isADirectory, .exists, .notEmpty, .crossesDevices, .busy]
            .contains(
                error)
    }
}

extension Member {
    /// The directories in which something changed, and staging, each once, to the disk.
    func synchronizeDirectories(of moves: [TransactionStep]) throws(Errno) {
        for directory in Set(moves.map(\.location.parent) + moves.compactMap { $0.origin.map(\.parent) }) {
            do throws(Errno) {
                try openDirectory(directory).synchronize()
            } catch {
                if !TransactionStep.isForeign(error) { throw error }
            }
        }
        try directory.staging.synchronize()
    }
}

/// The step of a transaction that moves something. It goes to its place directly, never by way of staging, so that
/// nothing that is swept there is ever the only one; staging has, as another name, the file that it takes the place of.
extension TransactionStep {
    /// System calls: linkat, renameat2
    func takeArrival(from origin: ItemLocation) throws(Errno) {
        let from = try member.openDirectory(origin.parent)
        // It has gone already; or what stands there now is another one.
        guard let moved = try from.statusIfPresent(of: origin.name), moved.inode == inode else { return }
        let to = try member.openDirectory(location.parent)
        let old = try to.statusIfPresent(of: location.name)
        // It was on its way back, and has both names.
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
                // Not every file may be given another name; then there is no way back.
                if ![.notPermitted, .notSupported, .noMoreNames].contains(error) { throw error }
            }
        }
        try from.rename(origin.name, to: location.name, in: to, replacing: true)
    }

    /// System calls: linkat, renameat2
    func takeArrivalBack(to origin: ItemLocation) throws(Errno) {
        let from = try member.openDirectory(origin.parent)
        let isThere = try from.statusIfPresent(of: origin.name)?.inode == inode
        // The directory that it was to go to may not have come yet.
        if try member.status(of: location)?.inode != inode {
            if isThere { return }
            throw Errno.noSuchEntry
        }
        let to = try member.openDirectory(location.parent)
        let isKept = try staging.statusIfPresent(of: name) != nil
        if !isKept {
            // Where it replaced something that was not kept, there is no way back.
            if replaces { throw Errno.noSuchEntry }
            return try to.rename(location.name, to: origin.name, in: from, replacing: false)
        }
        if !isThere { try to.link(location.name, as: origin.name, in: from) }
        try staging.rename(name, to: location.name, in: to, replacing: true)
    }
}
