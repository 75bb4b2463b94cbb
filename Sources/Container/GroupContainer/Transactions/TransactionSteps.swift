// Imports nothing: no file, clock or process.

/// The steps of a transaction, collected as the changes are made, and the transaction's view of the container: its own
/// changes over the present items. Each item has at most one step, however often it is changed.
struct TransactionSteps: Equatable, Sendable {
    /// An item that is there without the transaction.
    struct PresentItem: Equatable, Sendable {
        var inode: UInt64
        var isDirectory: Bool
    }

    enum Effect: Equatable, Sendable {
        /// The file in staging with the step's number is placed at the location.
        case placement(ChangeRecord.Kind, isDirectory: Bool, contentHash: UInt64?)
        case removal
        /// The item at another location is moved to this location.
        case arrival(from: ItemLocation, PresentItem)
    }

    struct Step: Equatable, Sendable {
        let location: ItemLocation
        /// The suffix of the step's name in staging. A directory's number is lower than those of the items made in it.
        let number: Int
        /// The item before the transaction; nil where there is none.
        let before: PresentItem?
        var effect: Effect
    }

    /// What the transaction itself finds at a location.
    enum View: Equatable, Sendable {
        /// The item that is there without the transaction.
        case untouched
        case staged(number: Int, isDirectory: Bool)
        case absent
        /// The item that is at the given location without the transaction, because it is to be moved.
        case elsewhere(ItemLocation)
    }

    private var steps: [ItemLocation: Step] = [:]
    private var next = 0
    /// The locations from which items are moved away.
    private var departed: Set<ItemLocation> = []

    var isEmpty: Bool { steps.isEmpty }

    /// The steps in the order in which they are to be taken.
    var inOrder: [Step] { steps.values.sorted { $0.number < $1.number } }

    subscript(_ location: ItemLocation) -> Step? { steps[location] }

    func view(_ location: ItemLocation) -> View {
        if let step = steps[location] {
            switch step.effect {
            case .placement(_, let isDirectory, _): return .staged(number: step.number, isDirectory: isDirectory)
            case .removal: return .absent
            case .arrival(let origin, _): return .elsewhere(origin)
            }
        }
        if let directory = location.ancestors.last(where: isChanged),
            case .arrival(let origin, _) = steps[directory]?.effect
        {
            let inner = try? ItemLocation(origin.bytes + location.bytes[directory.bytes.count...])
            return inner.map(View.elsewhere) ?? .absent
        }
        // In a directory that is new or gone, there are only items with a step of their own.
        return isWithinNew(location) ? .absent : .untouched
    }

    private func isChanged(_ location: ItemLocation) -> Bool { steps[location] != nil || departed.contains(location) }

    /// Whether a location was moved away, or is in a directory that is new, removed, moved to its path or moved away:
    /// there is no item without the transaction, and will be none.
    func isWithinNew(_ location: ItemLocation) -> Bool {
        departed.contains(location) || location.ancestors.contains(where: isChanged)
    }

    /// Whether an item can be moved: the transaction has changed neither the item, nor anything in it, nor a directory
    /// around it.
    func isUntouched(_ location: ItemLocation) -> Bool {
        view(location) == .untouched && !steps.keys.contains { $0.isBelow(location) }
            && !departed.contains { $0.isBelow(location) }
    }

    /// Adds a step that puts a new item at its path. Returns its number in staging; an item that was changed before
    /// keeps its number.
    mutating func put(
        at location: ItemLocation, _ kind: ChangeRecord.Kind, isDirectory: Bool, replacing before: PresentItem?,
        contentHash: UInt64?
    ) -> Int {
        let effect = Effect.placement(kind, isDirectory: isDirectory, contentHash: contentHash)
        if let number = steps[location]?.number {
            steps[location]?.effect = effect
            return number
        }
        steps[location] = Step(location: location, number: next, before: before, effect: effect)
        next += 1
        return next - 1
    }

    /// Adds a step that moves the untouched item at `origin` to a location without a step, replacing the item there.
    mutating func move(
        _ origin: ItemLocation, _ item: PresentItem, to location: ItemLocation, replacing before: PresentItem?
    ) {
        departed.insert(origin)
        steps[location] = Step(
            location: location, number: next, before: before, effect: .arrival(from: origin, item))
        next += 1
    }

    /// Adds a step that removes an item and everything below it; items below with a removal of their own go to staging
    /// first. Returns the numbers in staging that are no longer needed.
    mutating func remove(_ location: ItemLocation, present before: PresentItem?) -> [Int] {
        var useless: [Int] = []
        for step in steps.values where step.location.isBelow(location) && step.effect != .removal {
            useless.append(step.number)
            steps[step.location] = nil
        }
        let step = steps[location]
        if let step, step.effect != .removal { useless.append(step.number) }
        guard let before = step == nil ? before : step?.before else {
            steps[location] = nil
            return useless
        }
        if step == nil {
            steps[location] = Step(location: location, number: next, before: before, effect: .removal)
            next += 1
        } else {
            steps[location]?.effect = .removal
        }
        return useless
    }

    /// Drops the step of an item, which stays as it is without the transaction.
    mutating func forget(_ location: ItemLocation) { steps[location] = nil }

    /// Whether an item was moved to that location or below.
    func hasArrival(atOrBelow location: ItemLocation) -> Bool {
        steps.values.contains { step in
            guard case .arrival = step.effect else { return false }
            return step.location == location || step.location.isBelow(location)
        }
    }

    /// Whether there are placements or moves below a directory.
    func hasSteps(below directory: ItemLocation) -> Bool {
        steps.values.contains { $0.location.isBelow(directory) && $0.effect != .removal }
    }
}
