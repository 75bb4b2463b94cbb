import GroupSystemCalls

/// The two directories of a change's step, open, and the names in them.
struct StepEnds {
    private let fromDirectory: OpenDirectory
    let fromName: [UInt8]
    private let toDirectory: OpenDirectory
    let toName: [UInt8]

    var from: FileDescriptor { _read { yield fromDirectory.descriptor } }
    var to: FileDescriptor { _read { yield toDirectory.descriptor } }

    static func open(
        _ step: StagedChange.Step, staged name: [UInt8], _ member: Member
    ) throws(Errno) -> StepEnds {
        let origin = step.origin ?? step.location
        let from = try directory(of: step.way == .intoPlace ? nil : origin, member)
        let to = try directory(of: step.way == .intoStaging ? nil : step.location, member)
        return StepEnds(
            fromDirectory: from, fromName: step.way == .intoPlace ? name : origin.name,
            toDirectory: to, toName: step.way == .intoStaging ? name : step.location.name)
    }

    /// The one that an item stands in; staging for nil.
    private static func directory(of item: ItemLocation?, _ member: Member) throws(Errno) -> OpenDirectory {
        guard let item else { return member.directory.stagingDirectory }
        return try member.directory(at: item.parent)
    }

    /// One system call, all or nothing.
    func take(_ step: StagedChange.Step) throws(Errno) {
        switch step.way {
        case .intoPlace, .fromPlaceToPlace:
            try from.rename(fromName, to: toName, in: to, replacing: step.replacing)
        case .intoStaging: try remove(step)
        case .inPlace: try from.setMode(of: fromName, step.status.permissions)
        }
    }

    private func remove(_ step: StagedChange.Step) throws(Errno) {
        // Only who may write to a directory may give it another parent.
        let isClosed =
            step.status.isDirectory && step.status.permissions & 0o200 == 0 && step.status.owner == effectiveUser()
        if isClosed { try? from.setMode(of: fromName, step.status.permissions | 0o200) }
        do throws(Errno) {
            try from.rename(fromName, to: toName, in: to, replacing: false)
        } catch {
            if isClosed { try? from.setMode(of: fromName, step.status.permissions) }
            throw error
        }
        if step.recursively || !step.status.isDirectory { return }
        // Without coordination something may have come into it since it was looked at. Nobody reaches it here.
        let isEmpty = (try? FileDescriptor.open(toName, in: to, [.reading, .directory]).entryNames().isEmpty) ?? false
        if isEmpty { return }
        try to.rename(toName, to: fromName, in: from, replacing: false)
        throw .notEmpty
    }

    /// As it was before, for a step that moved something; what it may have replaced is gone.
    func takeBack(_ step: StagedChange.Step) throws(Errno) {
        try to.rename(toName, to: fromName, in: from, replacing: false)
    }

    /// What has changed, to the disk: first where something is, then where it is no longer.
    func synchronize(_ step: StagedChange.Step) throws(Errno) {
        switch step.way {
        case .intoPlace: try to.synchronize()
        case .intoStaging: try from.synchronize()
        case .fromPlaceToPlace:
            try to.synchronize()
            if try to.status().inode != from.status().inode { try from.synchronize() }
        case .inPlace:
            // Its new mode, or what it is, may not let us open it.
            let access: FileDescriptor.Access = [.reading, .notFollowing, .nonBlocking]
            do throws(Errno) {
                try SeparateTable.within(to) { to throws(Errno) in
                    try FileDescriptor.open(toName, in: to, access).synchronize()
                }
            } catch {
                try to.synchronizeFileSystem()
            }
        }
    }
}
