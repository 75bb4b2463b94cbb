import GroupSystemCalls

/// What was decided about a log's last file by the first who opened it in an incarnation other than its own: a word in
/// its first page. It is decided once: several may look at it at the same time, and as soon as one has decided that it
/// goes on, records are appended to it.
enum LogSettlement: Equatable {
    /// Everything in it is whole, and behind that there is nothing.
    case goesOn
    /// What comes is appended to the next file.
    case ends

    /// Nil: nothing, in this incarnation. One load.
    init?(of map: SharedMap, in incarnation: [UInt8]) {
        switch map.load64(LogFileHeader.settled) {
        case Self.goesOn.word(in: incarnation): self = .goesOn
        case Self.ends.word(in: incarnation): self = .ends
        default: return nil
        }
    }

    /// The incarnation is random; of its first word all bits but two are here.
    private func word(in incarnation: [UInt8]) -> UInt64 {
        var reader = ByteReader(incarnation)
        return ((try? reader.number(UInt64.self)) ?? 0) & ~3 | (self == .goesOn ? 1 : 2)
    }

    /// What holds is what was decided first.
    func decide(in map: WritableMap, _ incarnation: [UInt8]) -> LogSettlement {
        while true {
            let known = map.load64(LogFileHeader.settled)
            if let settlement = LogSettlement(of: map, in: incarnation) { return settlement }
            _ = map.exchange64(LogFileHeader.settled, known, word(in: incarnation))
        }
    }
}
