import GroupLocking
import GroupLog
import GroupSystemCalls

/// Repairs the logs of suites and channels. A new segment begins with everything that can be read, as where a full
/// segment is followed by the next (decision 0021); files that cannot be used are put aside or dropped. Works only
/// while no other member lives: then no process appends to what is read, and none has a state in memory that would not
/// match what was read.
extension OpenContainer {
    /// Repairs all logs, unless other members live; no process can join meanwhile. Errors: those of writing.
    func repairStores() throws(CoordinationError) {
        let opening = try locking("open") { () throws(LockFileFailure) in try lockFile.borrow() }
        defer { lockFile.giveBack(opening) }
        let byte = ByteRange(start: ContainerLock.opening, length: 1)
        let deadline = Deadline(after: .seconds(10))
        guard case .granted = KernelWait.block([LockWaiter.Step(.exclusive, byte)], on: opening, until: deadline),
            memberTable.liveMembers().count <= 1
        else { return }
        for (kind, name) in directory.storeNames() {
            let label = "\(kind.directory)/\(name)"
            let store = try CheckedLog(
                kind, name, in: directory, container: journal.log.configuration.identity,
                incarnation: journal.log.configuration.incarnation, isAlone: true)
            try repairPermissions(of: store, label)
            if store.isBeyondReach { continue }
            if store.numbers.isEmpty {
                try removeEmpty(store)
            } else {
                try repair(store, label)
            }
        }
    }

    private func repair(_ store: CheckedLog, _ label: String) throws(CoordinationError) {
        let directory = try self.directory.ownDirectory(label)
        let segments = Array(zip(store.numbers, store.facts.segments))
        // The files after the newest one belong to another log.
        for (number, segment) in segments where number > store.newest ?? 0 {
            try directory.setAside(number, segment.name)
        }
        guard let newest = store.newest else { return }
        if newest >= SegmentHeader.lastNumber { return try renumber(newest, store, label, in: directory) }
        let isReplaced = try repairNewest(newest, of: store, label)
        if isReplaced { try directory.setAside(newest, "\(store.facts.label)/\(newest).log") }
        // The last file that cannot be read, and the last one before a gap: these, and all files before them, are
        // dropped.
        let broken = segments.last { $0.0 < newest && !$0.1.causes.isEmpty }?.0
        let dropped = [broken, store.separated.last, isReplaced ? newest : nil].compactMap(\.self).max() ?? 0
        for (number, segment) in segments where number <= dropped && number < newest {
            try translating("remove", item: segment.name) { () throws(Errno) in
                try directory.unlink(Array("\(number).log".utf8))
            }
        }
    }

    private func open(_ store: CheckedLog, _ label: String) throws(CoordinationError) -> SegmentedLog {
        var configuration = journal.log.configuration
        configuration.capacity = SegmentPreamble.smallest
        configuration.largestCapacity = SegmentPreamble.largest
        configuration.makePreamble = { segment, _, _ throws(LogFailure) in
            store.preamble(after: Array(store.segments.suffix(1)), segment.capacity)
        }
        return try SegmentedLog.open(label, in: directory.ownDirectory(label), configuration)
    }

    /// Begins with the first number again, because no file can have a number after the newest one. A file is used only
    /// if none has a later number, so all are put aside first.
    private func renumber(
        _ newest: UInt64, _ store: CheckedLog, _ label: String, in directory: borrowing FileDescriptor
    ) throws(CoordinationError) {
        let log = try open(store, label)
        for (number, segment) in zip(store.numbers, store.facts.segments) {
            try directory.setAside(number, segment.name)
        }
        try begin(anew: log, 0, store, store.segments.last { $0.salvage.number == newest })
    }

    /// Repairs the newest file. Returns true where a new file has replaced it, and the old one cannot be used.
    private func repairNewest(
        _ newest: UInt64, of store: CheckedLog, _ label: String
    ) throws(CoordinationError) -> Bool {
        guard let segment = zip(store.numbers, store.facts.segments).first(where: { $0.0 == newest })?.1,
            !segment.causes.isEmpty || segment.hasFailedSync || segment.isTorn
        else { return false }
        let log = try open(store, label)
        if segment.causes.isEmpty && !segment.hasFailedSync {
            try translating(log.recover())
            _ = try translating(log.end())
            return false
        }
        let last = store.segments.last { $0.salvage.number == newest }
        try begin(anew: log, newest, store, last)
        return last.map { $0.salvage.fault != nil } ?? true
    }

