import GroupSystemCalls

/// A log that is compacted, as this member has it: the state that its records come to, kept up with it. However many
/// objects of a process refer to the log, they share it. A suite's and a channel's are such.
///
/// Reading takes a mutex of this process and, where nothing has changed, one load; no system call. Appending decides
/// upon the state, and makes no system call either, unless somebody waits for it, or a file of the log is full. Under
/// the mutex nobody waits, and nothing is written but a record: who reads never waits for who writes.
final class CompactedLog<State: LogState>: Sendable {
    let name: String
    /// Not the other way round: the member keeps its logs.
    let memberTable: MemberTable
    let diagnostics: DiagnosticFeed
    private let lockManager: LockManager
    private let readOnly: ReadOnlyReason?
    var isReadOnly: Bool { readOnly != nil }
    let log: SegmentedLog
    /// Those who wait for a change of it sleep on this word. Several logs may share one: then they wake for nothing.
    let wakeWord: Int

    struct Fold: Sendable {
        var state: State
        var position: LogPosition
        /// Of the position's, so that one load tells that nothing has changed.
        var file: Segment
    }
    let fold: Guarded<Fold>
    let sleeper: WakeWaiter

    /// Nil where there is none, unless it is to be made. `label` is its directory, `wakeLabel` what its wake word comes
    /// of.
    static func open(
        _ member: Member, _ name: String, label: String, wakeLabel: String, creating: Bool
    ) throws(CoordinationError) -> CompactedLog? {
        if creating { return try make(member, name, label, wakeLabel) }
        guard let directory = try member.directory.existingDirectory(label) else { return nil }
        return try CompactedLog(member, name, label, wakeLabel, directory)
    }

    /// Where its first file cannot be made, its directory goes again; so it may go under who is just making a file in
    /// it.
    private static func make(
        _ member: Member, _ name: String, _ label: String, _ wakeLabel: String
    ) throws(CoordinationError) -> CompactedLog {
        var attempts = 100
        while true {
            do {
                return try CompactedLog(member, name, label, wakeLabel, member.directory.ownDirectory(label))
            } catch {
                // Not where anything is in it.
                try? member.directory.group.unlink(Array(label.utf8), directory: true)
                attempts -= 1
                if error.code != .notFound || attempts == 0 { throw error }
            }
        }
    }

    private init(
        _ member: Member, _ name: String, _ label: String, _ wakeLabel: String, _ directory: consuming FileDescriptor
    ) throws(CoordinationError) {
        (self.name, memberTable, diagnostics, lockManager) = (
            name, member.memberTable, member.diagnostics, member.lockManager
        )
        readOnly = member.readOnly
        // The first words are others'.
        let first = 8
        wakeWord = first + Int(member.hashKey.hash(wakeLabel.utf8) % UInt64(MemberTableLayout.wakeCount - first))
        sleeper = WakeWaiter(memberTable, word: wakeWord)
        var surroundings = member.journal.log.surroundings
        surroundings.capacity = SegmentPreamble.smallest
        surroundings.diagnostics = member.diagnostics
        surroundings.carrying = { [diagnostics] file, end, needed throws(CoordinationError) in
            try Self.preamble(of: file, before: end, needed: needed, diagnostics)
        }
        log = try SegmentedLog(name: label, directory: directory, surroundings)
        if !member.isReadOnly { try log.recover() }
        fold = Guarded(Self.beginning(of: try log.last()))
        try fold.withLock { (fold) throws(CoordinationError) in try catchUp(&fold) }
    }

    /// A file that was compacted says all that was before it, so the last one will do.
    static func beginning(of file: Segment) -> Fold {
        Fold(state: State(last: file.header.base), position: .start(of: file.header), file: file)
    }

    func checkNotForked(_ operation: String) throws(CoordinationError) {
        if lockManager.forkGeneration == GroupSystemCalls.forkGeneration { return }
        throw CoordinationError(
            .forked, item: log.name, operation: operation,
            cause: "this process is a forked child of the one that opened the container",
            advice: "open it anew in the child")
    }

