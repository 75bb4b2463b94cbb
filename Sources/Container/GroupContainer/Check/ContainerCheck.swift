import GroupLocking
import GroupSystemCalls

/// Checks a container from outside, in whatever state it is, reports what is wrong with it, and repairs what can be
/// repaired.
///
/// A check changes nothing, except that it probes the leader, as followers do once a second. The container is
/// not joined: a process that joins it alone repairs it, and a damaged container could not be joined.
package struct ContainerCheck: Sendable {
    let name: ContainerName
    let path: [UInt8]

    /// Creates a check of a container. Error: `invalidArgument`
    package init(_ name: ContainerName) throws(CoordinationError) {
        self.name = name
        path = try name.location()
    }

    /// Returns the findings, the worst first. Linear in the logs and in the directories. Calls `note` with the name of
    /// each part before it is examined.
    package func examine(_ note: (String) -> Void = { _ in }) -> [Finding] {
        if let shortage = ProcessFacts.shortage { return [shortage] }
        let found = examineContainer(note)
        return ProcessFacts.shortage(behind: found).map { [$0] } ?? found
    }

    private func examineContainer(_ note: (String) -> Void) -> [Finding] {
        let facts: LocationFacts
        let directory: ContainerDirectories?
        do { (facts, directory) = try LocationFacts.look(at: name) } catch { return [] }
        guard let directory else { return facts.findings }
        let container = CheckedContainer(directory)
        let journal = try? container.journal()
        note("the files of .group")
        var found = [ProcessFacts.withoutProc].compactMap(\.self) + container.parts.findings
        note("the members")
        found += MembersFacts(container).findings
        note("what is watched")
        found += WatchingFacts(container, journal).findings
        note("the journal")
        found += JournalFacts(container).findings
        note("suites and channels")
        found += LogsFacts(container).findings
        note("the services")
        found += ServicesFacts(container).findings
        let order: [Finding.Severity] = [.error, .warning, .note]
        return order.flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// Repairs what can be repaired. Returns what was repaired, and the findings of a second check. Joins the
    /// container, and waits at most 10 s for other processes that open it. Errors: those of opening the container, and
    /// of writing.
    package func repair(_ note: (String) -> Void = { _ in }) throws(CoordinationError) -> (
        repaired: [Finding], left: [Finding]
    ) {
        let before = examine(note)
        note("what is to be repaired")
        if before.contains(where: \.isInTheWay) { return ([], before) }
        // Held until the second check: a last member that leaves also leaves the first member's work to the next
        // process.
        let member: OpenContainer
        do {
            try restoreParts(before)
            member = try repair(before)
        } catch {
            throw error.located(in: path)
        }
        defer { withExtendedLifetime(member) {} }
        let after = examine(note)
        // Without a second check it is not known what was repaired.
        if after.contains(where: { $0.code == .limitReached }) { return ([], after) }
        let repaired = before.filter { finding in
            finding.repaired != nil && !after.contains { $0.isAbout(finding) }
        }
        return (repaired, after)
    }

    private func repair(_ findings: [Finding]) throws(CoordinationError) -> OpenContainer {
        let codes = Set(findings.map(\.code))
        let member = try Membership.join(
            path: path, creating: nil, until: Deadline(after: .seconds(10)), repairing: codes.contains(.journalDamaged))
        for slot in 0..<MemberTableLayout.slotCount where member.memberTable.member(at: slot) != nil {
            if member.memberTable.isAlive(slot) { continue }
            try member.repair(slot: slot, hasRight: false, puttingAside: true)
        }
        member.sweepLeftovers()
        if codes.contains(.presenterLeftovers) { member.removeDeadPresenters() }
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
    /// Whether the finding is about a suite or a channel, and can be repaired.
    fileprivate var isOfStore: Bool {
        let codes: [Code] = [
            .suiteDamaged, .channelDamaged, .logMissing, .logNotDurable, .logTorn, .permissionsWrong, .leftovers,
        ]
        return repaired != nil && codes.contains(code)
    }

    /// Whether nothing can be repaired as long as the finding is there.
    fileprivate var isInTheWay: Bool {
        switch code {
        case .containerMissing, .deletionInterrupted, .notPermitted, .fileSystemUnsupported, .formatNewer, .formatOlder,
            .lockFileReplaced, .memberTableReplaced, .openingBlocked, .readOnly, .limitReached, .notWritable,
            .procMissing:
            true
        case .partDamaged: repaired == nil
        default: false
        }
    }
}

extension OpenContainer {
    /// Removes what members that are in no slot any more left in staging and among the files of logs.
    fileprivate func sweepLeftovers() {
        let container = CheckedContainer(directory)
        let names = container.stagedNames()
        let living = Set(memberTable.liveMembers().map(\.nonce))
        // A committed transaction is finished by a process that opens the container alone.
        let suffix = TransactionChanges.manifestSuffix
        let committed = Set(
            names.filter { $0.name.suffix(suffix.count).elementsEqual(suffix) }.map { $0.name.prefix(32) })
        for staged in names {
            if staged.isUnfinished {
                guard memberTable.isAbandoned(staged.name), let log = staged.directory else { continue }
                if let directory = try? directory.existingDirectory(log) { try? directory.unlink(staged.name) }
            } else if staged.nonce.map({ !living.contains($0) }) ?? true, !committed.contains(staged.name.prefix(32)) {
                sweepStaging { $0 == staged.name }
            }
        }
    }
}
