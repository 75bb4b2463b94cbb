import GroupSystemCalls

/// A record on its way to exactly the end that was read: who loses the race for it too often, for too long, asks for its
/// turn.
struct LogAttempt: ~Copyable {
    private(set) var losses = 0
    /// When it had lost so often for the first time.
    private var lostSince: Int64?
    /// When it had read so much, and had not come to the end yet, for the first time.
    private var behindSince: Int64?
    private var turn: LogTurn?
    private var turnFile: LogFile?
    /// Races of a microsecond are lost and won at random, so some are nothing yet: a turn stops all others.
    private static let losses = 8
    private static let patience: Int64 = 1_000_000
    /// Who was away while others appended has read that in a moment, and asks nobody to wait.
    private static let patienceBehind: Int64 = 4_000_000

    func isOthersTurn(in file: LogFile) -> Bool { LogTurn.isOthers(in: file, than: turn) }

    func letOthersPass(in file: LogFile) { LogTurn.letOthersPass(in: file, except: turn) }

    /// It was decided anew, or is tried again, for nothing. After some of these, it asks for its turn.
    mutating func noteLoss(slot: Int, in file: LogFile) {
        losses += 1
        guard losses.isMultiple(of: Self.losses) || turn != nil else { return }
        let now = monotonicNanoseconds()
        guard let lostSince else {
            lostSince = now
            return
        }
        if now - lostSince >= Self.patience { takeTurn(slot: slot, in: file) }
    }

    /// It has read much, and there is more. Where that goes on, others append faster than it reads.
    mutating func noteLag(slot: Int, in file: LogFile) {
        let now = monotonicNanoseconds()
        guard let behindSince else {
            behindSince = now
            return
        }
        if now - behindSince >= Self.patienceBehind { takeTurn(slot: slot, in: file) }
    }

    private mutating func takeTurn(slot: Int, in file: LogFile) {
        let mine = turn ?? LogTurn(slot: slot, round: 0)
        if turn != nil, turnFile === file, mine.take(in: file) { return }
        // It was passed by: the next one is longer.
        let next = turn == nil ? mine : mine.next
        if next.take(in: file) { (turn, turnFile) = (next, file) }
    }

    /// The others go on.
    mutating func end() {
        if let turn, let turnFile { turn.end(in: turnFile) }
        (turn, turnFile) = (nil, nil)
    }
}
