// Imports nothing: no file, clock or process.

/// The recording of renames. For a rename that the kernel reported as a pair, the inode number decides what came from
/// where, whatever the dates are.
extension Reconciler {
    /// The location and inode number of an item in the journal. Records about directories around the item may have
    /// moved it since.
    struct Source: Equatable, Sendable {
        var location: ItemLocation
        var inode: UInt64
    }

    private func location(of source: Source) -> ItemLocation {
        if view.treeIndex[source.location]?.inode == source.inode { return source.location }
        return view.treeIndex.location(ofInode: source.inode) ?? source.location
    }

    /// Returns whether the item that the journal has at a location has left it, or a directory around it has, by a rename
    /// that is not recorded yet: an event is still to be read, or another process is in the way. Then it is not gone,
    /// whatever the location is compared for.
    func isOnItsWay(_ location: ItemLocation) -> Bool {
        if pendingRenames.isEmpty && postponedMoves.isEmpty { return false }
        return (Array(pendingRenames.values) + Array(postponedMoves.values)).contains { source in
            let origin = self.location(of: source)
            return location == origin || location.isBelow(origin)
        }
    }

    private mutating func takePendingRename(_ location: ItemLocation) -> Source? {
        if !pendingRenames.isEmpty, let source = pendingRenames.removeValue(forKey: location) { return source }
        return postponedMoves.isEmpty ? nil : postponedMoves.removeValue(forKey: location)
    }

    /// Notes that the kernel reported an item as removed, or as moved out of the container. An item that a rename was
    /// to have put there is compared as removed, too, at its location in the journal.
    mutating func noteRemoval(_ location: ItemLocation) {
        worklist.add(location, .removal)
        for (goal, source) in pendingRenames where goal == location || goal.isBelow(location) {
            pendingRenames[goal] = nil
            worklist.add(self.location(of: source), .removal)
        }
        for (goal, source) in postponedMoves where goal == location || goal.isBelow(location) {
            postponedMoves[goal] = nil
            worklist.add(self.location(of: source), .removal)
        }
    }

    /// Forgets the renames that are not recorded, because everything is compared.
    mutating func forgetMoves() { (pendingRenames, postponedMoves) = ([:], [:]) }

    /// Notes that the kernel reported a rename within the container.
    mutating func noteMove(from origin: ItemLocation, to goal: ItemLocation, isDirectory: Bool) {
        if isDirectory {
            // The old location is kept as well: the kernel reports an exchange as two renames, one after the other.
            for (path, source) in pendingRenames {
                if let moved = path.moved(from: origin, to: goal) { pendingRenames[moved] = source }
            }
            for (path, source) in postponedMoves {
                if let moved = path.moved(from: origin, to: goal) { postponedMoves[moved] = source }
            }
            for (location, why) in postponed {
                guard let moved = location.moved(from: origin, to: goal) else { continue }
                postpone(moved, why)
            }
        }
        // An item that had arrived at the goal before was replaced, unless an event reported that it moved on.
        if let replaced = takePendingRename(goal) { worklist.add(location(of: replaced), .removal) }
        worklist.addMove(from: origin, to: goal, isDirectory: isDirectory)
        if let source = takePendingRename(origin) {
            worklist.addMove(from: location(of: source), to: goal, isDirectory: isDirectory)
        }
    }

    /// Puts the items of `pendingRenames` on the worklist as arrivals, after every event was read that could report a
    /// further rename. Such an item is now there because a directory around it was moved, or it was removed.
    mutating func resolvePendingRenames() {
        for (goal, source) in pendingRenames {
            worklist.addArrival(at: goal, from: source.location, inode: source.inode)
        }
        pendingRenames = [:]
    }

    /// An arrival, and what was found at its goal.
    private struct Goal {
        var arrival: Worklist.Arrival
        var state: ItemState
        /// The value of `Reconciler.version` when the state was found.
        var version: Int
        /// The number of the arrival, in the kernel's order.
        var number: Int
        /// The location where the journal has the item.
        var origin: ItemLocation
    }

