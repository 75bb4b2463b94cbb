import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// A compacted log as this member has it: the state that its records make, kept up to date. All objects of a process
/// that refer to the log share this one. Suites and channels are compacted logs.
///
/// A read takes a mutex of this process and, if nothing has changed, one load; no system call. An append decides upon
/// the state, and makes no system call either, unless a process waits for it, or a segment is full. Under the mutex
/// nothing waits, and nothing is written but a record: a reader never waits for a writer.
final class CompactedLog<State: LogState>: Sendable {
    let name: String
    /// The table, not the member: the member keeps its logs.
    let memberTable: MemberTable
    let diagnostics: DiagnosticHub
    private let lockManager: LockManager
    private let readOnly: ReadOnlyReason?
    /// A value of its own, because every read needs it, and comparing the reason with nil copies it.
    let isReadOnly: Bool
    let log: SegmentedLog
    /// The word on which processes sleep that wait for a change of the log. Several logs may share a word; then their
    /// waiters wake for nothing.
    let wakeWord: Int

    struct Fold: Sendable {
        var state: State
        var position: LogPosition
        /// The segment of the position, so that one load shows whether anything has changed.
        var segment: Segment
    }
    let fold: Guarded<Fold>
    let sleeper: WakeWaiter

    /// Opens a log; returns nil if it does not exist and is not to be created. `label` is its directory; its wake word
    /// is derived from `wakeLabel`.
    static func open(
        _ container: OpenContainer, _ name: String, label: String, wakeLabel: String, creating: Bool
    ) throws(CoordinationError) -> CompactedLog? {
        if creating { return try make(container, name, label, wakeLabel) }
        guard let directory = try container.directory.existingDirectory(label) else { return nil }
        return try CompactedLog(container, name, label, wakeLabel, directory)
    }

    /// Opens or creates a log. If the first segment cannot be created, the directory is removed; so it may vanish under
    /// a process that is just creating a segment in it, which then tries again.
    private static func make(
        _ container: OpenContainer, _ name: String, _ label: String, _ wakeLabel: String
    ) throws(CoordinationError) -> CompactedLog {
        var attempts = 100
        while true {
            do {
                let made = try CompactedLog(
                    container, name, label, wakeLabel, container.directory.ownDirectory(label))
                // Also where the log was there: the process that created it may have died before this.
                container.memberTable.wake(MemberTable.suitesWord)
                return made
            } catch {
                // Fails if the directory is not empty.
                try? container.directory.group.unlink(Array(label.utf8), directory: true)
                attempts -= 1
                if error.code != .notFound || attempts == 0 { throw error }
            }
        }
    }

    private init(
        _ container: OpenContainer, _ name: String, _ label: String, _ wakeLabel: String,
        _ directory: consuming FileDescriptor
    ) throws(CoordinationError) {
        self.name = name
        memberTable = container.memberTable
        diagnostics = container.diagnostics
        lockManager = container.lockManager
        readOnly = container.readOnly
        isReadOnly = container.isReadOnly
        // The first words are for other purposes.
        let first = 8
        wakeWord = first + Int(container.hashKey.hash(wakeLabel.utf8) % UInt64(MemberTableLayout.wakeCount - first))
        sleeper = WakeWaiter(memberTable, word: wakeWord)
        var configuration = container.journal.log.configuration
        configuration.capacity = SegmentPreamble.smallest
        configuration.largestCapacity = SegmentPreamble.largest
        configuration.wakeFirstReader = { [memberTable, wakeWord] in memberTable.wakeFirst(wakeWord) }
        configuration.wakeOtherReaders = { [memberTable, wakeWord] in memberTable.wake(wakeWord) }
        configuration.awaitCommit = { [memberTable, wakeWord] limit, isDecided in
            memberTable.awaitCommit(wakeWord, atMost: limit, unless: isDecided)
        }
        configuration.makePreamble = { [diagnostics] segment, end, needed throws(LogFailure) in
            try Self.preamble(of: segment, before: end, needed: needed, diagnostics)
        }
        log = try SegmentedLog.open(label, in: directory, configuration)
        if !container.isReadOnly { try translating(log.recover()) }
        fold = Guarded(Self.beginning(of: try translating(log.last())))
        try fold.withLock { (fold) throws(CoordinationError) in try translating(catchUp(&fold)) }
    }

    /// Returns the state before the records of a segment. The last segment is enough: its preamble has the state of all
    /// segments before it.
    static func beginning(of segment: Segment) -> Fold {
        Fold(state: State(last: segment.header.base), position: .start(of: segment.header), segment: segment)
    }

