import GroupSystemCalls

/// A log that is compacted, as this member has it: the state that its records come to, kept up with it. However many
/// objects of a process refer to the log, they share it. A suite's and a channel's are such.
///
/// Reading takes a mutex of this process and, where nothing has changed, one load; no system call. Appending decides
/// upon the state, and makes no system call either, unless somebody waits for it, or a file of the log is full. Under
/// the mutex nobody waits, and nothing is written but a record: who reads never waits for who writes.
final class FoldedLog<State: FoldedState>: Sendable {
    let name: String
    /// Not the other way round: the member keeps its logs.
    let memberTable: MemberTable
    let diagnostics: DiagnosticDesk
    private let lockManager: LockManager
    private let readOnly: ReadOnlyReason?
    var isReadOnly: Bool { readOnly != nil }
    let log: MappedLog
    /// Those who wait for a change of it sleep on this word. Several logs may share one: then they wake for nothing.
    let wakeWord: Int

    struct Fold: Sendable {
        var state: State
        var position: LogPosition
        /// Of the position's, so that one load tells that nothing has changed.
        var file: LogFile
    }
    let fold: Guarded<Fold>
    let sleeper: Sleeper

    /// Nil where there is none, unless it is to be made. `label` is its directory, `wakeLabel` what its wake word comes
    /// of.
    static func open(
        _ member: Member, _ name: String, label: String, wakeLabel: String, creating: Bool
    ) throws(CoordinationError) -> FoldedLog? {
        if creating { return try make(member, name, label, wakeLabel) }
        guard let directory = try member.directory.existingDirectory(label) else { return nil }
        return try FoldedLog(member, name, label, wakeLabel, directory)
    }

    /// Where its first file cannot be made, its directory goes again; so it may go under who is just making a file in
    /// it.
    private static func make(
        _ member: Member, _ name: String, _ label: String, _ wakeLabel: String
    ) throws(CoordinationError) -> FoldedLog {
        var attempts = 100
        while true {
            do {
                return try FoldedLog(member, name, label, wakeLabel, member.directory.ownDirectory(label))
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
        sleeper = Sleeper(memberTable, word: wakeWord)
        var surroundings = member.journal.log.surroundings
        surroundings.capacity = LogPreamble.smallest
        surroundings.diagnostics = member.diagnostics
        surroundings.carrying = { [diagnostics] file, end, needed throws(CoordinationError) in
            try Self.preamble(of: file, before: end, needed: needed, diagnostics)
        }
        log = try MappedLog(name: label, directory: directory, surroundings)
        if !member.isReadOnly { try log.recover() }
        fold = Guarded(Self.beginning(of: try log.last()))
        try fold.withLock { (fold) throws(CoordinationError) in try catchUp(&fold) }
    }

    /// A file that was compacted says all that was before it, so the last one will do.
    static func beginning(of file: LogFile) -> Fold {
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
        _ name: String, in logs: Guarded<[String: FoldedLog<State>]>,
        _ open: () throws(CoordinationError) -> FoldedLog<State>?
    ) throws(CoordinationError) -> FoldedLog<State>? {
        try logs.withLock { (logs) throws(CoordinationError) in
            if let log = logs[name] { return log }
            let log = try open()
            logs[name] = log
            return log
        }
    }
}
