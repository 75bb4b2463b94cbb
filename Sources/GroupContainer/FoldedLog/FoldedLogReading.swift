import GroupSystemCalls

extension FoldedLog {
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
        for attempt: inout LogAttempt, _ look: (State) -> Answer
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
    var mark: (file: LogFile, offset: Int) { fold.withLock { ($0.file, $0.position.offset) } }

    /// Who writes may go on faster than this reads.
    private static var lag: Int { 16_384 }

    /// Reads the log to its end, or to what was begun there and is not committed yet. Linear in what is new. Every so
    /// many records it says that it has not got there yet.
    func catchUp(_ fold: inout Fold, isBehind: (LogFile) -> Void = { _ in }) throws(CoordinationError) {
        if log.isOnlyForReading {
            try lookAnew(&fold)
        } else if fold.file.isEnd(fold.position) {
            return
        }
        var count = 0
        while true {
            let step: MappedLog.Step
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
        _ fold: inout Fold, _ count: inout Int, _ isBehind: (LogFile) -> Void
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

    /// Who may only read sees what others append in files that were opened anew: see `MappedLog.lookAnew`.
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