    func checkNotForked(_ operation: String) throws(CoordinationError) {
        if lockManager.forkGeneration == GroupSystemCalls.forkGeneration { return }
        throw CoordinationError(
            .forked, operation: operation, item: log.name,
            reason: "this process is a forked child of the one that opened the container", remedy: .openInChild)
    }

    func checkMayWrite(_ operation: String) throws(CoordinationError) {
        try checkNotForked(operation)
        if let readOnly { throw readOnly.error(log.name, operation) }
    }

    /// Returns when everything before a position is on the disk. System calls: fdatasync(2), once for all waiters
    func synchronize(through position: LogPosition) throws(CoordinationError) {
        try translating(renew(position))
        try translating(log.synchronizeTogether(through: position))
    }
}

extension CompactedLog {
    /// Returns the result of `look` for the state with everything that was appended before this call.
    func checkedRead<Answer>(_ look: (State) -> Answer) throws(CoordinationError) -> Answer {
        try checkNotForked("read")
        return try fold.withLock { (fold) throws(CoordinationError) -> Answer in
            try translating(catchUp(&fold))
            return look(fold.state)
        }
    }

    /// Returns the result of `look` for the state to decide upon. While the attempt stays behind what others append, it
    /// takes the priority.
    func read<Answer>(
        for attempt: inout AppendAttempt, _ look: (State) -> Answer
    ) throws(CoordinationError) -> Answer {
        try checkNotForked("read")
        let slot = memberTable.slot ?? 0
        return try fold.withLock { (fold) throws(CoordinationError) -> Answer in
            try translating(catchUp(&fold) { attempt.noteLag(by: slot, in: $0) })
            return look(fold.state)
        }
    }

    /// Returns the state, and the position after all records that made it.
    func present() throws(LogFailure) -> (State, LogPosition) {
        try fold.withLock { (fold) throws(LogFailure) in
            try catchUp(&fold)
            return (fold.state, fold.position)
        }
    }

    /// The segment and the offset that this member has read up to. A load there shows whether there is more.
    var mark: (segment: Segment, offset: Int) { fold.withLock { ($0.segment, $0.position.offset) } }

    /// Sleeps until the log has a record after a position, at most `limit` nanoseconds (nil: no limit); may return
    /// early, as when the container was removed since a check. A reservation there is committed or aborted when this
    /// returns. System calls: futex_waitv(2)
    func awaitRecord(
        behind position: LogPosition, atMost limit: Int64?, since check: RemovalCheck
    ) throws(LogFailure) {
        memberTable.awaitWake(on: wakeWord, atMost: limit, removals: check.removals) { log.hasMore(behind: position) }
        _ = try log.step(behind: position)
    }

    /// The position that this member has read up to.
    var position: LogPosition { fold.withLock { $0.position } }

    /// After so many records, a writer may be appending faster than this member reads.
    private static var lag: Int { 16_384 }

    /// Reads the log to its end, or to a reservation there. Linear in the new records. Calls `isBehind` after every
    /// `lag` records.
    func catchUp(_ fold: inout Fold, isBehind: (Segment) -> Void = { _ in }) throws(LogFailure) {
        if log.isOnlyForReading {
            try lookAnew(&fold)
        } else if fold.segment.isEnd(fold.position) {
            return
        }
        var count = 0
        while true {
            let step: SegmentedLog.Step
            do {
                if try readOn(&fold, &count, isBehind) { return }
                step = try log.knownStep(behind: fold.position, waits: false)
            } catch {
                fold.position = try positionBehindDamage(fold.position, error)
                continue
            }
            switch step {
            case .entry(let entry):
                if entry.isControl, entry.position.segment != fold.position.segment,
                    let segment = try log.segment(entry.position.segment)
                {
                    // This state is read up to the end of the previous segment, so it contains the preamble.
                    (fold.position, fold.segment) = (segment.positionAfterPreamble, segment)
                    continue
                }
                fold.position = entry.position
                fold.state.apply(entry.body, at: entry.position.sequence, isControl: entry.isControl)
            case .gap(let next):
                // Not every record was read whose state is in the next segment's preamble.
                if next.segment != fold.position.segment { fold.state = State(last: next.sequence) }
                fold.position = next
                try follow(&fold)
            case .end: return try follow(&fold)
            // The missed records are in the preamble of the last segment.
            case .lost: fold = Self.beginning(of: try log.last())
            }
        }
    }

