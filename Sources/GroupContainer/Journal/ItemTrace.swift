import GroupSystemCalls

/// What the journal says of one item, followed through the records behind a place where that is known: for a caller
/// that asks about one item and does not keep the fold of all.
struct ItemTrace: Equatable, Sendable {
    let location: ItemLocation
    /// Nil where nothing stands.
    private(set) var type: ItemType?
    /// As its last record has it; nil also where no more than its type is known.
    private(set) var state: ItemState?
    /// Something came here whose own records were not looked at: only the fold of all knows what it is.
    private(set) var isLost = false

    init(_ location: ItemLocation, _ state: ItemState?) {
        (self.location, self.state, type) = (location, state, state?.type)
    }

    /// Of what is known to be a directory.
    init(directory location: ItemLocation) { (self.location, type) = (location, .directory) }

    /// Takes in the body of the next record. Linear in its parts, and constant for what is of another item.
    mutating func take(_ body: [UInt8]) {
        guard mayConcern(body), let record = try? ChangeRecord(decoding: body) else { return }
        for part in record.changes { take(part) }
    }

    private mutating func take(_ part: ChangePart) {
        switch part.kind {
        case .created, .modified, .touched: if part.path == location.bytes, part.state != nil { stand(part.state) }
        case .removed: if covers(part.path[...]) { stand(nil) }
        case .moved:
            if let from = part.from, covers(from[...]) { stand(nil) }
            if covers(part.path[...]) { arrive(part.path == location.bytes ? part.state : nil) }
        case .exchanged:
            guard let other = part.from else { return }
            if covers(part.path[...]) { arrive(part.path == location.bytes ? part.state : nil) }
            if covers(other[...]) { arrive(other == location.bytes ? part.otherState : nil) }
        case .term, .degraded, .transaction: break
        }
    }

    private mutating func stand(_ there: ItemState?) { (state, type) = (there, there?.type) }

    private mutating func arrive(_ there: ItemState?) {
        stand(there)
        if there == nil { isLost = true }
    }

    /// It is the item's path, or that of a directory that the item lies in.
    private func covers(_ path: ArraySlice<UInt8>) -> Bool {
        let own = location.bytes
        if path.count > own.count || !own.starts(with: path) { return false }
        return path.count == own.count || own[path.count] == UInt8(ascii: "/")
    }

    /// By a look at the paths alone, which spares the decoding of most records.
    private func mayConcern(_ body: [UInt8]) -> Bool {
        guard body.count > Self.fixed, let kind = ChangeRecord.Kind(rawValue: body[0]) else { return false }
        if kind == .transaction { return true }
        let flags = body[1]
        var place = Self.fixed + (flags & 4 != 0 ? ItemState.size : 0) + (flags & 16 != 0 ? ItemState.size : 0)
        for _ in 0..<(flags & 2 != 0 ? 2 : 1) {
            guard place + 2 <= body.count else { return false }
            let end = place + 2 + Int(body[place]) + Int(body[place + 1]) << 8
            guard end <= body.count else { return false }
            if covers(body[(place + 2)..<end]) { return true }
            place = end
        }
        return false
    }

    /// In bytes: what comes before the states.
    private static let fixed = 40
}

/// What the journal says of one item, for a caller that changes it: without the fold of all records, which a short
/// command has no time for.
extension Member {
    /// So many items are looked up by themselves; a caller that asks about more is quicker with the fold.
    private static let fewItems = 4
    /// A place is noted anew when so many records lie behind the one that was noted before.
    private static let worthNoting = 8

    /// Whether the journal has a directory there. Mostly a few loads: up to which place that was last found to be so is
    /// in the member table, and only the records behind that are looked at. Errors: `damaged`
    func recordsDirectory(at location: ItemLocation) throws(CoordinationError) -> Bool {
        if let place = memberTable.knownDirectory(location, key: hashKey) {
            var trace = ItemTrace(directory: location)
            if let (end, count) = try follow(&trace, from: place) {
                let stands = trace.type == .directory
                if stands && count >= Self.worthNoting { memberTable.noteDirectory(location, at: end, key: hashKey) }
                return stands
            }
        }
        let (state, end) = try recordedState(at: location)
        if state?.type != .directory { return false }
        memberTable.noteDirectory(location, at: end, key: hashKey)
        return true
    }

    /// What the journal has there, and the place up to which that holds. Linear in the records behind the checkpoint,
    /// or in what is new since this process kept the fold. Errors: `damaged`
    func recordedState(
        at location: ItemLocation
    ) throws(CoordinationError) -> (state: ItemState?, end: LogPosition) {
        let isOneOfMany = traced.withLock { count in
            count += 1
            return count > Self.fewItems
        }
        if !isOneOfMany, recorded.withLock({ $0 == nil }) {
            let tree = try JournalView(forLookingUpIn: journal)
            var trace = ItemTrace(location, tree.item(at: location)?.state)
            if !tree.isBroken, let (end, _) = try follow(&trace, from: tree.position) { return (trace.state, end) }
        }
        let (item, end) = try recordedItemAndPlace(at: location)
        return (item?.state, end)
    }

    /// Up to the journal's end; the place there, and how many records were read. Nil where they do not tell, or not all
    /// of them are there.
    private func follow(
        _ trace: inout ItemTrace, from start: LogPosition
    ) throws(CoordinationError) -> (end: LogPosition, count: Int)? {
        var (position, count) = (start, 0)
        while !trace.isLost {
            switch try journal.log.step(behind: position) {
            case .entry(let entry):
                (position, count) = (entry.position, count + 1)
                if !entry.isControl { trace.take(entry.body) }
            case .end: return (position, count)
            case .gap, .lost: return nil
            }
        }
        return nil
    }
}

/// Up to which place of the journal a directory is known to be in it: a small table in the member table, for all
/// members. Each entry vouches for itself, so one that was half replaced, or is of another directory, is none.
extension MemberTable {
    func knownDirectory(_ location: ItemLocation, key: SipHash) -> LogPosition? {
        var hash = key.begin()
        for byte in location.bytes { hash.add(byte) }
        let entry = MemberTableLayout.knownDirectory(hash.finished())
        let place = map.load64(entry)
        if place == 0 || map.load64(entry + 8) != Self.seal(hash, place) { return nil }
        return LogPosition(file: place >> 32, offset: Int(place & 0xffff_ffff), sequence: 0, checksum: 0)
    }

    func noteDirectory(_ location: ItemLocation, at position: LogPosition, key: SipHash) {
        guard let seat, position.file <= UInt64(UInt32.max), position.offset <= Int(UInt32.max) else { return }
        var hash = key.begin()
        for byte in location.bytes { hash.add(byte) }
        let entry = MemberTableLayout.knownDirectory(hash.finished())
        let place = position.file << 32 | UInt64(position.offset)
        seat.map.store64(entry, place)
        seat.map.store64(entry + 8, Self.seal(hash, place))
    }

    private static func seal(_ path: SipHash.State, _ place: UInt64) -> UInt64 {
        var hash = path
        for shift in stride(from: UInt64(0), to: 64, by: 8) { hash.add(UInt8(truncatingIfNeeded: place >> shift)) }
        return hash.finished()
    }
}
