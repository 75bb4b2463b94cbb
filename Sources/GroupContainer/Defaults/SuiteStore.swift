import SystemCalls

/// One suite, as this member has it: the state that its log comes to, kept up with it. However many `GroupDefaults` of a
/// process refer to the suite, they share it.
///
/// Reading takes a mutex of this process and, where nothing has changed, one load; no system call. Setting appends one
/// record; no system call either, unless somebody waits for changes, or a file of the log is full.
final class SuiteStore: Sendable {
    let name: String
    /// Not the other way round: the member keeps its stores.
    let roster: Roster
    let diagnostics: DiagnosticDesk
    private let desk: LeaseDesk
    let isReadOnly: Bool
    let log: MappedLog
    /// Those who wait for a change of it sleep on this word. Suites may share one: then they wake for nothing.
    let wakeWord: Int

    struct Fold: Sendable {
        var state: SuiteState
        var position: LogPosition
        /// Of the position's, so that one load tells that nothing has changed.
        var file: LogFile
    }
    let fold: Guarded<Fold>
    let sleeper: Sleeper

    /// Nil where there is none, unless it is to be made.
    static func open(_ member: Member, suite: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        let label = "defaults/\(suite)"
        if creating { return try SuiteStore(member, suite, label, member.folder.ownFolder(label)) }
        guard let folder = try member.folder.existingFolder(label) else { return nil }
        return try SuiteStore(member, suite, label, folder)
    }

    private init(
        _ member: Member, _ suite: String, _ label: String, _ folder: consuming FileDescriptor
    ) throws(CoordinationError) {
        (name, roster, diagnostics, desk) = (suite, member.roster, member.diagnostics, member.desk)
        isReadOnly = member.isReadOnly
        wakeWord = Self.wakeWord(of: suite, member.hashKey)
        sleeper = Sleeper(roster, word: wakeWord)
        var surroundings = member.journal.log.surroundings
        surroundings.capacity = SuiteCompaction.smallest
        surroundings.diagnostics = member.diagnostics
        surroundings.carrying = { [diagnostics] file, end, needed throws(CoordinationError) in
            try SuiteCompaction.carriage(of: file, before: end, needed: needed, diagnostics)
        }
        log = try MappedLog(name: label, folder: folder, surroundings)
        if !member.isReadOnly { try log.recover() }
        let start = try Self.start(log)
        fold = Guarded(Fold(state: SuiteState(), position: .start(of: start.header), file: start))
        try fold.withLock { (fold) throws(CoordinationError) in try catchUp(&fold, waits: false) }
    }

    /// The first words are others'.
    private static func wakeWord(of suite: String, _ key: SipHash) -> Int {
        let first = 8
        return first + Int(key.hash(suite.utf8) % UInt64(RosterLayout.wakeCount - first))
    }

    /// A file that was compacted says all that was before it, so the last one will do.
    private static func start(_ log: MappedLog) throws(CoordinationError) -> LogFile { try log.last() }

    func checkNotForked(_ operation: String) throws(CoordinationError) {
        if desk.forkGeneration == SystemCalls.forkGeneration { return }
        throw CoordinationError(
            .forked, item: log.name, operation: operation,
            cause: "this process is a forked child of the one that opened the container",
            advice: "open it anew in the child")
    }

    /// Who writes may go on faster than this reads.
    private static let lag = 256

    /// The file that its place is in.
    private func follow(_ fold: inout Fold) throws(CoordinationError) {
        if fold.position.file == fold.file.header.number { return }
        if let file = try log.file(fold.position.file) { fold.file = file }
    }

    // MARK: Reading

    /// The state as of now: of everything that was set before this call. Where the log cannot be read, the state before
    /// that, and the diagnostics say so.
    func read<Answer>(_ look: (SuiteState) -> Answer) -> Answer {
        fold.withLock { fold in
            if fold.file.map.load64(fold.position.offset) != 0 { catchUpOrTell(&fold) }
            return look(fold.state)
        }
    }

    /// The same; what is wrong with the log is an error.
    func checkedRead<Answer>(_ look: (SuiteState) -> Answer) throws(CoordinationError) -> Answer {
        try checkNotForked("read")
        return try fold.withLock { (fold) throws(CoordinationError) -> Answer in
            try catchUp(&fold, waits: false)
            return look(fold.state)
        }
    }

    /// Where its caller is. A load tells whether there is more.
    var mark: (file: LogFile, offset: Int) { fold.withLock { ($0.file, $0.position.offset) } }

    private func catchUpOrTell(_ fold: inout Fold) {
        do {
            try catchUp(&fold, waits: false)
        } catch {
            diagnostics.tell(.defaultsUnreadable, item: error.item, "the values before are given: \(error)")
        }
    }

    /// Reads the log to its end; with `waits`, what was begun before it gets its time. Linear in what is new. Every so
    /// many records it says that it has not got there yet.
    func catchUp(
        _ fold: inout Fold, waits: Bool, isBehind: (LogFile) -> Void = { _ in }
    ) throws(CoordinationError) {
        var count = 0
        while true {
            let step: MappedLog.Step
            do {
                let file = fold.file
                let isAtEnd = try file.readOn(from: &fold.position) { body, place, _ in
                    fold.state.take(body, at: place.sequence)
                    count += 1
                    if count.isMultiple(of: Self.lag) { isBehind(file) }
                }
                if isAtEnd { return }
                step = try log.knownStep(behind: fold.position, waits: waits)
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
                fold.state.take(entry.body, at: entry.position.sequence)
            case .gap(let place):
                fold.position = place
                try follow(&fold)
            case .end:
                try follow(&fold)
                return
            // What was missed is in what the last file begins with.
            case .lost:
                fold.file = try Self.start(log)
                (fold.state, fold.position) = (SuiteState(), .start(of: fold.file.header))
            }
        }
    }
}

extension SuiteStore {
    /// A record that is not what was written is passed over: its keys have their values before. Where nobody can tell
    /// where the next one begins, the file ends, and the next set makes another.
    func placeBehindDamage(
        _ position: LogPosition, _ error: CoordinationError
    ) throws(CoordinationError) -> LogPosition {
        if error.code != .damaged { throw error }
        if let place = try? log.placeBehindBroken(position) {
            diagnostics.tell(.defaultsDamaged, item: error.item, "a record was passed over: \(error.cause)")
            return place
        }
        if isReadOnly { throw error }
        let file = try log.last()
        _ = try log.findEnd(of: file)
        // Else nothing would be gained by looking again.
        guard file.cut != nil else { throw error }
        return position
    }

    /// Everything that is set, and the place behind it.
    func present() throws(CoordinationError) -> (SuiteState, LogPosition) {
        try fold.withLock { (fold) throws(CoordinationError) in
            try catchUp(&fold, waits: false)
            return (fold.state, fold.position)
        }
    }
}

extension Member {
    /// This member's store of a suite, which it keeps as long as it lives; nil where there is none, unless it is to be made.
    func suite(_ name: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        try suites.withLock { (suites) throws(CoordinationError) in
            if let store = suites[name] { return store }
            let store = try SuiteStore.open(self, suite: name, creating: creating && !isReadOnly)
            suites[name] = store
            return store
        }
    }
}
