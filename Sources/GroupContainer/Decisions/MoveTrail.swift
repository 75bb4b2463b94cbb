/// Where an item came to while somebody waited for it, by the moves that the journal has since.
struct MoveTrail: Equatable, Sendable {
    private(set) var place: ItemLocation
    private(set) var hasMoved = false

    init(of location: ItemLocation) { place = location }

    /// The next record. It was moved itself, or with a directory that it lies in.
    mutating func note(_ record: ChangeRecord) {
        for change in record.changes where change.kind == .moved {
            guard let from = change.from.flatMap({ try? ItemLocation($0) }) else { continue }
            guard from == place || place.isBelow(from),
                let next = try? ItemLocation(change.path + place.bytes[from.bytes.count...])
            else { continue }
            (place, hasMoved) = (next, true)
        }
    }
}
