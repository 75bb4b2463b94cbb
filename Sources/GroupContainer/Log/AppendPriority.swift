import GroupSystemCalls

/// Who has lost its race for the log's end again and again asks the others to let it go first: a word in the file's
/// first page says who. They wait until it is cleared, but only for a while, so that one that is stopped stops nobody;
/// who was passed by all the same asks again, for longer.
struct AppendPriority: Equatable, Sendable {
    private let word: UInt64
    /// How often it asked already.
    private let round: Int

    private static let shortest: Int64 = 20_000_000
    private static let rounds = 6

    /// One of its own for each that asks, in all processes.
    init(slot: Int, round: Int) {
        self.round = min(round, Self.rounds - 1)
        word = (randomWord() & 0xffff_ffff) << 32 | UInt64(self.round) << 16 | UInt64(slot + 1)
    }

    private static func patience(of word: UInt64) -> Int64 { shortest << Int64(min(word >> 16 & 0xff, 5)) }

    var next: AppendPriority { AppendPriority(slot: Int(word & 0xffff) - 1, round: round + 1) }

    /// One load.
    static func isOthers(in file: Segment, than own: AppendPriority?) -> Bool {
        let word = file.map.load64(SegmentHeader.turn)
        return word != 0 && word != own?.word
    }

    /// A load, mostly. Waits while it is another's turn. System calls: futex(FUTEX_WAIT), only then.
    static func letOthersPass(in file: Segment, except own: AppendPriority?) {
        let word = file.map.load64(SegmentHeader.turn)
        if word == 0 || word == own?.word { return }
        guard let map = file.writableMap else { return }
        let deadline = monotonicNanoseconds() + patience(of: word)
        while map.load64(SegmentHeader.turn) == word {
            let left = deadline - monotonicNanoseconds()
            if left <= 0 {
                _ = map.exchange64(SegmentHeader.turn, word, 0)
                return
            }
            // Its upper half differs for each.
            map.wait(whileWord: SegmentHeader.turn + 4, is: UInt32(word >> 32), nanoseconds: left)
        }
    }

    /// False: it is another's turn.
    func take(in file: Segment) -> Bool {
        guard let map = file.writableMap else { return false }
        return map.load64(SegmentHeader.turn) == word || map.exchange64(SegmentHeader.turn, 0, word)
    }

    /// System calls: futex(FUTEX_WAKE)
    func end(in file: Segment) {
        guard let map = file.writableMap, map.exchange64(SegmentHeader.turn, word, 0) else { return }
        map.wakeAll(at: SegmentHeader.turn + 4)
    }
}

/// A record on its way to exactly the end that was read: who loses the race for it too often, for too long, asks for
/// its turn.
struct AppendAttempt: ~Copyable {
    private(set) var losses = 0
    /// When it had lost so often for the first time.
    private var lostSince: Int64?
    /// When it had read so much, and had not come to the end yet, for the first time.
    private var behindSince: Int64?
    private var turn: AppendPriority?
    private var turnFile: Segment?
    /// Races of a microsecond are lost and won at random, so some are nothing yet: a turn stops all others.
    private static let losses = 8
    private static let patience: Int64 = 1_000_000
    /// Who was away while others appended has read that in a moment, and asks nobody to wait.
    private static let patienceBehind: Int64 = 4_000_000

    func isOthersTurn(in file: Segment) -> Bool { AppendPriority.isOthers(in: file, than: turn) }

    func letOthersPass(in file: Segment) { AppendPriority.letOthersPass(in: file, except: turn) }

    /// It was decided anew, or is tried again, for nothing. After some of these, it asks for its turn.
    mutating func noteLoss(slot: Int, in file: Segment) {
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
    mutating func noteLag(slot: Int, in file: Segment) {
        let now = monotonicNanoseconds()
        guard let behindSince else {
            behindSince = now
            return
        }
        if now - behindSince >= Self.patienceBehind { takeTurn(slot: slot, in: file) }
    }

    private mutating func takeTurn(slot: Int, in file: Segment) {
        let mine = turn ?? AppendPriority(slot: slot, round: 0)
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