    func checkMayWrite(_ operation: String) throws(CoordinationError) {
        try checkNotForked(operation)
        if let readOnly { throw readOnly.error(log.name, operation) }
    }

    /// Who waits for a change looks again.
    func wake() { memberTable.wake(wakeWord) }

    /// Everything before a place is on the disk when it returns. System calls: fdatasync(2), once for all who wait
    func synchronize(through place: LogPosition) throws(CoordinationError) {
        try renew(place)
        try log.synchronize(through: place, togetherBy: wakeWord, memberTable)
    }
}

extension Member {
    /// A log that this member keeps as long as it lives; nil where there is none, unless it is to be made.
    func keep<State>(
        _ name: String, in logs: Guarded<[String: CompactedLog<State>]>,
        _ open: () throws(CoordinationError) -> CompactedLog<State>?
    ) throws(CoordinationError) -> CompactedLog<State>? {
        try logs.withLock { (logs) throws(CoordinationError) in
            if let log = logs[name] { return log }
            let log = try open()
            logs[name] = log
            return log
        }
    }
}

extension CompactedLog {
    /// The state as of now: of everything that was appended before this call.
    func checkedRead<Answer>(_ look: (State) -> Answer) throws(CoordinationError) -> Answer {
        try checkNotForked("read")
        return try fold.withLock { (fold) throws(CoordinationError) -> Answer in
            try catchUp(&fold)
            return look(fold.state)
        }
    }

    /// The state to decide upon. As long as the attempt is behind what others append, it asks for its turn.
    func read<Answer>(
        for attempt: inout AppendAttempt, _ look: (State) -> Answer
    ) throws(CoordinationError) -> Answer {
        try checkNotForked("read")
        let slot = memberTable.slot ?? 0
        return try fold.withLock { (fold) throws(CoordinationError) -> Answer in
            try catchUp(&fold) { attempt.noteLag(slot: slot, in: $0) }
            return look(fold.state)
        }
    }

    /// The state, and the place behind all that it is made of.
    func present() throws(CoordinationError) -> (State, LogPosition) {
        try fold.withLock { (fold) throws(CoordinationError) in
            try catchUp(&fold)
            return (fold.state, fold.position)
        }
    }

    /// Where its caller is. A load tells whether there is more.
    var mark: (file: Segment, offset: Int) { fold.withLock { ($0.file, $0.position.offset) } }

    /// Who writes may go on faster than this reads.
    private static var lag: Int { 16_384 }

    /// Reads the log to its end, or to what was begun there and is not committed yet. Linear in what is new. Every so
    /// many records it says that it has not got there yet.
    func catchUp(_ fold: inout Fold, isBehind: (Segment) -> Void = { _ in }) throws(CoordinationError) {
        if log.isOnlyForReading {
            try lookAnew(&fold)
        } else if fold.file.isEnd(fold.position) {
            return
        }
        var count = 0
        while true {
            let step: SegmentedLog.Step
            do {
                if try readOn(&fold, &count, isBehind) { return }
                step = try log.knownStep(behind: fold.position, waits: false)
            } catch {
                fold.position = try placeBehindDamage(fold.position, error)
                continue
            }
            switch step {
            case .entry(let entry):
                if entry.isControl, entry.position.file != fold.position.file,
                    let file = try log.file(entry.position.file)
                {
                    // What was read up to the end of the file before it is what it begins with.
                    (fold.position, fold.file) = (file.placeBehindCarried, file)
                    continue
                }
                fold.position = entry.position
                fold.state.apply(entry.body, at: entry.position.sequence, isControl: entry.isControl)
            case .gap(let place):
                // Not everything was read that the next file begins with.
                if place.file != fold.position.file { fold.state = State(last: place.sequence) }
                fold.position = place
                try follow(&fold)
            case .end: return try follow(&fold)
            // What was missed is in what the last file begins with.
            case .lost: fold = Self.beginning(of: try log.last())
            }
        }
    }

