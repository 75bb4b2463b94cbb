import GroupSystemCalls

/// Changes of what stands in the container already.
extension StagedChange {
    /// Takes an item away, a directory with everything in it: one rename into staging, one record. It is deleted there
    /// afterwards.
    /// System calls: renameat2, fsync of the directory
    func remove(
        _ location: ItemLocation, _ status: FileStatus, recursively: Bool
    ) throws(CoordinationError) -> LogPosition {
        // What else is in the body takes no more than that.
        try member.journal.log.ensureRoomForRemoval(bodyCount: location.bytes.count + purpose.utf8.count + 256)
        return try commit(
            Step(
                kind: .removed, way: .intoStaging, location: location, status: status, recursively: recursively,
                operation: "remove"))
    }

    /// System calls: renameat2, fsync of both directories
    func move(
        _ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing old: FileStatus?,
        allowed: Bool
    ) throws(CoordinationError) -> LogPosition {
        try member.journal.log.ensureRoom()
        return try commit(
            Step(
                kind: .moved, way: .fromPlaceToPlace, location: location, origin: origin, status: status,
                replacing: allowed, before: old, operation: "move"))
    }

    /// System calls: fchmodat2, fsync
    func setMode(
        _ mode: UInt32, of location: ItemLocation, _ status: FileStatus
    ) throws(CoordinationError) -> LogPosition {
        try member.journal.log.ensureRoom()
        var changed = status
        changed.mode = status.mode & ~0o7777 | mode
        return try commit(
            Step(
                kind: .touched, way: .inPlace, location: location, status: changed, before: status,
                operation: "set the mode of"))
    }
}
