/// What the journal must have of an item before a change that stands on it is recorded, so that a reader that applies
/// the records one after the other has it, too.
enum Footing: Equatable, Sendable {
    /// A directory that something comes to stand in.
    case directory(ItemLocation)
    /// What keeps its content through the change, as it stands there.
    case item(ItemLocation, ItemState)
    /// What goes with the change: any of its kind.
    case presence(ItemLocation, ItemType)
    /// Nothing stands there.
    case vacancy(ItemLocation)

    var location: ItemLocation {
        switch self {
        case .directory(let location), .item(let location, _), .presence(let location, _), .vacancy(let location):
            location
        }
    }

    /// Whether what the journal has there will do.
    func isMet(by known: ItemState?) -> Bool {
        switch self {
        case .directory: known?.type == .directory
        case .item(_, let found): ForeignChange.decide(known: known, found: found, by: .comparison) == .nothing
        case .presence(_, let type): known?.type == type
        case .vacancy: known == nil
        }
    }
}
