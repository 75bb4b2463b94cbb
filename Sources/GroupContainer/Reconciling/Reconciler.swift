// Imports nothing: no file, clock or process.

/// Finds out what was changed without coordination, by comparing what stands on the disk with what the journal says,
/// and journals it. Events only say where to look.
///
/// No lock is needed. A record is right if nothing came in between the reading of the journal, the look at the disk
/// and the record: it is appended only exactly behind what was read, and only if no coordinated change of the item is
/// pending *after* the look. (A coordinated change is announced before its rename and until its record is appended; so
/// one whose rename was seen is either announced still, or has its record behind what was read.) This is optimistic
/// concurrency control (Kung and Robinson, 1981) with the journal's end as the version.
struct Reconciler<View: FileSystemView> {
    var view: View
    var worklist = Worklist()
    /// What somebody was busy with: to be looked at again later.
    private(set) var postponed: [ItemLocation: Hint] = [:]
    /// Places to which something was renamed that had gone on from there when it was looked for, and where the journal
    /// has it.
    var passing: [ItemLocation: Source] = [:]
    /// Files that were journalled without their content's hash.
    private(set) var unhashed: [ItemLocation] = []
    /// Directories that are new here: what is in them is to be compared.
    var unlisted: [ItemLocation] = []

    /// What was to be looked at where nothing stood. It may have gone elsewhere, alone or with its directory.
    private var vanished: [(ItemLocation, Hint)] = []

    init(_ view: View) { self.view = view }

    private enum Outcome { case nothing, wrote, gone, postponed }

    /// How often others' records were read: what was found on the disk before is out of date then.
    private(set) var version = 0
    /// As it was before the events were read that are looked into.
    var baseline = 0

    /// How often anything was read or written: what was found out before, of the journal, is out of date then.
    private(set) var stamp = 0

    mutating func catchUp() throws(CoordinationError) {
        if !(try view.catchUp()) { return }
        version += 1
        stamp += 1
    }

    mutating func append(_ record: ChangeRecord) throws(CoordinationError) -> Bool {
        if !(try view.append(record)) { return false }
        stamp += 1
        return true
    }

    /// Looks at everything that was noted: what came from elsewhere first, so that a move is told as one; then what is
    /// there, then what is gone. True if it wrote anything.
    @discardableResult
    mutating func work() throws(CoordinationError) -> Bool {
        for (location, why) in postponed { worklist.add(location, why) }
        postponed = [:]
        var taken = worklist.take()
        var rest: [(location: ItemLocation, why: Hint)] = []
        var wrote = try settle(taken) { rest.append(($0, $1)) }
        for (location, why) in rest { taken.add(location, why) }
        var gone: [ItemLocation] = []
        for location in taken.order where !view.isSuperseded {
            switch try reconcile(location, taken.hints[location] ?? .comparison, tellsRemoval: false) {
            case .gone: if !taken.awaitsEventOfRemoval(location) { gone.append(location) }
            case .wrote: wrote = true
            case .nothing, .postponed: break
            }
        }
        for location in gone where !view.isSuperseded {
            if try remove(location) { wrote = true }
        }
        return wrote
    }

    mutating func takeUnhashed() -> [ItemLocation] {
        defer { unhashed = [] }
        return unhashed
    }

    mutating func takeUnlisted() -> [ItemLocation] {
        defer { unlisted = [] }
        return unlisted
    }

    mutating func takeVanished() -> [(ItemLocation, Hint)] {
        defer { vanished = [] }
        return vanished
    }

