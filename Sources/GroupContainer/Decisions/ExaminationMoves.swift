/// Renames that the kernel told of as pairs: the inode says what came from where, whatever its dates are.
extension Examination {
    /// The uppermost first: what is in a folder has moved with it.
    mutating func settle(_ arrivals: [ItemLocation]) throws(CoordinationError) -> Bool {
        var goals: [UInt64: ItemLocation] = [:]
        for goal in arrivals { if let state = try world.found(goal) { goals[state.inode] = goal } }
        var wrote = false
        for goal in goals.values.sorted(by: { $0.depth < $1.depth }) where !world.isSuperseded {
            if try bring(goal, goals, []) { wrote = true }
        }
        return wrote
    }

    /// Journals that what stands at `goal` came there from where it was. What stood there before and went elsewhere
    /// itself goes first; if that leads back here, places were exchanged.
    private mutating func bring(
        _ goal: ItemLocation, _ goals: [UInt64: ItemLocation], _ visited: [ItemLocation]
    ) throws(CoordinationError) -> Bool {
        var wrote = false
        while true {
            try world.catchUp()
            if world.isSuperseded { return wrote }
            guard let state = try world.found(goal), let origin = world.picture.place(ofInode: state.inode),
                origin != goal, !goal.isBelow(origin), world.picture[origin]?.type == state.type
            else { return wrote }
            switch try tellFolders(around: goal) {
            case .told: break
            case .gone: return wrote
            case .busy:
                postpone(goal, .comparison)
                return wrote
            }
            let before = try world.found(origin)
            // Another name of the same file, rather than a new place.
            if before?.inode == state.inode { return wrote }
            var isExchange = false
            if let occupant = world.picture[goal], occupant.inode != state.inode {
                if let other = goals[occupant.inode], other != goal,
                    world.picture.place(ofInode: occupant.inode) == goal
                {
                    isExchange = visited.contains(other)
                    if !isExchange {
                        if try bring(other, goals, visited + [goal]) { wrote = true }
                        if world.picture[goal] == occupant { return wrote }
                        continue
                    }
                } else if occupant.type != .folder && state.type != .folder {
                    // A save by way of another file: that one's content is new, and the other name is gone.
                    return wrote
                } else if try remove(goal, .comparison, replacedBy: state.inode) {
                    wrote = true
                    continue
                } else {
                    return wrote
                }
            }
            if try world.isBusy([goal, origin]) {
                postpone(goal, .comparison)
                postpone(origin, .comparison)
                return wrote
            }
            guard let record = moveRecord(to: goal, state, from: origin, isExchange: isExchange) else { return wrote }
            if try world.append(record) { return true }
        }
    }

    private func moveRecord(
        to goal: ItemLocation, _ state: ItemState, from origin: ItemLocation, isExchange: Bool
    ) -> ChangeRecord? {
        guard var moved = world.picture[origin] else { return nil }
        // As it was when it moved, but for what the move itself changes.
        moved.changed = state.changed
        let other = isExchange ? world.picture[goal] : nil
        return world.record(isExchange ? .exchanged : .moved, goal, moved, from: origin, other: other)
    }
}
