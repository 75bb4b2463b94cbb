import GroupSystemCalls

/// A record that was read and is not taken yet, because the next one may make it void.
struct HeldRecord {
    /// 0: there is none.
    private var offset = 0
    private var bodyCount = 0
    private var sequence: UInt64 = 0
    private var isControl = false
    /// Where its key stands in the file; empty where it does more than to set one.
    private var key = 0..<0

    init() {}

    /// A record of a file that was checked.
    init<State: FoldedState>(
        _ offset: Int, _ bodyCount: Int, _ sequence: UInt64, _ isControl: Bool, _: State.Type, in map: SharedMap
    ) {
        (self.offset, self.bodyCount, self.sequence, self.isControl) = (offset, bodyCount, sequence, isControl)
        let body = offset + 12
        if !isControl, let key = State.soleKey(ofBody: bodyCount, { map.word(at: body + $0) }) {
            self.key = body + key.lowerBound..<body + key.upperBound
        }
    }

    /// The next one is there.
    mutating func follow<State: FoldedState>(with next: HeldRecord, of file: LogFile, _ state: inout State) {
        let isVoid =
            !key.isEmpty && key.count == next.key.count
            && file.map.isEqual(key.lowerBound, next.key.lowerBound, count: key.count)
        if !isVoid { take(of: file, &state) }
        self = next
    }

    mutating func take<State: FoldedState>(of file: LogFile, _ state: inout State) {
        if offset == 0 { return }
        state.apply(file.bodyBytes(at: offset, count: bodyCount), at: sequence, isControl: isControl)
        offset = 0
    }
}
