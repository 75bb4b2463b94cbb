// Imports nothing: no file, clock or process.

/// Renames. Of those that the kernel told of as pairs the inode says what came from where, whatever its dates are.
extension Reconciler {
    /// What the journal has somewhere. Records of directories around it may have moved it since.
    struct Source: Equatable, Sendable {
        var location: ItemLocation
        var inode: UInt64
    }

    private func place(of source: Source) -> ItemLocation {
        if view.treeIndex[source.location]?.inode == source.inode { return source.location }
        return view.treeIndex.place(ofInode: source.inode) ?? source.location
    }

    private mutating func takePassing(_ location: ItemLocation) -> Source? {
        passing.isEmpty ? nil : passing.removeValue(forKey: location)
    }

    /// The kernel told that it is gone, or has left the container: so is what was last heard of there.
    mutating func noteRemoval(_ location: ItemLocation) {
        worklist.add(location, .removal)
        for (place, source) in passing where place == location || place.isBelow(location) {
            passing[place] = nil
            worklist.add(self.place(of: source), .removal)
        }
    }

    /// The kernel told of a rename within the container.
    mutating func noteMove(from origin: ItemLocation, to goal: ItemLocation, isDirectory: Bool) {
        if isDirectory {
            // Where it was, too: the kernel tells of an exchange as of two renames, one after the other.
            for (place, source) in passing {
                if let place = place.moved(from: origin, to: goal) { passing[place] = source }
            }
            for (location, why) in postponed {
                guard let place = location.moved(from: origin, to: goal) else { continue }
                postpone(place, why)
            }
        }
        // What had arrived there before was replaced, if nothing told that it went on.
        if let replaced = takePassing(goal) { worklist.add(place(of: replaced), .removal) }
        worklist.addMove(from: origin, to: goal, isDirectory: isDirectory)
        if let source = takePassing(origin) {
            worklist.addMove(from: place(of: source), to: goal, isDirectory: isDirectory)
        }
    }

    /// Every event was read that could tell where something went on to: so it is where a directory around it went, or
    /// gone.
    mutating func endPassing() {
        for (place, source) in passing { worklist.addArrival(at: place, from: source.location, inode: source.inode) }
        passing = [:]
    }

    /// Where something arrived, and what was found there.
    private struct Goal {
        var arrival: Worklist.Arrival
        var state: ItemState
        /// Of the journal when it was found.
        var version: Int
        /// Which arrival it was, in the kernel's order.
        var number: Int
        /// Where the journal has it, if it went on from there.
        var origin: ItemLocation
    }

    /// The uppermost first: what is in a directory has moved with it. `rest` gets what is to be looked at besides.
    mutating func settle(
        _ taken: Worklist, rest: (ItemLocation, Hint) -> Void
    ) throws(CoordinationError) -> Bool {
        let arrivals = taken.arrivals
        if arrivals.isEmpty { return false }
        try catchUp()
        var goals: [UInt64: Goal] = [:]
        var (wrote, settled) = (false, Set<Int>())
        var sources: [Source?] = []
        for (number, arrival) in arrivals.enumerated() {
            let known = arrival.inode.map { Source(location: arrival.origin, inode: $0) }
            let source = known ?? takePassing(arrival.origin)
            let origin = source.map { place(of: $0) } ?? arrival.origin
            sources.append(source)
            if let replaced = takePassing(arrival.goal), replaced != source {
                rest(place(of: replaced), .removal)
            }
            if let state = try view.found(arrival.goal) {
                if let inode = arrival.inode, inode != state.inode || goals[inode] != nil { continue }
                goals[state.inode] = Goal(
                    arrival: arrival, state: state, version: version, number: number, origin: origin)
            } else if taken.isRemoved(arrival.goal) {
                rest(origin, .removal)
            } else if arrival.inode == nil, view.treeIndex[arrival.goal] == nil, let known = view.treeIndex[origin],
                try view.found(origin)?.inode != known.inode
            {
                // It has gone on from there, as an event that is still to be read tells.
                passing[arrival.goal] = Source(location: origin, inode: known.inode)
                settled.insert(number)
            }
        }
        let order = goals.values.sorted { ($0.arrival.goal.depth, $0.number) < ($1.arrival.goal.depth, $1.number) }
        var told: [ItemLocation?: [ItemLocation]] = [:]
        for goal in order where !view.isSuperseded {
            for place in [goal.arrival.goal, goal.origin] { told[place.parent, default: []].append(place) }
            let isBrought = try bring(goal, goals, taken, [])
            if isBrought { wrote = true }
            // It was told already, perhaps without what is in it. Or others' records that were read since before it
            // moved may be about what was in it when it stood here already, or have moved what the journal had in
            // another one.
            if goal.state.type == .directory && (version != baseline || !isBrought) {
                unlisted.append(goal.arrival.goal)
            }
            let isThere = view.treeIndex[goal.arrival.goal]?.looksLike(goal.state) ?? false
            let hasLeft = view.treeIndex[goal.arrival.origin] == nil && view.treeIndex[goal.origin] == nil
            if isThere && hasLeft { settled.insert(goal.number) }
        }
        for (directory, places) in told { try noteStrangeDirectory(around: places, directory) }
        for (number, arrival) in arrivals.enumerated() where !settled.contains(number) {
            rest(arrival.goal, .comparison)
            rest(arrival.origin, .removal)
            if let source = sources[number] { rest(place(of: source), .removal) }
        }
        return wrote
    }