    /// In its file. Of records that set the same key one after the other, only the last one is taken: who was away
    /// while others counted need not count after them.
    private func readOn(
        _ fold: inout Fold, _ count: inout Int, _ isBehind: (Segment) -> Void
    ) throws(CoordinationError) -> Bool {
        let file = fold.file
        var held = HeldRecord()
        defer { held.take(of: file, &fold.state) }
        return try file.readOn(from: &fold.position) { offset, bodyCount, sequence, isControl in
            held.follow(
                with: HeldRecord(offset, bodyCount, sequence, isControl, State.self, in: file.map), of: file,
                &fold.state)
            count += 1
            if count.isMultiple(of: Self.lag) { isBehind(file) }
        }
    }

    /// The file that its place is in.
    private func follow(_ fold: inout Fold) throws(CoordinationError) {
        if fold.position.file == fold.file.header.number { return }
        if let file = try log.file(fold.position.file) { fold.file = file }
    }

    /// Who may only read sees what others append in files that were opened anew: see `SegmentedLog.lookAnew`.
    private func lookAnew(_ fold: inout Fold) throws(CoordinationError) {
        try log.lookAnew()
        if let file = try log.file(fold.position.file) {
            fold.file = file
        } else {
            fold = Self.beginning(of: try log.last())
        }
    }

    /// A record that is not what was written is passed over: the state is as if it had never been. Where nobody can
    /// tell where the next one begins, the file ends, and the next append makes another.
    func placeBehindDamage(
        _ position: LogPosition, _ error: CoordinationError
    ) throws(CoordinationError) -> LogPosition {
        if error.code != .damaged { throw error }
        if let place = try? log.placeBehindBroken(position) {
            diagnostics.tell(State.damage.code, item: error.item, "a record was passed over: \(error.cause)")
            return place
        }
        if isReadOnly { throw error }
        let file = try log.last()
        _ = try log.findEnd(of: file)
        // Else nothing would be gained by looking again.
        guard file.cut != nil else { throw error }
        return position
    }
}

extension CompactedLog {
    private enum Outcome {
        case appended(LogPosition)
        case refused
        /// Others were quicker.
        case lost(Segment)
        /// Others have begun a record, and not committed it yet.
        case pending(Segment, RecordHeader, offset: Int)
        case full(Segment, end: Int)
        case isOthersTurn(Segment)
    }

    /// Appends a record exactly at the end of what was read, if the state is one for it; else nil. The place behind it,
    /// whose sequence is its number. What it does to the state is applied without being read again. Wait-free but for
    /// the time that others' turns take.
    func append(
        _ body: [UInt8], isControl: Bool = false, _ attempt: inout AppendAttempt,
        if holds: (State) throws(CoordinationError) -> Bool, applying apply: (inout State, _ sequence: UInt64) -> Void
    ) throws(CoordinationError) -> LogPosition? {
        let slot = memberTable.slot ?? 0
        while true {
            let outcome = try fold.withLock { (fold) throws(CoordinationError) -> Outcome in
                try catchUp(&fold) { attempt.noteLag(slot: slot, in: $0) }
                // After that, since whose turn it is in a file that is full does not matter any more.
                if attempt.isOthersTurn(in: fold.file) { return .isOthersTurn(fold.file) }
                if try !holds(fold.state) { return .refused }
                switch try log.tryAppending(body, isControl: isControl, exactlyAt: fold.position, in: fold.file) {
                case .appended(let place):
                    apply(&fold.state, place.sequence)
                    if place.file != fold.position.file, let file = try log.file(place.file) { fold.file = file }
                    fold.position = place
                    return .appended(place)
                case .taken: return .lost(fold.file)
                case .pending(let file, let record, let offset): return .pending(file, record, offset: offset)
                case .full(let file, let end): return .full(file, end: end)
                }
            }
            switch outcome {
            case .appended(let place): return place
            case .refused: return nil
            case .lost(let file): attempt.noteLoss(slot: slot, in: file)
            case .pending(let file, let record, let offset):
                _ = file.awaitOrVoid(record, at: offset)
                attempt.noteLoss(slot: slot, in: file)
            case .full(let file, let end):
                // Its own turn is over with the file; else it would wait for itself.
                attempt.end()
                try compact(file, sealedAt: end, needed: body.count)
            case .isOthersTurn(let file): attempt.letOthersPass(in: file)
            }
        }
    }

