// Imports nothing: no file, clock or process.

/// Finds external changes by comparing the disk with the journal, and records them in the journal. Events only give the
/// locations to compare.
///
/// The reconciler takes no lock; only its view takes those of items for a moment, to finish what a dead member left. A
/// record is right if nothing happened between reading the journal, reading the disk and appending the record: a record
/// is appended only directly behind what was read, and only if no coordinated change of the item is in flight *after*
/// the disk was read. (A coordinated change is announced before its rename and until its record is appended. A change
/// whose rename was seen is therefore either still announced, or has its record behind what was read.) This is
/// optimistic concurrency control (Kung and Robinson, 1981) with the end of the journal as the version.
struct Reconciler<View: FileSystemView> {
    var view: View
    var worklist = Worklist()
    /// Locations that another process was busy with, to be compared again later.
    private(set) var postponed: [ItemLocation: Hint] = [:]
    /// Locations to which an item was reported as renamed, and where none was found: it was renamed again. Each with
    /// the item's location in the journal. A later event reports the item's new location.
    var pendingRenames: [ItemLocation: Source] = [:]
    /// The goals of renames that were not recorded, as another process was busy there, each with the item's location in
    /// the journal. They are arrivals again at the next look, unless an event reports that the item has moved on.
    var postponedMoves: [ItemLocation: Source] = [:]
    /// Files that were recorded without a hash of their content.
    private(set) var unhashed: [ItemLocation] = []
    /// Directories that are new at their location, whose contents are to be compared.
    var unlisted: [ItemLocation] = []
    /// Directories that were recorded as created. The journal has nothing in them but what was made there under a lock.
    private var createdDirectories: [ItemLocation] = []

    /// Locations whose items may have been moved, alone or with a directory around them, by a rename whose event is
    /// still to be read: no item was found there, the item was recorded as moved away, or the directory has another
    /// inode than the journal's.
    private var vanished: [(ItemLocation, Hint)] = []

    init(_ view: View) { self.view = view }

    private enum Outcome { case nothing, wrote, missing, postponed }

    /// The number of times that records of other processes were read. What was found on the disk before the last time
    /// is out of date.
    private(set) var version = 0
    /// The value of `version` before the events in progress were read.
    var baseline = 0

    /// The number of times that anything was read or written. What was found in the journal before the last time is out
    /// of date.
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