    /// Journals that what stands at a goal came there from where it was. What stood there before and went elsewhere
    /// itself goes first; if that leads back here, places were exchanged.
    private mutating func bring(
        _ goal: Goal, _ goals: [UInt64: Goal], _ taken: Worklist, _ visited: [ItemLocation]
    ) throws(CoordinationError) -> Bool {
        let place = goal.arrival.goal
        var (wrote, known) = (false, Optional(goal.state))
        while true {
            try catchUp()
            if view.isSuperseded { return wrote }
            let looked = stamp
            if version != goal.version { known = try view.found(place) }
            guard let state = known, let origin = self.origin(of: goal, state, taken), origin != place,
                !place.isBelow(origin), view.treeIndex[origin]?.type == state.type
            else { return wrote }
            switch try tellDirectories(around: place) {
            case .told: break
            case .gone: return wrote
            case .busy:
                postpone(place, .comparison)
                return wrote
            }
            // Another name of the same file, rather than a new place. (The kernel tells of no rename between two.)
            if origin != goal.arrival.origin, try view.found(origin)?.inode == state.inode { return wrote }
            var isExchange = false
            if let occupant = view.treeIndex[place], occupant.inode != state.inode {
                let wasHere = view.treeIndex.place(ofInode: occupant.inode) == place
                if wasHere, try view.found(origin)?.inode == occupant.inode {
                    isExchange = true
                } else if wasHere, let other = goals[occupant.inode], other.arrival.goal != place {
                    isExchange = visited.contains(other.arrival.goal)
                    if !isExchange {
                        if try bring(other, goals, taken, visited + [place]) { wrote = true }
                        if view.treeIndex[place] == occupant { return wrote }
                        continue
                    }
                } else if occupant.type != .directory && state.type != .directory {
                    // A save by way of another file: that one's content is new, and the other name is gone.
                    return wrote
                } else if try remove(place, replacedBy: state.inode) {
                    wrote = true
                    continue
                } else {
                    return wrote
                }
            }
            if stamp != looked { continue }
            if try view.isBusy([place, origin], in: directory(origin) + (isExchange ? directory(place) : [])) {
                postpone(place, .comparison)
                postpone(origin, .comparison)
                return wrote
            }
            let other = isExchange ? try view.found(origin) : nil
            if isExchange && other == nil { return wrote }
            guard let record = moveRecord(to: place, state, from: origin, exchanging: other) else { return wrote }
            guard try append(record) else { continue }
            // A directory with the number of the one that stood there may be another one, as numbers are given again.
            if isExchange && state.type == .directory { unlisted += [place, origin] }
            return true
        }
    }

    /// Of a file with several names the one that the kernel told of. Nil for what only has the number of something that
    /// has gone.
    private func origin(of goal: Goal, _ state: ItemState, _ taken: Worklist) -> ItemLocation? {
        // It is known to be there.
        if view.treeIndex[goal.arrival.goal]?.inode == state.inode { return nil }
        for told in [goal.arrival.origin, goal.origin] where view.treeIndex[told]?.inode == state.inode { return told }
        guard let place = view.treeIndex.place(ofInode: state.inode), !taken.isRemoved(place) else { return nil }
        return place
    }

    private func moveRecord(
        to goal: ItemLocation, _ state: ItemState, from origin: ItemLocation, exchanging found: ItemState?
    ) -> ChangeRecord? {
        guard var moved = view.treeIndex[origin] else { return nil }
        // As it was when it moved, but for what the move itself changes.
        moved.changed = state.changed
        guard let found else { return view.record(.moved, goal, moved, from: origin, other: nil) }
        guard var other = view.treeIndex[goal], other.inode == found.inode else { return nil }
        other.changed = found.changed
        return view.record(.exchanged, goal, moved, from: origin, other: other)
    }

    /// Where the thing that is new here was recorded before, if nothing stands there any more.
    mutating func moveOrigin(
        of location: ItemLocation, _ found: ItemState?
    ) throws(CoordinationError) -> ItemLocation? {
        guard let found, let origin = view.treeIndex.place(ofInode: found.inode), let known = view.treeIndex[origin],
            ExternalChange.isMove(of: known, to: found), try view.found(origin) == nil
        else { return nil }
        return origin
    }

    /// What is written through one name of a file is its content under the others, too.
    mutating func noteOtherNames(of location: ItemLocation, _ record: ChangeRecord) {
        guard [.modified, .touched].contains(record.kind), let inode = record.state?.inode else { return }
        for other in view.treeIndex.names(ofInode: inode) where other != location { worklist.add(other, .content) }
    }
}