    /// Has the next file made, which begins with what was read of this one. The state is copied for it, so that others
    /// of this process can go on reading.
    private func compact(_ file: Segment, sealedAt end: Int, needed: Int) throws(CoordinationError) {
        _ = try log.successor(of: file, sealedAt: end, needed: needed) {
            (file, end, needed) throws(CoordinationError) in
            let (state, position) = try present()
            // Else it is read for it.
            if position.file != file.header.number || position.offset != end { return nil }
            return try Self.preamble(of: state, in: file, before: end, needed: needed)
        }
    }

    /// Where the disk has refused to keep a file, what is in it is written again, and the next one is made: then it is
    /// kept.
    func renew(_ place: LogPosition) throws(CoordinationError) {
        guard let file = try log.file(place.file), file.isPoisoned, !file.isDurable(through: place.offset) else {
            return
        }
        let end = try log.findEnd(of: file)
        if end.isSealed { try compact(file, sealedAt: end.offset, needed: 0) }
    }
}

/// A log grows with every append; when a file of it is full, the next one begins with what all before it came to.
/// The member that meets the full file does that, while the others read and write on; no member has to wait for a
/// member that is stopped.
extension CompactedLog {
    /// What the next file begins with, by what is in the file. Linear in it.
    static func preamble(
        of file: Segment, before end: Int, needed: Int, _ diagnostics: DiagnosticFeed
    ) throws(CoordinationError) -> SegmentPreamble {
        var state = State(last: file.header.base)
        let broken = try file.forEachCommitted(before: end) { body, sequence, isControl in
            state.apply(body, at: sequence, isControl: isControl)
        }
        if broken > 0 {
            diagnostics.tell(
                State.damage.code, item: file.name, count: broken,
                "records that do not fit their checksums were left out; \(State.damage.meaning)")
        }
        return try preamble(of: state, in: file, before: end, needed: needed)
    }

    /// The same by what was read of it. Linear in the state, and in the file as far as records of it are carried.
    static func preamble(
        of state: State, in file: Segment, before end: Int, needed: Int
    ) throws(CoordinationError) -> SegmentPreamble {
        var bodies = state.carriedBodies()
        if state.carriesRecords {
            _ = try file.forEachCommitted(before: end) { body, sequence, isControl in
                if let body = state.carried(body, at: sequence, isControl: isControl) { bodies.append(body) }
            }
        }
        let capacity = SegmentPreamble.capacity(holding: SegmentPreamble.size(of: bodies), needed: needed, after: file)
        return SegmentPreamble(bodies: bodies, capacity: capacity)
    }
}

/// How large files are.
extension SegmentPreamble {
    /// Of a log's first file, in bytes.
    static let smallest = 262_144
    /// Files grow up to this, so that a busy log is not compacted all the time; a large one's are larger.
    static let largestForBusyness = 1 << 25
    /// What a file can be, in bytes.
    private static let largest = 1 << 32 - 4_096
    /// A file that was full sooner than this is followed by a larger one; one that lasted much longer, by a smaller.
    private static let busy: Int64 = 1_000_000_000
    private static let quiet: Int64 = 3_600_000_000_000

    /// Of one that follows nothing in particular.
    static func capacity(holding size: Int) -> Int {
        var wanted = smallest
        while wanted < SegmentHeader.size + size * 4 { wanted *= 2 }
        return min(wanted, largest)
    }

    /// At least four times what it holds, so that an append costs the same however large the state is: the work of
    /// compacting is spread over as many bytes as it copies, three times.
    static func capacity(holding size: Int, needed: Int, after file: Segment) -> Int {
        let lasted = wallNanoseconds() - max(0, file.header.created)
        var wanted = min(file.capacity, largestForBusyness)
        if lasted < busy { wanted = min(wanted * 2, largestForBusyness) }
        if lasted > quiet { wanted = max(wanted / 2, smallest) }
        let least = SegmentHeader.size + size * 4 + Segment.byteCount(bodyCount: needed) * 2
        while wanted < least { wanted *= 2 }
        return min(wanted, largest)
    }
}
