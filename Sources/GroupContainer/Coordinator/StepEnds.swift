import GroupSystemCalls

/// The two folders of a change's step, open, and the names in them.
struct StepEnds {
    private let fromFolder: OpenFolder
    let fromName: [UInt8]
    private let toFolder: OpenFolder
    let toName: [UInt8]

    var from: FileDescriptor { _read { yield fromFolder.descriptor } }
    var to: FileDescriptor { _read { yield toFolder.descriptor } }

    static func open(
        _ step: StagedChange.Step, staged name: [UInt8], _ member: Member
    ) throws(Errno) -> StepEnds {
        let origin = step.origin ?? step.location
        let from = try folder(of: step.way == .intoPlace ? nil : origin, member)
        let to = try folder(of: step.way == .intoStaging ? nil : step.location, member)
        return StepEnds(
            fromFolder: from, fromName: step.way == .intoPlace ? name : origin.name,
            toFolder: to, toName: step.way == .intoStaging ? name : step.location.name)
    }

    /// The one that an item stands in; staging for nil.
    private static func folder(of item: ItemLocation?, _ member: Member) throws(Errno) -> OpenFolder {
        guard let item else { return member.folder.stagingFolder }
        return try member.folder(at: item.parent)
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
        // Only who may write to a folder may give it another parent.
        let isClosed =
            step.status.isFolder && step.status.permissions & 0o200 == 0 && step.status.owner == effectiveUser()
        if isClosed { try? from.setMode(of: fromName, step.status.permissions | 0o200) }
        do throws(Errno) {
            try from.rename(fromName, to: toName, in: to, replacing: false)
        } catch {
            if isClosed { try? from.setMode(of: fromName, step.status.permissions) }
            throw error
        }
        if step.recursively || !step.status.isFolder { return }
        // Without coordination something may have come into it since it was looked at. Nobody reaches it here.
        let isEmpty = (try? FileDescriptor.open(toName, in: to, [.reading, .folder]).entryNames().isEmpty) ?? false
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
