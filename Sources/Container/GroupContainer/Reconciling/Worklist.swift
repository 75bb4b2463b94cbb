// Imports nothing: no file, clock or process.

/// The locations to compare, and why: gathered from events and comparisons, taken all at once.
struct Worklist: Equatable, Sendable {
    /// The locations in the order in which they were added.
    private(set) var order: [ItemLocation] = []
    private(set) var hints: [ItemLocation: Hint] = [:]
    /// Locations that a comparison of their directory found to differ from the journal.
    private var differing: Set<ItemLocation> = []
    /// The locations that were reported as removed, in the order of the reports.
    private(set) var removals: [ItemLocation] = []
    /// Renames that the kernel reported as a pair: the item at the goal came from elsewhere in the container.
    private(set) var arrivals: [Arrival] = []
    /// The goals of those renames after which the kernel may report another one.
    private var goals: Set<ItemLocation> = []

    struct Arrival: Equatable, Sendable {
        var goal: ItemLocation
        var origin: ItemLocation
        /// The inode number of the item expected at the goal, if the item was looked for elsewhere before.
        var inode: UInt64?
    }

    var isEmpty: Bool { order.isEmpty && arrivals.isEmpty }

    /// Adds a location. The strongest of its hints counts.
    mutating func add(_ location: ItemLocation, _ why: Hint) {
        if why == .removal { removals.append(location) }
        guard let known = hints[location] else {
            hints[location] = why
            order.append(location)
            return
        }
        if known < why { hints[location] = why }
    }

    /// Adds a location that a comparison of its directory found to differ from the journal. Events about it do not
    /// postpone its removal then.
    mutating func addDifference(_ location: ItemLocation) {
        differing.insert(location)
        add(location, .comparison)
    }

    /// Returns whether an event that is still to be read reports how the item went, if nothing stands there. So it is
    /// for an item that has come by a rename: it was there when that event was made.
    func awaitsEventOfRemoval(_ location: ItemLocation) -> Bool {
        guard let why = hints[location], !differing.contains(location) else { return false }
        return why.awaitsEventOfRemoval || why == .comparison && goals.contains(location)
    }

    /// Returns whether the kernel reported the item, or a directory around it, as gone.
    func isRemoved(_ location: ItemLocation) -> Bool {
        if hints[location] == .removal { return true }
        return location.ancestors.contains { hints[$0] == .removal }
    }

    /// Adds a rename within the container: locations on the worklist that lie in a moved directory are also compared at
    /// their new location. For a directory, linear in the worklist.
    mutating func addMove(from origin: ItemLocation, to goal: ItemLocation, isDirectory: Bool) {
        // The old location is kept as well: the kernel reports an exchange as two renames, one after the other.
        if isDirectory {
            for location in order {
                guard let why = hints[location] else { continue }
                if let moved = location.moved(from: origin, to: goal) { add(moved, why) }
                // The other half of the exchange may be read only after this location was compared.
                if let moved = location.moved(from: goal, to: origin) { add(moved, why) }
            }
            for arrival in arrivals {
                let (moved, source) = (
                    arrival.goal.moved(from: origin, to: goal), arrival.origin.moved(from: origin, to: goal)
                )
                if moved == nil && source == nil { continue }
                arrivals.append(
                    Arrival(goal: moved ?? arrival.goal, origin: source ?? arrival.origin, inode: arrival.inode))
            }
        }
        // Events of the item itself, not only its move, are known.
        if !hints.isEmpty, let why = hints[origin] { add(goal, why) }
        addArrival(at: goal, from: origin)
    }

    /// Returns locations in the order in which they were last reported as removed, and behind them the others.
    func inOrderOfRemoval(_ locations: [ItemLocation]) -> [ItemLocation] {
        if locations.count < 2 || removals.isEmpty { return locations }
        let places = Dictionary(removals.enumerated().map { ($1, $0) }, uniquingKeysWith: max)
        let reported = locations.compactMap { location in places[location].map { (place: $0, location) } }
        return reported.sorted { $0.place < $1.place }.map(\.1) + locations.filter { places[$0] == nil }
    }

    /// Adds the arrival of an item that the journal had elsewhere. With an inode number, the item may have come here with
    /// a directory around it, and no event that is still to be read reports that it moved on.
    mutating func addArrival(at goal: ItemLocation, from origin: ItemLocation, inode: UInt64? = nil) {
        arrivals.append(Arrival(goal: goal, origin: origin, inode: inode))
        if inode == nil { goals.insert(goal) }
    }

    /// Returns the whole worklist and leaves it empty.
    mutating func take() -> Worklist {
        defer { self = Worklist() }
        return self
    }
}

extension ItemLocation {
    /// Returns the item's new location when a directory around it is moved; nil if the directory is not around it.
    func moved(from origin: ItemLocation, to goal: ItemLocation) -> ItemLocation? {
        guard isBelow(origin) else { return nil }
        return try? ItemLocation(goal.bytes + bytes[origin.bytes.count...])
    }
}
