// Imports nothing: no file, clock or process.

/// What is to be looked at, and why: gathered from events and comparisons, handed out in one go.
struct Worklist: Equatable, Sendable {
    /// In the order in which they came up.
    private(set) var order: [ItemLocation] = []
    private(set) var hints: [ItemLocation: Hint] = [:]
    /// Those that are not as they should be by a comparison of their directory.
    private var differing: Set<ItemLocation> = []
    /// Renames that the kernel told of as a pair: what stands at the goal came from elsewhere in the container.
    private(set) var arrivals: [Arrival] = []

    struct Arrival: Equatable, Sendable {
        var goal: ItemLocation
        var origin: ItemLocation
        /// Of what is to be there, if it was looked for elsewhere before.
        var inode: UInt64?
    }

    var isEmpty: Bool { order.isEmpty && arrivals.isEmpty }

    /// The strongest hint counts.
    mutating func add(_ location: ItemLocation, _ why: Hint) {
        guard let known = hints[location] else {
            hints[location] = why
            order.append(location)
            return
        }
        if known < why { hints[location] = why }
    }

    /// A comparison of its directory found that it is not as it should be. What events tell of it besides does not
    /// matter then.
    mutating func addDifference(_ location: ItemLocation) {
        differing.insert(location)
        add(location, .comparison)
    }

    /// Where nothing stands there, an event that is still to be read tells how it went.
    func awaitsEventOfRemoval(_ location: ItemLocation) -> Bool {
        hints[location]?.awaitsEventOfRemoval ?? false && !differing.contains(location)
    }

    /// The kernel told that it, or a directory around it, is gone.
    func isRemoved(_ location: ItemLocation) -> Bool {
        if hints[location] == .removal { return true }
        return location.ancestors.contains { hints[$0] == .removal }
    }

    /// Something moved within the container: what was noted of what is in it is looked at where it stands now.
    /// Linear in what is noted, for a directory.
    mutating func addMove(from origin: ItemLocation, to goal: ItemLocation, isDirectory: Bool) {
        // Where it was, too: the kernel tells of an exchange as of two renames, one after the other.
        if isDirectory {
            for location in order {
                guard let why = hints[location] else { continue }
                if let place = location.moved(from: origin, to: goal) { add(place, why) }
                // The other half of the exchange may be read only after this was looked at.
                if let place = location.moved(from: goal, to: origin) { add(place, why) }
            }
            for arrival in arrivals {
                let (place, source) = (
                    arrival.goal.moved(from: origin, to: goal), arrival.origin.moved(from: origin, to: goal)
                )
                if place == nil && source == nil { continue }
                arrivals.append(
                    Arrival(goal: place ?? arrival.goal, origin: source ?? arrival.origin, inode: arrival.inode))
            }
        }
        // More than the move is known of it.
        if !hints.isEmpty, let why = hints[origin] { add(goal, why) }
        arrivals.append(Arrival(goal: goal, origin: origin))
    }

    /// It was somewhere when the journal had it elsewhere, and may have come here with a directory around it.
    mutating func addArrival(at goal: ItemLocation, from origin: ItemLocation, inode: UInt64) {
        arrivals.append(Arrival(goal: goal, origin: origin, inode: inode))
    }

    /// Everything; nothing is left.
    mutating func take() -> Worklist {
        defer { self = Worklist() }
        return self
    }
}

extension ItemLocation {
    /// Where what stands here goes, when a directory that it lies below is moved; nil where it does not.
    func moved(from origin: ItemLocation, to goal: ItemLocation) -> ItemLocation? {
        guard isBelow(origin) else { return nil }
        return try? ItemLocation(goal.bytes + bytes[origin.bytes.count...])
    }
}
