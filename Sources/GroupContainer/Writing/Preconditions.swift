import GroupSystemCalls

/// What the journal must have of an item before a change that stands on it is recorded, so that a reader that applies
/// the records one after the other has it, too.
enum Precondition: Equatable, Sendable {
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
        case .item(_, let found): ExternalChange.decide(known: known, found: found, by: .comparison) == .nothing
        case .presence(_, let type): known?.type == type
        case .vacancy: known == nil
        }
    }
}

/// What changes stand on: what was made without coordination right before them is recorded before they are, so that the
/// journal, followed record by record, makes the tree.
struct Preconditions {
    let member: Member
    /// Under which the changes are made.
    let lock: HeldLock?
    let deadline: Deadline

    /// Where the journal lacks something of these, has it reconciled and recorded, by the leader's rules. A few loads
    /// where it lacks nothing. To be called right before the change is announced: from then on nobody records that a
    /// directory around it is gone. Errors: `damaged`; `lockTimedOut` where others have a change of these under way
    /// that has no record
    func lay(_ footings: [Precondition], _ operation: String) throws(CoordinationError) {
        var missing: [Precondition] = []
        for footing in footings where try !isMet(footing) { missing.append(footing) }
        if missing.isEmpty { return }
        let reconcileOnce = try ReconcileOnce(member, under: lock)
        for location in missing.map(\.location) {
            for directory in location.ancestors where reconcileOnce.treeIndex[directory]?.type != .directory {
                reconcileOnce.note(directory, .comparison)
            }
            reconcileOnce.note(location, .comparison)
        }
        // What is not there is no footing, and the change itself fails.
        _ = try reconcileOnce.work(for: operation, until: deadline)
    }

    private func isMet(_ footing: Precondition) throws(CoordinationError) -> Bool {
        if case .directory(let location) = footing { return try member.recordsDirectory(at: location) }
        return footing.isMet(by: try member.recordedState(at: footing.location).state)
    }
}

extension StagedChange.Step {
    /// Writing looks at no more than the directory around, which is quick: content that takes the place of another
    /// needs nothing of it.
    var footings: [Precondition] {
        var footings: [Precondition] = []
        if way == .intoPlace || way == .fromPlaceToPlace, let directory = location.parent {
            footings.append(.directory(directory))
        }
        switch way {
        case .intoPlace, .inPlace:
            if kind == .touched, let before {
                footings.append(.item(location, ItemState(before, contentHash: nil)))
            }
        case .fromPlaceToPlace:
            if let origin { footings.append(.item(origin, ItemState(status, contentHash: nil))) }
            footings.append(
                before.map { .presence(location, ItemState($0, contentHash: nil).type) } ?? .vacancy(location))
        case .intoStaging: footings.append(.presence(location, ItemState(status, contentHash: nil).type))
        }
        return footings
    }
}

extension TransactionChanges {
    /// What one of its own steps brings is not asked for.
    func footings(of parts: [ChangePart]) throws(CoordinationError) -> [Precondition] {
        var footings: [Precondition] = []
        for (step, part) in zip(steps.inOrder, parts) {
            let location = step.location
            if part.kind != .removed, let directory = location.parent, !steps.isWithinNew(location) {
                footings.append(.directory(directory))
            }
            switch part.kind {
            case .removed, .touched: footings += try standing(location, keepsContent: part.kind == .touched)
            case .moved:
                if let state = part.state, let origin = part.from.flatMap({ try? ItemLocation($0) }) {
                    footings.append(.item(origin, state))
                }
                footings +=
                    step.before == nil ? [.vacancy(location)] : try standing(location, keepsContent: false)
            default: break
            }
        }
        return footings
    }

    private func standing(_ location: ItemLocation, keepsContent: Bool) throws(CoordinationError) -> [Precondition] {
        let status = try translating(printable(location.bytes), "transaction") { () throws(Errno) in
            try member.status(of: location)
        }
        guard let state = status.map({ ItemState($0, contentHash: nil) }) else { return [] }
        return [keepsContent ? .item(location, state) : .presence(location, state.type)]
    }
}