    private mutating func reconcile(
        _ location: ItemLocation, _ why: Hint, tellsRemoval: Bool
    ) throws(CoordinationError) -> Outcome {
        var outcome = Outcome.nothing
        while true {
            try catchUp()
            if view.isSuperseded { return outcome }
            let looked = stamp
            let known = view.treeIndex[location]
            let found = try view.found(location)
            if found == nil {
                vanished.append((location, why))
                if known != nil && !tellsRemoval { return .gone }
            }
            // What is in it went before it, and may have been seen there a moment ago.
            if found == nil, known?.type == .directory, !view.treeIndex.below(location).isEmpty {
                for inner in view.treeIndex.below(location) {
                    if try reconcile(inner, .comparison, tellsRemoval: true) == .wrote { outcome = .wrote }
                }
                if stamp != looked { continue }
                postpone(location, why)
                return outcome == .wrote ? .wrote : .postponed
            }
            if found?.type != .directory, known?.type != .directory {
                // Made under a lock in a directory that nobody was told of, or that has gone since.
                for inner in view.treeIndex.below(location) {
                    if try reconcile(inner, .comparison, tellsRemoval: true) == .wrote { outcome = .wrote }
                }
            }
            let change = ExternalChange.decide(known: known, found: found, by: why)
            if change == .nothing { return outcome }
            if let found {
                switch known == nil ? try tellDirectories(around: location) : .told {
                case .told: break
                case .gone: return outcome
                case .busy:
                    postpone(location, why)
                    return outcome == .wrote ? .wrote : .postponed
                }
                if let known, known.type == .directory, known.inode != found.inode || found.type != .directory {
                    if try tellContents(ofReplaced: location) { outcome = .wrote }
                    if found.type != .directory && !view.treeIndex.below(location).isEmpty && stamp == looked {
                        postpone(location, why)
                        return outcome == .wrote ? .wrote : .postponed
                    }
                } else if change == .replaced, !view.treeIndex.below(location).isEmpty {
                    // Written under a lock into the directory that nobody was told of yet: that is told with it, anew.
                    if try remove(location, replacedBy: found.inode) {
                        outcome = .wrote
                        continue
                    }
                    postpone(location, why)
                    return outcome == .wrote ? .wrote : .postponed
                }
            }
            // What was told on the way may have been about this item, too.
            if stamp != looked { continue }
            let origin = known == nil ? try moveOrigin(of: location, found) : nil
            let leaves = origin ?? (change == .removed || change == .replaced ? location : nil)
            if try view.isBusy([location] + (origin.map { [$0] } ?? []), in: directory(leaves)) {
                postpone(location, why)
                return outcome == .wrote ? .wrote : .postponed
            }
            guard let record = try record(change, location, why, known: known, found: found, from: origin) else {
                return outcome
            }
            // What was read may be what a change has put there that was begun after the question, and has no record
            // yet.
            if record.state?.contentHash != nil, try view.isBusy([location], in: []) {
                postpone(location, why)
                return outcome == .wrote ? .wrote : .postponed
            }
            guard try append(record) else { continue }
            outcome = .wrote
            noteOtherNames(of: location, record)
            if let state = record.state, state.inode != known?.inode {
                try noteStrangeDirectory(around: [location], location.parent)
            }
            if let origin, let found {
                // It may have come here with the directory around it, which an event that is still to be read tells.
                vanished.append((origin, .comparison))
                // It was written before, if its date does not tell.
                if found.type == .file && view.isFresh(found) { worklist.add(location, .content) }
            }
            if let state = record.state {
                if record.kind != .moved && state.type == .file && state.contentHash == nil {
                    unhashed.append(location)
                }
                if state.type == .directory && state.inode != known?.inode { unlisted.append(location) }
            }
            // One that is written without pause would keep us for ever; there will be another event.
            if record.kind == .modified || record.kind == .touched { return .wrote }
        }
    }

    /// What is in it first.
    private mutating func remove(_ location: ItemLocation) throws(CoordinationError) -> Bool {
        var wrote = false
        for inner in view.treeIndex.below(location) {
            if try reconcile(inner, .comparison, tellsRemoval: true) == .wrote { wrote = true }
        }
        let isLeft = !view.treeIndex.below(location).isEmpty
        if isLeft, try view.found(location) == nil {
            postpone(location, .removal)
            return wrote
        }
        return try reconcile(location, .removal, tellsRemoval: true) == .wrote || wrote
    }