    /// Reads on in the segment of the state. Of successive records that set the same key, only the last one is applied,
    /// so that a reader that was away need not repeat what others counted. Returns true at the end of the log.
    private func readOn(
        _ fold: inout Fold, _ count: inout Int, _ isBehind: (Segment) -> Void
    ) throws(LogFailure) -> Bool {
        let segment = fold.segment
        var held = HeldRecord()
        defer { held.take(of: segment, &fold.state) }
        return try segment.readOn(from: &fold.position) { offset, bodyCount, sequence, isControl in
            held.follow(
                with: HeldRecord(offset, bodyCount, sequence, isControl, State.self, in: segment.map), of: segment,
                &fold.state)
            count += 1
            if count.isMultiple(of: Self.lag) { isBehind(segment) }
        }
    }

    /// Takes the segment that the position is in.
    private func follow(_ fold: inout Fold) throws(LogFailure) {
        if fold.position.segment == fold.segment.header.number { return }
        if let segment = try log.segment(fold.position.segment) { fold.segment = segment }
    }

    /// Opens the segments again, because a reader that may not write sees new records only then: see
    /// `SegmentedLog.lookAnew`.
    private func lookAnew(_ fold: inout Fold) throws(LogFailure) {
        try log.lookAnew()
        if let segment = try log.segment(fold.position.segment) {
            fold.segment = segment
        } else {
            fold = Self.beginning(of: try log.last())
        }
    }

    /// Returns the position after a damaged record, which is left out of the state. If the start of the next record is
    /// unknown, the segment is cut, and the next append creates another.
    func positionBehindDamage(
        _ position: LogPosition, _ error: LogFailure
    ) throws(LogFailure) -> LogPosition {
        guard let damage = error.damage else { throw error }
        if let next = try? log.positionBehindBroken(position) {
            diagnostics.report(State.damage.code, item: error.file, "a record was passed over: \(damage.cause)")
            return next
        }
        if isReadOnly { throw error }
        let segment = try log.last()
        _ = try log.findEnd(of: segment)
        // Without a cut there, the next attempt would meet the same damage.
        guard segment.name == error.file, segment.cut != nil else { throw error }
        return position
    }
}

extension CompactedLog {
    private enum Outcome {
        case appended(LogPosition)
        case refused
        /// Another member was faster.
        case lost(Segment)
        /// Another member has reserved a record, and not committed it yet.
        case pending(Segment, RecordHeader, offset: Int)
        case full(Segment, end: Int)
        case isOthersPriority(Segment)
    }

    /// Appends a record exactly at the end of what was read, if `holds` accepts the state; else returns nil. Returns
    /// the position after the record; its sequence is the record's number. The effect on the state is applied without
    /// reading the record again. Wait-free except for the time of other writers' priorities.
    func append(
        _ body: [UInt8], isControl: Bool = false, _ attempt: inout AppendAttempt,
        if holds: (State) throws(CoordinationError) -> Bool, applying apply: (inout State, _ sequence: UInt64) -> Void
    ) throws(CoordinationError) -> LogPosition? {
        let slot = memberTable.slot ?? 0
        while true {
            let outcome = try fold.withLock { (fold) throws(CoordinationError) -> Outcome in
                try translating(catchUp(&fold) { attempt.noteLag(by: slot, in: $0) })
                // After reading on, because a priority in a segment that is full does not matter any more.
                if attempt.isOthersPriority(in: fold.segment) { return .isOthersPriority(fold.segment) }
                if try !holds(fold.state) { return .refused }
                let result = try translating(
                    log.tryAppending(body, isControl: isControl, exactlyAt: fold.position, in: fold.segment))
                switch result {
                case .appended(let end):
                    apply(&fold.state, end.sequence)
                    if end.segment != fold.position.segment, let segment = try translating(log.segment(end.segment)) {
                        fold.segment = segment
                    }
                    fold.position = end
                    return .appended(end)
                case .occupied: return .lost(fold.segment)
                case .pending(let segment, let record, let offset): return .pending(segment, record, offset: offset)
                case .full(let segment, let end): return .full(segment, end: end)
                }
            }
            switch outcome {
            case .appended(let end): return end
            case .refused: return nil
            case .lost(let segment): attempt.noteLoss(by: slot, in: segment)
            case .pending(let segment, let record, let offset):
                _ = segment.awaitOrAbort(record, at: offset)
                attempt.noteLoss(by: slot, in: segment)
            case .full(let segment, let end):
                // The priority ends with the segment; otherwise this member would wait for itself.
                attempt.end()
                try translating(compact(segment, sealedAt: end, needed: body.count))
            case .isOthersPriority(let segment): attempt.letOthersPass(in: segment)
            }
        }
    }