    /// Records the renames on the worklist, the uppermost first: the contents of a directory have moved with it. `rest`
    /// receives the locations that are to be compared besides. Returns true if a record was written.
    mutating func pairMoves(
        _ batch: Worklist, rest: (ItemLocation, Hint) -> Void
    ) throws(CoordinationError) -> Bool {
        let arrivals = batch.arrivals
        if arrivals.isEmpty { return false }
        try catchUp()
        var goals: [UInt64: Goal] = [:]
        var (wrote, paired) = (false, Set<Int>())
        var sources: [Source?] = []
        for (number, arrival) in arrivals.enumerated() {
            let known = arrival.inode.map { Source(location: arrival.origin, inode: $0) }
            let source = known ?? takePendingRename(arrival.origin)
            let origin = source.map { location(of: $0) } ?? arrival.origin
            sources.append(source)
            // The same item may be expected there by an arrival before.
            let inode = source?.inode ?? view.treeIndex[origin]?.inode
            if let replaced = takePendingRename(arrival.goal), replaced.inode != inode {
                rest(location(of: replaced), .removal)
            }
            if let state = try view.state(at: arrival.goal) {
                if let inode = arrival.inode, inode != state.inode || goals[inode] != nil { continue }
                goals[state.inode] = Goal(
                    arrival: arrival, state: state, version: version, number: number, origin: origin)
            } else if batch.isRemoved(arrival.goal) {
                rest(origin, .removal)
            } else if arrival.inode == nil, try hasMovedOn(to: arrival.goal, from: origin) {
                paired.insert(number)
            }
        }
        let order = goals.map { (inode: $0, depth: $1.arrival.goal.depth, number: $1.number) }
            .sorted { ($0.depth, $0.number) < ($1.depth, $1.number) }
        var affected: [ItemLocation?: [ItemLocation]] = [:]
        for next in order where !view.isSuperseded {
            guard let goal = goals[next.inode] else { continue }
            for location in [goal.arrival.goal, goal.origin] { affected[location.parent, default: []].append(location) }
            let isBrought = try bring(goal, goals, batch, [])
            if isBrought { wrote = true }
            // Either the directory was recorded already, perhaps without its contents. Or records of other processes
            // that were read since `baseline` may be about its contents at this location, or may have moved what the
            // journal had in another directory.
            if goal.state.type == .directory && (version != baseline || !isBrought) {
                unlisted.append(goal.arrival.goal)
            }
            let isThere = view.treeIndex[goal.arrival.goal]?.looksLike(goal.state) ?? false
            let hasLeft = view.treeIndex[goal.arrival.origin] == nil && view.treeIndex[goal.origin] == nil
            // A rename that is postponed is no removal: another process may change an item in the directory.
            if isThere && hasLeft || postponedMoves[goal.arrival.goal] != nil { paired.insert(goal.number) }
            // It has moved on since it was found there.
            if !isThere, goal.arrival.inode == nil, !batch.isRemoved(goal.arrival.goal),
                try hasMovedOn(to: goal.arrival.goal, from: goal.origin)
            {
                paired.insert(goal.number)
            }
        }
        for (directory, locations) in affected { try noteOtherDirectory(around: locations, directory) }
        for (number, arrival) in arrivals.enumerated() where !paired.contains(number) {
            rest(arrival.goal, .comparison)
            rest(arrival.origin, .removal)
            if let source = sources[number] { rest(location(of: source), .removal) }
        }
        return wrote
    }

    /// Returns whether an item came to a goal by a rename and is not there any more: an event that is still to be read
    /// reports where it went. It is noted in `pendingRenames` then.
    private mutating func hasMovedOn(
        to goal: ItemLocation, from origin: ItemLocation
    ) throws(CoordinationError) -> Bool {
        guard view.treeIndex[goal] == nil, let known = view.treeIndex[origin], try view.state(at: goal) == nil,
            try view.state(at: origin)?.inode != known.inode
        else { return false }
        pendingRenames[goal] = Source(location: origin, inode: known.inode)
        return true
    }

    /// What the journal has at the target of a move, and what has to be recorded before the move.
    private enum Obstacle {
        /// No other item.
        case none
        /// An item that is now at the origin of the move: the two were exchanged. They are recorded as one change.
        case exchanged
        /// An item that was moved itself. Its move is recorded first.
        case movedOn(Goal)
        /// A file, over which a program has renamed another file. That is no move: the caller compares both locations.
        case replaced
        /// A directory, or a file for which a directory came. Its removal is recorded first.
        case removed
    }

    /// Returns what the journal has at the target of a move. `visited` are the targets of the moves that wait for this
    /// one: an item that was moved to one of them was exchanged.
    private mutating func obstacle(
        at target: ItemLocation, of state: ItemState, from origin: ItemLocation, _ goals: [UInt64: Goal],
        _ visited: [ItemLocation]
    ) throws(CoordinationError) -> Obstacle {
        guard let occupant = view.treeIndex[target], occupant.inode != state.inode else { return .none }
        if view.treeIndex.location(ofInode: occupant.inode) == target {
            if try view.state(at: origin)?.inode == occupant.inode { return .exchanged }
            if let other = goals[occupant.inode], other.arrival.goal != target {
                return visited.contains(other.arrival.goal) ? .exchanged : .movedOn(other)
            }
        }
        return occupant.type != .directory && state.type != .directory ? .replaced : .removed
    }

