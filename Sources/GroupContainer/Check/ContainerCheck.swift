import GroupSystemCalls

/// Looks at a container from outside, whatever state it is in, says what is wrong with it, and mends what can be
/// mended.
///
/// To look changes nothing (but for a question to the leader, as its followers ask it once a second): the container is
/// not joined, since who joins it alone repairs it, and a damaged one could not be joined.
package struct ContainerCheck: Sendable {
    let name: [UInt8]
    let path: [UInt8]

    /// For the container that a GROUP argument names. Errors: `invalidArgument`.
    package init(named name: [UInt8]) throws(CoordinationError) {
        self.name = name
        path = try Container.location(named: name)
    }

    /// What is wrong; the worst first. Linear in the logs and in the directories. `note` is told what it looks at.
    package func examine(_ note: (String) -> Void = { _ in }) -> [Finding] {
        let facts: LocationFacts
        let directory: ContainerDirectories?
        do { (facts, directory) = try LocationFacts.look(named: name) } catch { return [] }
        guard let directory else { return facts.findings }
        let container = CheckedContainer(directory)
        let journal = try? container.journal()
        note("the files of .group")
        var found = container.parts.findings
        note("the members")
        found += MembersFacts(container).findings
        note("what is watched")
        found += WatchingFacts(container, journal).findings
        note("the journal")
        found += JournalFacts(container).findings
        note("suites and channels")
        found += LogsFacts(container).findings
        let order: [Finding.Severity] = [.error, .warning, .note]
        return order.flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// Mends what can be mended. Returns what was, and what is left. As a member: it waits at most 10 s for others that
    /// open the container. Errors: those of opening it, and of writing.
    package func repair(_ note: (String) -> Void = { _ in }) throws(CoordinationError) -> (
        mended: [Finding], left: [Finding]
    ) {
        let before = examine(note)
        note("what is to be mended")
        if before.contains(where: \.isInTheWay) { return ([], before) }
        try restoreParts(before)
        // Until it was looked at again: who leaves last leaves the work of the first to the next.
        let member = try mend(before)
        defer { withExtendedLifetime(member) {} }
        let after = examine(note)
        let mended = before.filter { finding in
            finding.mended != nil && !after.contains { $0.isAbout(finding) }
        }
        return (mended, after)
    }

    private func mend(_ findings: [Finding]) throws(CoordinationError) -> Member {
        let codes = Set(findings.map(\.code))
        let member = try Member.join(
            path: path, creating: nil, until: Deadline(after: .seconds(10)), repairing: codes.contains(.journalDamaged))
        for slot in 0..<MemberTableLayout.slotCount where member.memberTable.member(at: slot) != nil {
            if member.memberTable.isAlive(slot) { continue }
            try member.repair(slot: slot, hasRight: false)
        }
        member.sweepLeftovers()
        if !codes.isDisjoint(with: [.journalDamaged, .checkpointLost]) {
            _ = try member.repairJournal()
        } else if codes.contains(.checkpointDamaged) {
            try member.remakeCheckpoint()
        }
        if findings.contains(where: \.isOfStore) { try member.repairStores() }
        return member
    }
}

extension Finding {
    /// Of a suite or a channel, and can be mended.
    fileprivate var isOfStore: Bool {
        let codes: [Code] = [
            .suiteDamaged, .channelDamaged, .logMissing, .logNotDurable, .logTorn, .permissionsWrong, .leftovers,
        ]
        return mended != nil && codes.contains(code)
    }

    /// As long as it is so, nothing can be mended.
    fileprivate var isInTheWay: Bool {
        switch code {
        case .containerMissing, .deletionInterrupted, .notPermitted, .fileSystemUnsupported, .formatNewer, .formatOlder,
            .lockFileReplaced, .memberTableReplaced, .openingBlocked, .readOnly, .partDamaged:
            true
        case .formatDamaged, .lockFileMissing, .memberTableDamaged: mended == nil
        default: false
        }
    }
}

extension Member {
    /// What members left in staging and among the files of logs that are in no slot any more.
    fileprivate func sweepLeftovers() {
        let container = CheckedContainer(directory)
        let names = container.stagedNames()
        let living = Set(memberTable.liveMembers().map(\.nonce))
        // One that is committed is finished by who opens the container alone.
        let suffix = TransactionChanges.manifestSuffix
        let committed = Set(
            names.filter { $0.name.suffix(suffix.count).elementsEqual(suffix) }.map { $0.name.prefix(32) })
        for staged in names {
            if let unfinished = staged.unfinished {
                guard memberTable.isAbandoned(unfinished), let log = staged.directory else { continue }
                if let directory = try? directory.existingDirectory(log) { try? directory.unlink(staged.name) }
            } else if staged.nonce.map({ !living.contains($0) }) ?? true, !committed.contains(staged.name.prefix(32)) {
                sweepStaging { $0 == staged.name }
            }
        }
    }
}
