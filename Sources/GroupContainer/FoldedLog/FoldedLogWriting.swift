import GroupSystemCalls

extension FoldedLog {
    private enum Outcome {
        case appended(LogPosition)
        case refused
        /// Others were quicker.
        case lost(LogFile)
        /// Others have begun a record, and not committed it yet.
        case pending(LogFile, LogHeader, offset: Int)
        case full(LogFile, end: Int)
        case isOthersTurn(LogFile)
    }

    /// Appends a record exactly at the end of what was read, if the state is one for it; else nil. The place behind it,
    /// whose sequence is its number. What it does to the state is applied without being read again. Wait-free but for
    /// the time that others' turns take.
    func append(
        _ body: [UInt8], isControl: Bool = false, _ attempt: inout LogAttempt,
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
    private func compact(_ file: LogFile, sealedAt end: Int, needed: Int) throws(CoordinationError) {
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
