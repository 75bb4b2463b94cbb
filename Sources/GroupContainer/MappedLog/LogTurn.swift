import GroupSystemCalls

/// Who has lost its race for the log's end again and again asks the others to let it go first: a word in the file's first
/// page says who. They wait until it is cleared, but only for a while, so that one that is stopped stops nobody; who was
/// passed by all the same asks again, for longer.
struct LogTurn: Equatable, Sendable {
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

    var next: LogTurn { LogTurn(slot: Int(word & 0xffff) - 1, round: round + 1) }

    /// One load.
    static func isOthers(in file: LogFile, than own: LogTurn?) -> Bool {
        let word = file.map.load64(LogFileHeader.turn)
        return word != 0 && word != own?.word
    }

    /// A load, mostly. Waits while it is another's turn. System calls: futex(FUTEX_WAIT), only then.
    static func letOthersPass(in file: LogFile, except own: LogTurn?) {
        let word = file.map.load64(LogFileHeader.turn)
        if word == 0 || word == own?.word { return }
        guard let map = file.writableMap else { return }
        let deadline = monotonicNanoseconds() + patience(of: word)
        while map.load64(LogFileHeader.turn) == word {
            let left = deadline - monotonicNanoseconds()
            if left <= 0 {
                _ = map.exchange64(LogFileHeader.turn, word, 0)
                return
            }
            // Its upper half differs for each.
            map.wait(whileWord: LogFileHeader.turn + 4, is: UInt32(word >> 32), nanoseconds: left)
        }
    }

    /// False: it is another's turn.
    func take(in file: LogFile) -> Bool {
        guard let map = file.writableMap else { return false }
        return map.load64(LogFileHeader.turn) == word || map.exchange64(LogFileHeader.turn, 0, word)
    }

    /// System calls: futex(FUTEX_WAKE)
    func end(in file: LogFile) {
        guard let map = file.writableMap, map.exchange64(LogFileHeader.turn, word, 0) else { return }
        map.wakeAll(at: LogFileHeader.turn + 4)
    }
}
