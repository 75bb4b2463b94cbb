import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The journal's state of one item, followed through the records after a position where it is known: for a caller that
/// looks up one item and does not keep a journal view of all items.
struct ItemTrace: Equatable, Sendable {
    let location: ItemLocation
    /// The item's type; nil if there is no item.
    private(set) var type: ItemType?
    /// The state of the item's last record; nil also if only its type is known.
    private(set) var state: ItemState?
    /// Whether something arrived here whose own records were not read: only the journal view of all items has its
    /// state.
    private(set) var isLost = false

    init(_ location: ItemLocation, _ state: ItemState?) {
        self.location = location
        self.state = state
        type = state?.type
    }

    /// Traces an item that is known to be a directory.
    init(directory location: ItemLocation) { (self.location, type) = (location, .directory) }

    /// Applies the body of the next record. Linear in its parts, and constant for a record of another item.
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

    /// Returns whether a path is the item's, or that of a directory that contains the item.
    private func covers(_ path: ArraySlice<UInt8>) -> Bool {
        path == location.bytes[...] || isPath(location.bytes, below: path)
    }

    /// Returns whether a record may concern the item, from the paths alone, which avoids the decoding of most records.
    private func mayConcern(_ body: [UInt8]) -> Bool {
        guard body.count > Self.fixed, let kind = ChangeRecord.Kind(rawValue: body[0]) else { return false }
        if kind == .transaction { return true }
        let flags = body[1]
        var offset = Self.fixed + (flags & 4 != 0 ? ItemState.size : 0) + (flags & 16 != 0 ? ItemState.size : 0)
        for _ in 0..<(flags & 2 != 0 ? 2 : 1) {
            guard offset + 2 <= body.count else { return false }
            let end = offset + 2 + Int(body[offset]) + Int(body[offset + 1]) << 8
            guard end <= body.count else { return false }
            if covers(body[(offset + 2)..<end]) { return true }
            offset = end
        }
        return false
    }

    /// The bytes of a record before the states.
    private static let fixed = 40
}

/// Lookups in the journal of one item, for a caller that changes it: without the journal view of all items, which takes
/// too long for a short command.
extension OpenContainer {
    /// The number of items that are looked up one by one; for more, the journal view is faster.
    private static let fewItems = 4
    /// A position is noted again when at least this many records follow the one that was noted before.
    private static let worthNoting = 8

    /// Returns whether the journal has a directory at a location. Mostly a few loads: the member table has the position
    /// up to which that was last found, and only the records after it are read. Errors: `damaged`
    func recordsDirectory(at location: ItemLocation) throws(CoordinationError) -> Bool {
        if let known = memberTable.knownDirectory(location, key: hashKey) {
            var trace = ItemTrace(directory: location)
            if let (end, count) = try follow(&trace, from: known) {
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

    /// Returns the journal's state of an item, and the position up to which it is valid. Linear in the records after
    /// the checkpoint, or in the new ones if this process keeps a journal view. Errors: `damaged`
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
        let (item, end) = try recordedItemAndPosition(at: location)
        return (item?.state, end)
    }

    /// Follows the trace to the journal's end. Returns the position there and the number of records read; nil if the
    /// records do not show the state, or some of them are missing.
    private func follow(
        _ trace: inout ItemTrace, from start: LogPosition
    ) throws(CoordinationError) -> (end: LogPosition, count: Int)? {
        var (position, count) = (start, 0)
        while !trace.isLost {
            switch try translating(journal.log.step(behind: position)) {
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

/// The positions of the journal up to which directories are known to be in it: a small table in the member table, for
/// all members. Each entry has a checksum keyed by the path, so an entry that is half replaced, or of another
/// directory, is not used.
extension MemberTable {
    func knownDirectory(_ location: ItemLocation, key: SipHash) -> LogPosition? {
        var hash = key.begin()
        for byte in location.bytes { hash.add(byte) }
        let entry = MemberTableLayout.knownDirectory(hash.finished())
        let word = map.load64(entry)
        if word == 0 || map.load64(entry + 8) != Self.seal(hash, word) { return nil }
        return LogPosition(segment: word >> 32, offset: Int(word & 0xffff_ffff), sequence: 0, checksum: 0)
    }

    func noteDirectory(_ location: ItemLocation, at position: LogPosition, key: SipHash) {
        guard let own, position.segment <= UInt64(UInt32.max), position.offset <= Int(UInt32.max) else { return }
        var hash = key.begin()
        for byte in location.bytes { hash.add(byte) }
        let entry = MemberTableLayout.knownDirectory(hash.finished())
        let word = position.segment << 32 | UInt64(position.offset)
        own.map.store64(entry, word)
        own.map.store64(entry + 8, Self.seal(hash, word))
    }

    private static func seal(_ path: SipHash.State, _ word: UInt64) -> UInt64 {
        var hash = path
        for shift in stride(from: UInt64(0), to: 64, by: 8) { hash.add(UInt8(truncatingIfNeeded: word >> shift)) }
        return hash.finished()
    }
}
