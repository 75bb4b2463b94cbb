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