    /// Compares every location on the worklist: first the arrivals, so that a move becomes one record; then what is
    /// there; then what is gone, in the order in which that was reported. Returns true if a record was written.
    @discardableResult
    mutating func work() throws(CoordinationError) -> Bool {
        for (location, why) in postponed { worklist.add(location, why) }
        postponed = [:]
        for (goal, source) in postponedMoves { worklist.addArrival(at: goal, from: source.location) }
        postponedMoves = [:]
        var batch = worklist.take()
        var rest: [(location: ItemLocation, why: Hint)] = []
        var wrote = try pairMoves(batch) { rest.append(($0, $1)) }
        for (location, why) in rest { batch.add(location, why) }
        var missing: [ItemLocation] = []
        for location in batch.order where !view.isSuperseded {
            switch try reconcile(location, batch.hints[location] ?? .comparison, recordsRemoval: false) {
            case .missing:
                if !batch.awaitsEventOfRemoval(location) && !isOnItsWay(location) { missing.append(location) }
            case .wrote: wrote = true
            case .nothing, .postponed: break
            }
        }
        for location in batch.inOrderOfRemoval(missing) where !view.isSuperseded {
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

    mutating func takeCreatedDirectories() -> [ItemLocation] {
        defer { createdDirectories = [] }
        return createdDirectories
    }

    mutating func takeVanished() -> [(ItemLocation, Hint)] {
        defer { vanished = [] }
        return vanished
    }

    /// Compares a location with the journal, and records what has changed there, until both are the same, or another
    /// process is in the way. See `LocationComparison`.
    private mutating func reconcile(
        _ location: ItemLocation, _ why: Hint, recordsRemoval: Bool
    ) throws(CoordinationError) -> Outcome {
        var wrote = false
        while true {
            try catchUp()
            if view.isSuperseded { return wrote ? .wrote : .nothing }
            let looked = stamp
            let comparison = try compare(location, why, recordsRemoval: recordsRemoval)
            var done: Set<LocationComparison.Preparation> = []
            look: while true {
                switch comparison.nextStep(after: done) {
                case .nothing: return wrote ? .wrote : .nothing
                case .leaveRemoval: return .missing
                case .postpone:
                    postpone(location, why)
                    return wrote ? .wrote : .postponed
                case .prepare(let preparation):
                    switch try prepare(preparation, for: location, comparison) {
                    case .wrote: wrote = true
                    case .nothing: break
                    case .missing: return wrote ? .wrote : .nothing
                    case .postponed:
                        postpone(location, why)
                        return wrote ? .wrote : .postponed
                    }
                    if stamp != looked { break look }
                    done.insert(preparation)
                case .record(let change):
                    switch try record(change, at: location, comparison) {
                    case .appended(let kind):
                        // The record has the state that was found, and each later change causes another event. Without
                        // this, an item that is written all the time would keep this loop running.
                        if [.created, .modified, .touched].contains(kind) { return .wrote }
                        wrote = true
                        break look
                    case .overtaken: break look
                    case .nothing: return wrote ? .wrote : .nothing
                    case .busy:
                        postpone(location, why)
                        return wrote ? .wrote : .postponed
                    }
                }
            }
        }
    }

    /// Looks at a location in the journal and on the disk.
    private mutating func compare(
        _ location: ItemLocation, _ why: Hint, recordsRemoval: Bool
    ) throws(CoordinationError) -> LocationComparison {
        let found = try view.state(at: location)
        if found == nil { vanished.append((location, why)) }
        return LocationComparison(
            hint: why,
            // Followers have dropped an item whose directory was replaced, so an item that is found at its location is
            // recorded as created.
            known: found == nil ? view.treeIndex[location] : view.treeIndex.reported(location), found: found,
            hasItemsBelow: view.treeIndex.hasItems(below: location), isBeingWritten: view.isBeingWritten(location),
            recordsRemoval: recordsRemoval)
    }

    /// Records what has to be in the journal before the item at a location.
    private mutating func prepare(
        _ preparation: LocationComparison.Preparation, for location: ItemLocation, _ comparison: LocationComparison
    ) throws(CoordinationError) -> Outcome {
        switch preparation {
        case .contents:
            var wrote = false
            for inner in view.treeIndex.below(location) {
                if try reconcile(inner, .comparison, recordsRemoval: true) == .wrote { wrote = true }
            }
            return wrote ? .wrote : .nothing
        case .directories:
            switch try recordDirectories(around: location) {
            case .recorded: return .nothing
            case .noDirectory: return .missing
            case .busy: return .postponed
            }
        case .replacedContents: return try recordContents(ofReplaced: location) ? .wrote : .nothing
        case .replacedItem:
            guard let found = comparison.found else { return .nothing }
            return try remove(location, replacedBy: found.inode) ? .wrote : .postponed
        }
    }

    /// The result of recording a change.
    private enum Recording {
        case appended(ChangeRecord.Kind)
        /// Another member has appended a record.
        case overtaken
        case nothing
        /// A change of another process is in flight.
        case busy
    }

    /// Appends the record of a change that was decided, if no coordinated change is in flight there.
    private mutating func record(
        _ change: ExternalChange, at location: ItemLocation, _ comparison: LocationComparison
    ) throws(CoordinationError) -> Recording {
        let (known, found) = (comparison.known, comparison.found)
        let origin = known == nil ? try moveOrigin(of: location, found) : nil
        let leaves = origin ?? (change == .removed || change == .replaced ? location : nil)
        if try view.isBusy([location] + (origin.map { [$0] } ?? []), in: directory(leaves)) { return .busy }
        guard
            let record = try record(change, location, comparison.hint, known: known, found: found, from: origin)
        else { return .nothing }
        // The content that was read may be from a change that began after `isBusy` was called above and has no record
        // yet.
        if record.state?.contentHash != nil, try view.isBusy([location], in: []) { return .busy }
        if try !append(record) { return .overtaken }
        noteOtherNames(of: location, record)
        if let state = record.state, state.inode != known?.inode {
            try noteOtherDirectory(around: [location], location.parent)
        }
        if let origin, let found {
            // The item may have come here with the directory around it; an event that is still to be read reports that.
            vanished.append((origin, .comparison))
            // A fresh date does not show whether the file was written before it moved.
            if found.type == .file && view.isFresh(found) { worklist.add(location, .content) }
        }
        if let state = record.state {
            noteContents(state, at: location, record.kind, isNew: state.inode != known?.inode)
        }
        return .appended(record.kind)
    }

    /// Notes what is still to be read or compared of an item that was recorded.
    private mutating func noteContents(
        _ state: ItemState, at location: ItemLocation, _ kind: ChangeRecord.Kind, isNew: Bool
    ) {
        if kind != .moved && state.type == .file && state.contentHash == nil { unhashed.append(location) }
        guard state.type == .directory && isNew else { return }
        if kind == .created { createdDirectories.append(location) } else { unlisted.append(location) }
    }

    /// Records the removal of an item, its contents first.
    private mutating func remove(_ location: ItemLocation) throws(CoordinationError) -> Bool {
        var wrote = false
        for inner in view.treeIndex.below(location) {
            if try reconcile(inner, .comparison, recordsRemoval: true) == .wrote { wrote = true }
        }
        let isLeft = view.treeIndex.hasItems(below: location)
        if isLeft, try view.state(at: location) == nil {
            postpone(location, .removal)
            return wrote
        }
        return try reconcile(location, .removal, recordsRemoval: true) == .wrote || wrote
    }

    /// Records the removal of the item that the journal has at `location`, its contents first. Another item, with the
    /// inode number `inode`, stands there now and is to be recorded as moved there, so the old item is recorded as
    /// removed whatever the new one contains.
    mutating func remove(_ location: ItemLocation, replacedBy inode: UInt64) throws(CoordinationError) -> Bool {
        try removeAll({ [location] + $0.treeIndex.below(location).reversed() }) {
            (reconciler, missing) throws(CoordinationError) in
            if reconciler.view.treeIndex[location] == nil { return false }
            if try reconciler.view.state(at: location)?.inode != inode { return false }
            return try !reconciler.view.isBusy([location, missing], in: reconciler.directory(missing))
        }
    }

    /// Records items as removed, from the end of `list` to its beginning, for as long as `mayRemove` permits. Returns
    /// true if any record was appended.
    private mutating func removeAll(
        _ list: (View) -> [ItemLocation],
        while mayRemove: (inout Reconciler, ItemLocation) throws(CoordinationError) -> Bool
    ) throws(CoordinationError) -> Bool {
        var (wrote, listed) = (false, version)
        var doomed: [ItemLocation] = []
        while true {
            try catchUp()
            // Other processes go on writing there: the list is made again after each of their records.
            if doomed.isEmpty || version != listed {
                listed = version
                doomed = list(view)
            }
            guard !view.isSuperseded, let missing = doomed.last, try mayRemove(&self, missing) else { return wrote }
            if try append(view.record(.removed, missing, nil, from: nil, other: nil)) {
                doomed.removeLast()
                wrote = true
            }
        }
    }

    /// Records everything below a directory as removed, the deepest items first, because the directory has become a
    /// container of its own and its contents do not belong to this one any more. A writer there, under a lock that was
    /// granted before, may append its record after that; its item is recorded as removed when the directory is compared
    /// again. Returns true if any record was appended.
    mutating func removeContents(of directory: ItemLocation) throws(CoordinationError) -> Bool {
        try removeAll({ $0.treeIndex.below(directory).reversed() }) { _, _ in true }
    }

    /// Adds `locations` to `vanished` if the directory on the disk has another inode than the journal's directory at
    /// this path. An event that is still to be read reports where the journal's directory went, and with it the items
    /// that were just recorded.
    mutating func noteOtherDirectory(
        around locations: [ItemLocation], _ directory: ItemLocation?
    ) throws(CoordinationError) {
        guard let directory, let there = try view.state(at: directory), view.treeIndex[directory]?.inode != there.inode
        else {
            return
        }
        vanished += locations.map { ($0, .comparison) }
    }

    enum ParentResult { case recorded, noDirectory, busy }

    /// Records the directories around an item: a directory is recorded before its contents.
    mutating func recordDirectories(around location: ItemLocation) throws(CoordinationError) -> ParentResult {
        while let directory = view.treeIndex.firstUnreportedDirectory(above: location) {
            _ = try reconcile(directory, .comparison, recordsRemoval: false)
            if view.treeIndex.reported(directory)?.type == .directory { continue }
            return postponed[directory] == nil ? .noDirectory : .busy
        }
        return .recorded
    }

    /// Returns the location in an array if the journal has a directory there, otherwise an empty array. A change that
    /// another process makes in that directory has its record before the directory goes.
    func directory(_ location: ItemLocation?) -> [ItemLocation] {
        location.flatMap { view.treeIndex[$0]?.type == .directory ? [$0] : nil } ?? []
    }

    /// Records as removed the items of a replaced directory that are no longer found. Another directory, a file or a
    /// link is at its path now. Returns true if a record was written.
    private mutating func recordContents(ofReplaced directory: ItemLocation) throws(CoordinationError) -> Bool {
        var wrote = false
        // What stands in the new directory is compared when it is listed: an item there that is written without pause
        // would keep this loop running.
        for inner in view.treeIndex.below(directory) where try view.state(at: inner) == nil {
            if try reconcile(inner, .comparison, recordsRemoval: true) == .wrote { wrote = true }
        }
        return wrote
    }

    mutating func postpone(_ location: ItemLocation, _ why: Hint) {
        postponed[location] = max(why, postponed[location] ?? why)
    }

    /// Returns the file's state with the hash of its content, or without a hash if the file may not be read, is too
    /// large, or was written to during each of three attempts. Returns nil if another lookup finds no file with that
    /// inode.
    ///
    /// The dates are from before the content was read, so that a write in between shows as another change. But if that
    /// write also changed the size, the file is looked up again: the kernel sets a file's date before its size, and
    /// one append would be recorded twice, first as other content and then as another size.
    private mutating func stateWithContent(
        of location: ItemLocation, _ file: ItemState
    ) throws(CoordinationError) -> ItemState? {
        var state = file
        for _ in 0..<3 {
            guard let content = try view.contentHash(of: location, inode: state.inode) else { return state }
            if content.size == state.size {
                state.contentHash = content.hash
                return state
            }
            guard let found = try view.state(at: location), (found.type, found.inode) == (.file, state.inode) else {
                return nil
            }
            state = found
        }
        return state
    }

    /// Returns the next record that the item needs, or nil. The caller calls again after each record, so a
    /// replaced item gets its two records.
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
            do {
                state = try stateWithContent(of: location, file)
            } catch {
                if error.code != .notFound { throw error }
                state = nil
            }
            if state == nil {
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
