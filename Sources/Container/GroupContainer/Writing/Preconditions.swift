import GroupLocking
import GroupBytes
import GroupSystemCalls

/// A state that the journal must have for an item before a change that depends on it is recorded, so that a reader that
/// applies the records one after the other has that state, too.
enum Precondition: Equatable, Sendable {
    /// The directory in which an item arrives.
    case directory(ItemLocation)
    /// An item that keeps its content through the change, in its present state.
    case item(ItemLocation, ItemState)
    /// An item that the change replaces or removes: any of its type.
    case presence(ItemLocation, ItemType)
    /// A location without an item.
    case vacancy(ItemLocation)

    var location: ItemLocation {
        switch self {
        case .directory(let location), .item(let location, _), .presence(let location, _), .vacancy(let location):
            location
        }
    }

    /// Returns whether the journal's state of the item meets the precondition.
    func isMet(by known: ItemState?) -> Bool {
        switch self {
        case .directory: known?.type == .directory
        case .item(_, let found): ExternalChange.decide(known: known, found: found, by: .comparison) == .nothing
        case .presence(_, let type): known?.type == type
        case .vacancy: known == nil
        }
    }
}

/// The preconditions of changes: external changes right before a change are recorded before it, so that the journal,
/// applied record by record, gives the tree.
struct Preconditions {
    let container: OpenContainer
    /// The lock under which the changes are made.
    let lock: HeldLock?
    let deadline: Deadline

    /// Reconciles and records, by the leader's rules, every item whose precondition the journal does not meet; a few
    /// loads where all are met. Call this right before the operation is announced: after that no process records that a
    /// directory around the item is gone. Errors: `damaged`; `lockTimedOut` where another process has an in-flight
    /// operation on one of these items without a record
    func ensure(_ preconditions: [Precondition], _ operation: String) throws(CoordinationError) {
        var missing: [Precondition] = []
        for precondition in preconditions where try !isMet(precondition) { missing.append(precondition) }
        if missing.isEmpty { return }
        let reconcileOnce = try ReconcileOnce(container, under: lock)
        for location in missing.map(\.location) {
            for directory in location.ancestors where reconcileOnce.treeIndex[directory]?.type != .directory {
                reconcileOnce.note(directory, .comparison)
            }
            reconcileOnce.note(location, .comparison)
        }
        // An item that does not exist cannot be recorded; the change itself fails then.
        try reconcileOnce.work(for: operation, until: deadline)
    }

    private func isMet(_ precondition: Precondition) throws(CoordinationError) -> Bool {
        if case .directory(let location) = precondition { return try container.recordsDirectory(at: location) }
        return precondition.isMet(by: try container.recordedState(at: precondition.location).state)
    }
}