    /// Begins a new file with what can be read of the newest file; where its beginning is broken, what the files before
    /// it contain comes first.
    private func begin(
        anew log: SegmentedLog, _ newest: UInt64, _ store: CheckedLog,
        _ last: (salvage: SegmentSalvage, reading: SegmentSalvage.Reading)?
    ) throws(CoordinationError) {
        let first = store.segments.lastIndex { $0.salvage.isWholeAtBeginning($0.reading) } ?? 0
        let sources = store.segments.dropFirst(first)
        var end = LogPosition(segment: newest, offset: SegmentHeader.size, sequence: 0, checksum: 0)
        if let reading = last?.reading { (end.offset, end.sequence) = (reading.good.offset, reading.good.sequence) }
        if last == nil, let before = sources.last { end.sequence = before.reading.last }
        // Leaves room, so that no sequence number is given again that a process may have seen.
        let isExact = last.map { $0.reading.faults.isEmpty && $0.salvage.fault == nil } ?? false
        var leap = isExact ? 0 : last?.salvage.mostRecords ?? SegmentSalvage.mostRecords
        if let last { leap = max(leap, last.reading.last - last.reading.good.sequence) }
        _ = try translating(log.makeSegment(after: end, leap: leap, preamble: store.preamble(after: Array(sources), 0)))
    }

    private func removeEmpty(_ store: CheckedLog) throws(CoordinationError) {
        guard let parent = try directory.existingDirectory(store.kind.directory) else { return }
        // The directory stays where it has other entries.
        try? parent.unlink(Array(store.name.utf8), directory: true)
    }

    /// Corrects owners and permissions, as far as this process may.
    private func repairPermissions(of store: CheckedLog, _ label: String) throws(CoordinationError) {
        let group = try translating("read", item: ".group") { () throws(Errno) in try directory.group.status() }
        for path in [store.kind.directory, label] + store.numbers.map({ "\(label)/\($0).log" }) {
            guard let file = try? FileDescriptor.open(Array(path.utf8), in: directory.group, .reading),
                let status = try? file.status(), directory.wrongPermissions(status, group) != nil
            else { continue }
            try? file.setOwner(directory.isShared ? .max : group.owner, group: group.group)
            try? file.setMode(status.isDirectory ? directory.directoryMode : directory.fileMode)
        }
    }
}

extension CheckedLog {
    /// Returns everything that the files contain, as the preamble of a new one.
    fileprivate func preamble(
        after sources: [(salvage: SegmentSalvage, reading: SegmentSalvage.Reading)], _ least: Int
    ) -> SegmentPreamble {
        let salvages = sources.map(\.salvage)
        let bodies =
            switch kind {
            case .suite: Self.bodies(SuiteState.self, salvages)
            case .channel: Self.bodies(ChannelState.self, salvages)
            }
        let size = SegmentPreamble.size(of: bodies)
        return SegmentPreamble(bodies: bodies, capacity: max(least, SegmentPreamble.capacity(holding: size)))
    }

    private static func bodies<State: LogState>(_: State.Type, _ sources: [SegmentSalvage]) -> [[UInt8]] {
        var state = State(last: sources.first?.header.base ?? 0)
        for source in sources { _ = source.read { state.apply($0, at: $1, isControl: $2) } }
        var bodies = state.carriedBodies()
        if !state.carriesRecords { return bodies }
        var known: Set<[UInt8]> = []
        for source in sources {
            _ = source.read { body, sequence, isControl in
                guard let body = state.carried(body, at: sequence, isControl: isControl) else { return }
                // The second file begins with some records of the first one.
                if known.insert(body).inserted { bodies.append(body) }
            }
        }
        return bodies
    }
}

extension FileDescriptor {
    /// Renames a file to `damaged-NUMBER`, for a user who may still recover something from it.
    fileprivate func setAside(_ number: UInt64, _ label: String) throws(CoordinationError) {
        try translating("repair", item: label) { () throws(Errno) in
            try rename(Array("\(number).log".utf8), to: Array("damaged-\(number)".utf8), in: self, replacing: true)
            try synchronize()
        }
    }
}
