import GroupSystemCalls

/// What members that died in the middle of making a log's file have left: as many bytes as the file was to have.
extension MemberTable {
    /// The member that has made it is gone. While a process takes the slot, or repairs it, no process can tell. System
    /// calls: fcntl(F_OFD_GETLK)
    func isAbandoned(_ name: UnfinishedName) -> Bool {
        if name.slot == slot { return name.nonce != nonce }
        let repair = ByteRange(start: MemberTableLayout.repairByte(name.slot), length: 1)
        do { if try file.conflict(with: .exclusive, repair) != nil { return false } } catch { return false }
        if !isAlive(name.slot) { return true }
        guard let nonce = name.nonce else { return false }
        return map.load64(MemberTableLayout.slot(name.slot) + MemberTableLayout.nonce) != nonce
    }

    /// This member is there, until it leaves.
    func noteMembership(_ isThere: Bool) {
        guard let seat else { return }
        let (word, bit) = (MemberTableLayout.members + seat.slot / 64 * 8, UInt64(1) << UInt64(seat.slot % 64))
        if isThere { seat.map.setBits64(word, bit) } else { seat.map.clearBits64(word, bit) }
    }
}

extension MemberTable.Open {
    /// Somebody came and did not leave. Nobody else may be alive.
    var hasLostMember: Bool { map.hasBits(MemberTableLayout.members, count: MemberTableLayout.bitmapBytes) }
}

extension Member {
    /// Removes them from all logs. Nobody may ever open a suite again whose next file a killed process was making.
    /// System calls: four for each log
    func sweepLogs() {
        for label in ["journal"] + directory.storeNames().map({ "\($0.kind.directory)/\($0.name)" }) {
            guard let log = try? directory.existingDirectory(label), let names = try? log.entryNames() else { continue }
            log.removeUnfinished(among: names, where: memberTable.isAbandoned)
        }
    }

    /// The same while this member is alone, and so nobody has to do it again.
    func sweepLogsOfTheLost() {
        sweepLogs()
        memberTable.seat?.map.write(
            [UInt8](repeating: 0, count: MemberTableLayout.bitmapBytes), at: MemberTableLayout.members)
    }
}

extension FileDescriptor {
    /// In a log's directory. System calls: unlink(2), for each
    func removeUnfinished(among names: [[UInt8]], where isAbandoned: (UnfinishedName) -> Bool) {
        for name in names where name.starts(with: UnfinishedName.prefix) {
            if let unfinished = UnfinishedName(name), isAbandoned(unfinished) { try? unlink(name) }
        }
    }
}