    /// Creates the next segment, whose preamble is what was read of this one. The state is copied for it, so that other
    /// threads of this process can go on reading.
    private func compact(_ segment: Segment, sealedAt end: Int, needed: Int) throws(LogFailure) {
        _ = try log.successor(of: segment, sealedAt: end, needed: needed) {
            (segment, end, needed) throws(LogFailure) in
            let (state, position) = try present()
            // Otherwise the segment is read for it.
            if position.segment != segment.header.number || position.offset != end { return nil }
            return try Self.preamble(of: state, in: segment, before: end, needed: needed)
        }
    }

    /// Creates the next segment where the disk has refused to keep this one, whose content is written again: then both
    /// are kept.
    private func renew(_ position: LogPosition) throws(LogFailure) {
        guard let segment = try log.segment(position.segment), segment.hasFailedSync,
            !segment.isDurable(through: position.offset)
        else {
            return
        }
        let end = try log.findEnd(of: segment)
        if end.isSealed { try compact(segment, sealedAt: end.offset, needed: 0) }
    }
}

/// The compaction of a log. A log grows with every append; when a segment is full, the next one begins with the state
/// of all before it. The member that meets the full segment does that, while the others read and write on; no member
/// has to wait for a member that is stopped.
extension CompactedLog {
    /// Returns the next segment's preamble, from the records of this one. Linear in the segment.
    static func preamble(
        of segment: Segment, before end: Int, needed: Int, _ diagnostics: DiagnosticHub
    ) throws(LogFailure) -> SegmentPreamble {
        var state = State(last: segment.header.base)
        let broken = try segment.forEachCommitted(before: end) { body, sequence, isControl in
            state.apply(body, at: sequence, isControl: isControl)
        }
        if broken > 0 {
            diagnostics.report(
                State.damage.code, item: segment.name, count: broken,
                "records that do not fit their checksums were left out; \(State.damage.meaning)")
        }
        return try preamble(of: state, in: segment, before: end, needed: needed)
    }

    /// Returns the next segment's preamble, from the state that was read. Linear in the state, and in the segment if
    /// records of it are carried.
    static func preamble(
        of state: State, in segment: Segment, before end: Int, needed: Int
    ) throws(LogFailure) -> SegmentPreamble {
        var bodies = state.carriedBodies()
        if state.carriesRecords {
            _ = try segment.forEachCommitted(before: end) { body, sequence, isControl in
                if let body = state.carried(body, at: sequence, isControl: isControl) { bodies.append(body) }
            }
        }
        let capacity = SegmentPreamble.capacity(
            holding: SegmentPreamble.size(of: bodies), needed: needed, after: segment)
        return SegmentPreamble(bodies: bodies, capacity: capacity)
    }
}

/// The sizes of segments.
extension SegmentPreamble {
    /// The size of a log's first segment, in bytes.
    static let smallest = 262_144
    /// Segments grow up to this size, so that a busy log is not compacted all the time; those of a large state are
    /// larger.
    static let largestForBusyness = 1 << 25
    /// The upper limit of a segment's size, in bytes.
    static let largest = 1 << 32 - 4_096
    /// A segment that was full sooner than this, in nanoseconds, is followed by a larger one; one that lasted longer
    /// than `quiet`, by a smaller one.
    private static let busy: Int64 = 1_000_000_000
    private static let quiet: Int64 = 3_600_000_000_000

    /// Returns the size of a segment that does not follow a full one.
    static func capacity(holding size: Int) -> Int {
        var wanted = smallest
        while wanted < SegmentHeader.size + size * 4 { wanted *= 2 }
        return min(wanted, largest)
    }

    /// Returns the size of the segment after another: at least four times its preamble, so that an append costs the
    /// same however large the state is. The work of compacting is spread over three times as many bytes as it copies.
    static func capacity(holding size: Int, needed: Int, after segment: Segment) -> Int {
        let lasted = wallNanoseconds() - max(0, segment.header.created)
        var wanted = min(segment.capacity, largestForBusyness)
        if lasted < busy { wanted = min(wanted * 2, largestForBusyness) }
        if lasted > quiet { wanted = max(wanted / 2, smallest) }
        let least = SegmentHeader.size + size * 4 + Segment.byteCount(bodyCount: needed) * 2
        while wanted < least { wanted *= 2 }
        return min(wanted, largest)
    }
}

extension CompactedLog {
    var waiter: LogWaiter { LogWaiter(memberTable: memberTable, word: wakeWord, sleeper: sleeper) }
}