    /// Another thing stands there now, of that number, and is to be told as having moved there: so what stood there is
    /// told as gone, what was in it first, whatever is in the other one.
    mutating func remove(_ location: ItemLocation, replacedBy inode: UInt64) throws(CoordinationError) -> Bool {
        var (wrote, listed) = (false, version)
        var doomed: [ItemLocation] = []
        while true {
            try catchUp()
            // Others go on writing there.
            if doomed.isEmpty || version != listed {
                listed = version
                doomed = [location] + view.treeIndex.below(location).reversed()
            }
            guard !view.isSuperseded, let gone = doomed.last, view.treeIndex[location] != nil,
                try view.found(location)?.inode == inode, try !view.isBusy([location, gone], in: directory(gone))
            else { return wrote }
            if try append(view.record(.removed, gone, nil, from: nil, other: nil)) {
                doomed.removeLast()
                wrote = true
            }
        }
    }

    /// They were found by way of another directory than the journal has there: an event that is still to be read tells
    /// where that one went, and with it what was just told.
    mutating func noteStrangeDirectory(
        around places: [ItemLocation], _ directory: ItemLocation?
    ) throws(CoordinationError) {
        guard let directory, let there = try view.found(directory), view.treeIndex[directory]?.inode != there.inode
        else {
            return
        }
        vanished += places.map { ($0, .comparison) }
    }

    enum Telling { case told, gone, busy }

    /// A directory is told before what is in it.
    mutating func tellDirectories(around location: ItemLocation) throws(CoordinationError) -> Telling {
        for directory in location.ancestors where view.treeIndex[directory]?.type != .directory {
            _ = try reconcile(directory, .comparison, tellsRemoval: false)
            if view.treeIndex[directory]?.type == .directory { continue }
            return postponed[directory] == nil ? .gone : .busy
        }
        return .told
    }

    /// The place, if the journal has a directory there: what others change in it has its record before it goes.
    func directory(_ place: ItemLocation?) -> [ItemLocation] {
        place.flatMap { view.treeIndex[$0]?.type == .directory ? [$0] : nil } ?? []
    }

    /// Another one stands there, and nobody was told of what was in the one that went. True if anything was written.
    private mutating func tellContents(ofReplaced directory: ItemLocation) throws(CoordinationError) -> Bool {
        var wrote = false
        // What stands in the new one is compared when that is listed: one that is written without pause would keep us.
        for inner in view.treeIndex.below(directory) where try view.found(inner) == nil {
            if try reconcile(inner, .comparison, tellsRemoval: true) == .wrote { wrote = true }
        }
        return wrote
    }

    mutating func postpone(_ location: ItemLocation, _ why: Hint) {
        postponed[location] = max(why, postponed[location] ?? why)
    }

    /// The next record that the item needs, or nil. Asked again after each, so a replaced item gets its two.
    private mutating func record(
        _ decided: ExternalChange, _ location: ItemLocation, _ why: Hint, known: ItemState?, found: ItemState?,
        from origin: ItemLocation?
    ) throws(CoordinationError) -> ChangeRecord? {
        var (change, state) = (decided, found)
        if let origin, let state, var moved = view.treeIndex[origin] {
            moved.changed = state.changed
            return view.record(.moved, location, moved, from: origin, other: nil)
        }
        if let file = state, file.type == .file, file.size <= ItemState.largestHashed,
            [.created, .modified, .needsContent].contains(change),
            change == .needsContent || why != .comparison || view.isFresh(file)
        {
            // Its dates are those from before it was read: what is written meanwhile shows as another change.
            do {
                state?.contentHash = try view.contentHash(of: location, inode: file.inode)
            } catch {
                if error.code != .notFound { throw error }
                vanished.append((location, why))
                return nil
            }
        }
        if change == .needsContent, let known, let found = state {
            change = found.contentHash.map { ExternalChange.decide(hash: $0, known: known, found: found) } ?? .modified
        }
        switch change {
        case .nothing, .needsContent: return nil
        case .created: return view.record(.created, location, state, from: nil, other: nil)
        case .modified: return view.record(.modified, location, state, from: nil, other: nil)
        case .touched:
            state?.contentHash = known?.contentHash
            return view.record(.touched, location, state, from: nil, other: nil)
        case .removed, .replaced: return view.record(.removed, location, nil, from: nil, other: nil)
        }
    }
}
