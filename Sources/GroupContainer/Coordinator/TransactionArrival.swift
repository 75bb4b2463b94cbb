import GroupSystemCalls

/// The step of a transaction that moves something. It goes to its place directly, never by way of staging, so that
/// nothing that is swept there is ever the only one; staging has, as another name, the file that it takes the place of.
extension TransactionMove {
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
