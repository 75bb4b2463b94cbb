import SystemCalls

/// One channel, as this member has it: what its log comes to, kept up with it, without what the messages say. However
/// many `GroupChannel` of a process refer to the channel, they share it. See `SuiteStore`, which does the same for
/// defaults.
final class ChannelStore: Sendable {
    let name: String
    /// Not the other way round: the member keeps its stores.
    let roster: Roster
    let diagnostics: DiagnosticDesk
    private let desk: LeaseDesk
    let isReadOnly: Bool
    let log: MappedLog
    /// Those who wait for a message sleep on this word. Channels and suites may share one: then they wake for nothing.
    let wakeWord: Int

    struct Fold: Sendable {
        var state: ChannelState
        var position: LogPosition
        /// Of the position's.
        var file: LogFile
    }
    let fold: Guarded<Fold>
    let sleeper: Sleeper

    /// Nil where there is none, unless it is to be made.
    static func open(_ member: Member, channel: String, creating: Bool) throws(CoordinationError) -> ChannelStore? {
        let label = "channels/\(channel)"
        if creating { return try ChannelStore(member, channel, label, member.folder.ownFolder(label)) }
        guard let folder = try member.folder.existingFolder(label) else { return nil }
        return try ChannelStore(member, channel, label, folder)
    }

    private init(
        _ member: Member, _ channel: String, _ label: String, _ folder: consuming FileDescriptor
    ) throws(CoordinationError) {
        (name, roster, diagnostics, desk) = (channel, member.roster, member.diagnostics, member.desk)
        isReadOnly = member.isReadOnly
        // The first words are others'.
        let first = 8
        let words = UInt64(RosterLayout.wakeCount - first)
        wakeWord = first + Int(member.hashKey.hash(label.utf8) % words)
        sleeper = Sleeper(roster, word: wakeWord)
        var surroundings = member.journal.log.surroundings
        surroundings.capacity = SuiteCompaction.smallest
        surroundings.diagnostics = member.diagnostics
        surroundings.carrying = { [diagnostics] file, end, needed throws(CoordinationError) in
            try ChannelCompaction.carriage(of: file, before: end, needed: needed, diagnostics)
        }
        log = try MappedLog(name: label, folder: folder, surroundings)
        if !member.isReadOnly { try log.recover() }
        fold = Guarded(Self.beginning(of: try log.last()))
        try fold.withLock { (fold) throws(CoordinationError) in try catchUp(&fold, waits: false) }
    }

    /// A file that was compacted says all that was before it, so the last one will do.
    private static func beginning(of file: LogFile) -> Fold {
        Fold(state: ChannelState(last: file.header.base), position: .start(of: file.header), file: file)
    }

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

    /// The state as of now: of everything that was posted and acknowledged before this call.
    func read<Answer>(_ look: (ChannelState) -> Answer) throws(CoordinationError) -> Answer {
        try checkNotForked("read")
        return try fold.withLock { (fold) throws(CoordinationError) -> Answer in
            try catchUp(&fold, waits: false)
            return look(fold.state)
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
                let isAtEnd = try file.readOn(from: &fold.position) { body, place, isControl in
                    fold.state.apply(body, at: place.sequence, isControl: isControl)
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
                fold.state.apply(entry.body, at: entry.position.sequence, isControl: entry.isControl)
            case .gap(let place):
                // Not everything was read that the next file begins with.
                if place.file != fold.position.file { fold.state = ChannelState(last: place.sequence) }
                fold.position = place
                try follow(&fold)
            case .end:
                try follow(&fold)
                return
            // What was missed is in what the last file begins with.
            case .lost: fold = Self.beginning(of: try log.last())
            }
        }
    }

    /// A record that is not what was written is passed over. Where nobody can tell where the next one begins, the file
    /// ends, and the next post makes another.
    func placeBehindDamage(
        _ position: LogPosition, _ error: CoordinationError
    ) throws(CoordinationError) -> LogPosition {
        if error.code != .damaged { throw error }
        if let place = try? log.placeBehindBroken(position) {
            diagnostics.tell(.channelDamaged, item: error.item, "a record was passed over: \(error.cause)")
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

extension Member {
    /// This member's store of a channel, which it keeps as long as it lives; nil where there is none, unless it is to
    /// be made.
    func channel(_ name: String, creating: Bool) throws(CoordinationError) -> ChannelStore? {
        try channels.withLock { (channels) throws(CoordinationError) in
            if let store = channels[name] { return store }
            let store = try ChannelStore.open(self, channel: name, creating: creating && !isReadOnly)
            channels[name] = store
            return store
        }
    }
}
