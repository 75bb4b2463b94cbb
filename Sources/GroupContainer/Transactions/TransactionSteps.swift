// Imports nothing: no file, clock or process.

/// What a transaction is going to do, as the changes come in, and what it sees of the container meanwhile: its own
/// changes over what stands there. Each item has at most one step, however often it is changed.
struct TransactionSteps: Equatable, Sendable {
    /// What stands at a place before the transaction.
    struct Standing: Equatable, Sendable {
        var inode: UInt64
        var isDirectory: Bool
    }

    enum Effect: Equatable, Sendable {
        /// What lies in staging under the step's number comes to stand there.
        case placement(ChangeRecord.Kind, isDirectory: Bool, contentHash: UInt64?)
        case removal
        /// What stands at another place comes to stand here.
        case arrival(from: ItemLocation, Standing)
    }

    struct Step: Equatable, Sendable {
        let location: ItemLocation
        /// The end of its name in staging. A directory's is lower than that of whatever is made in it.
        let number: Int
        /// Nil: nothing.
        let before: Standing?
        var effect: Effect
    }

    /// What the transaction itself finds at a place.
    enum View: Equatable, Sendable {
        /// Whatever stands there without it.
        case untouched
        case staged(number: Int, isDirectory: Bool)
        case absent
        /// What stands at that place without it, because it is to be moved.
        case elsewhere(ItemLocation)
    }

    private var steps: [ItemLocation: Step] = [:]
    private var next = 0
    /// From where something is moved away.
    private var departed: Set<ItemLocation> = []

    var isEmpty: Bool { steps.isEmpty }

    /// In the order in which they are to be taken.
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
            let place = try? ItemLocation(origin.bytes + location.bytes[directory.bytes.count...])
            return place.map(View.elsewhere) ?? .absent
        }
        // In what is new, or gone, stands nothing but what has a step of its own.
        return isWithinNew(location) ? .absent : .untouched
    }

    private func isChanged(_ location: ItemLocation) -> Bool { steps[location] != nil || departed.contains(location) }

    /// In a directory that is new, or gone, or gone itself to another place: nothing stands there without the
    /// transaction, or will.
    func isWithinNew(_ location: ItemLocation) -> Bool {
        departed.contains(location) || location.ancestors.contains(where: isChanged)
    }

    /// Whether it can be moved: the transaction has changed neither it, nor anything in it, nor a directory around it.
    func isUntouched(_ location: ItemLocation) -> Bool {
        view(location) == .untouched && !steps.keys.contains { $0.isBelow(location) }
            && !departed.contains { $0.isBelow(location) }
    }

    /// Something new is to stand there. Returns its number in staging: the one that an earlier change of the same item
    /// had, if there was one.
    mutating func place(
        at location: ItemLocation, _ kind: ChangeRecord.Kind, isDirectory: Bool, replacing before: Standing?,
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

    /// What stands at `origin`, untouched, is to stand at a place that has no step, instead of what is there.
    mutating func move(
        _ origin: ItemLocation, _ standing: Standing, to location: ItemLocation, replacing before: Standing?
    ) {
        departed.insert(origin)
        steps[location] = Step(
            location: location, number: next, before: before, effect: .arrival(from: origin, standing))
        next += 1
    }

    /// Nothing is to stand there, nor below; what was removed below comes to staging before it. Returns the numbers in
    /// staging that have no use any more.
    mutating func remove(_ location: ItemLocation, standing before: Standing?) -> [Int] {
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

    /// It is to stay as it stands without the transaction.
    mutating func forget(_ location: ItemLocation) { steps[location] = nil }

    /// Whether something was moved to that place, or below.
    func hasArrival(atOrBelow location: ItemLocation) -> Bool {
        steps.values.contains { step in
            guard case .arrival = step.effect else { return false }
            return step.location == location || step.location.isBelow(location)
        }
    }

    /// Whether anything is made or kept below a directory that the transaction itself makes.
    func hasSteps(below directory: ItemLocation) -> Bool {
        steps.values.contains { $0.location.isBelow(directory) && $0.effect != .removal }
    }
}