    /// Records that the item at a goal came there from its origin. If the goal was occupied by an item that itself went
    /// elsewhere, that move is recorded first; if that leads back to this goal, the two items were exchanged.
    private mutating func bring(
        _ goal: Goal, _ goals: [UInt64: Goal], _ batch: Worklist, _ visited: [ItemLocation]
    ) throws(CoordinationError) -> Bool {
        let target = goal.arrival.goal
        var (wrote, known) = (false, Optional(goal.state))
        while true {
            try catchUp()
            if view.isSuperseded { return wrote }
            let looked = stamp
            if version != goal.version { known = try view.state(at: target) }
            guard let state = known, let origin = self.origin(of: goal, state, batch), origin != target,
                !target.isBelow(origin), view.treeIndex[origin]?.type == state.type
            else { return wrote }
            switch try recordDirectories(around: target) {
            case .recorded: break
            case .noDirectory: return wrote
            case .busy:
                postpone(target, .comparison)
                postponedMoves[target] = Source(location: origin, inode: state.inode)
                return wrote
            }
            // The origin is another name (hard link) of the same file. (The kernel reports no rename between two names
            // of a file.)
            if origin != goal.arrival.origin, try view.state(at: origin)?.inode == state.inode { return wrote }
            let occupant = view.treeIndex[target]
            var isExchange = false
            switch try obstacle(at: target, of: state, from: origin, goals, visited) {
            case .none: break
            case .exchanged: isExchange = true
            case .movedOn(let other):
                if try bring(other, goals, batch, visited + [target]) { wrote = true }
                if view.treeIndex[target] == occupant { return wrote }
                continue
            case .replaced: return wrote
            case .removed:
                guard try remove(target, replacedBy: state.inode) else { return wrote }
                wrote = true
                continue
            }
            if stamp != looked { continue }
            if try view.isBusy([target, origin], in: directory(origin) + (isExchange ? directory(target) : [])) {
                postpone(target, .comparison)
                if isExchange { postpone(origin, .comparison) }
                postponedMoves[target] = Source(location: origin, inode: state.inode)
                return wrote
            }
            let other = isExchange ? try view.state(at: origin) : nil
            if isExchange && other == nil { return wrote }
            guard let record = moveRecord(to: target, state, from: origin, exchanging: other) else { return wrote }
            guard try append(record) else { continue }
            // A directory with the inode number of the one that stood there may be another one, as file systems reuse
            // numbers.
            if isExchange && state.type == .directory { unlisted += [target, origin] }
            return true
        }
    }

    /// Returns the location that the journal has for the item at a goal; for a file with several names, the one that
    /// the kernel reported. Returns nil if the journal has the item at the goal, or if the journal has the inode number
    /// only for an item that is gone.
    private func origin(of goal: Goal, _ state: ItemState, _ batch: Worklist) -> ItemLocation? {
        // The journal has the item at the goal.
        if view.treeIndex[goal.arrival.goal]?.inode == state.inode { return nil }
        for location in [goal.arrival.origin, goal.origin] where view.treeIndex[location]?.inode == state.inode {
            return view.treeIndex.isReplaced(location) ? nil : location
        }
        guard let location = view.treeIndex.location(ofInode: state.inode), !batch.isRemoved(location) else {
            return nil
        }
        return location
    }

    private func moveRecord(
        to goal: ItemLocation, _ state: ItemState, from origin: ItemLocation, exchanging found: ItemState?
    ) -> ChangeRecord? {
        guard var moved = view.treeIndex[origin] else { return nil }
        // The state from before the move, except for the date that the move itself changes.
        moved.changed = state.changed
        guard let found else { return view.record(.moved, goal, moved, from: origin, other: nil) }
        guard var other = view.treeIndex[goal], other.inode == found.inode else { return nil }
        other.changed = found.changed
        return view.record(.exchanged, goal, moved, from: origin, other: other)
    }

    /// Returns where the journal has an item that is new at `location`, if nothing stands there any more.
    mutating func moveOrigin(
        of location: ItemLocation, _ found: ItemState?
    ) throws(CoordinationError) -> ItemLocation? {
        guard let found, let origin = view.treeIndex.location(ofInode: found.inode), let known = view.treeIndex[origin],
            view.mayComeFrom(origin), try view.state(at: origin) == nil
        else { return nil }
        if ExternalChange.isMove(of: known, to: found) { return origin }
        // The date of a directory changes with its entries, which has no record.
        if known.type != .directory || found.type != .directory { return nil }
        return try hasBrought(from: origin, to: location) ? origin : nil
    }

    /// Returns whether an item of a directory is in another one, under its name, as it was. A new directory that got
    /// the inode number of the old one has none.
    private mutating func hasBrought(
        from origin: ItemLocation, to directory: ItemLocation
    ) throws(CoordinationError) -> Bool {
        for entry in view.treeIndex.entries(of: origin, atMost: 16) {
            guard let known = view.treeIndex[entry], let location = entry.moved(from: origin, to: directory),
                let found = try view.state(at: location)
            else { continue }
            if ExternalChange.isMove(of: known, to: found) { return true }
        }
        return false
    }

    /// Notes the other names (hard links) of a file: a write through one name changes the content under all of them.
    mutating func noteOtherNames(of location: ItemLocation, _ record: ChangeRecord) {
        guard [.modified, .touched].contains(record.kind), let inode = record.state?.inode else { return }
        for other in view.treeIndex.names(ofInode: inode) where other != location { worklist.add(other, .content) }
    }
}
