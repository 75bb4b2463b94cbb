import SystemCalls

/// Compares items with their last records and journals what was changed without coordination: for the steward, for short
/// commands where none lives, and for a request that asks for generations. One thread; never waits for a lease.
///
/// What it appends is right because the item is held, by a shared lease of its own or by its caller's lease, the journal
/// was read to its end, and it appends only exactly there: where anybody else's record came in between, it reads on and decides again. So a steward that
/// was stopped and wakes up late can add nothing that is not so.
final class Examiner {
    let member: Member
    private var tree: RecordedTree
    private let term: UInt64
    /// Its caller's: what it covers is not asked for again.
    private let lease: Lease?

    var picture: TreePicture { tree.picture }
    /// Another member's later term stands in the journal.
    var isSuperseded: Bool { tree.newestTerm > term }

    /// Items to look at, in the order in which they came up.
    private var queue: [ItemLocation] = []
    private var evidence: [ItemLocation: Evidence] = [:]
    /// Those whose lease somebody holds: looked at again later.
    private(set) var postponed: [ItemLocation: Evidence] = [:]

    /// For a steward: as of its term, nothing once another one has a later term.
    init(_ member: Member, term: UInt64) throws(CoordinationError) {
        (self.member, self.term, lease) = (member, term, nil)
        tree = try RecordedTree(member.journal)
        try tree.catchUp(member.journal)
    }

    /// For anybody else, under the lease that is held, if any.
    init(_ member: Member, under lease: Lease?) throws(CoordinationError) {
        (self.member, term, self.lease) = (member, .max, lease)
        tree = try member.recordedTree()
    }

    /// Writes the record that begins the term: whoever had an earlier one reads it and stops.
    func announceTerm() throws(CoordinationError) {
        let record = ChangeRecord(
            .term, path: [], state: nil, isCoordinated: false, processIdentifier: processIdentifier(), purpose: [],
            time: wallNanoseconds(), term: term)
        while !isSuperseded {
            try tree.catchUp(member.journal)
            if try tree.append(record, to: member.journal) { return }
        }
    }

    func note(_ location: ItemLocation, _ why: Evidence) {
        if let known = evidence[location] {
            evidence[location] = max(known, why)
        } else {
            evidence[location] = why
            queue.append(location)
        }
    }

    /// Looks at everything that was noted: what is there first, so that a move is seen as one; then what is gone.
    /// True if it wrote anything.
    func work() throws(CoordinationError) -> Bool {
        for (location, why) in postponed { note(location, why) }
        postponed = [:]
        try tree.catchUp(member.journal)
        var wrote = false
        var gone: [ItemLocation] = []
        let noted = queue
        let reasons = evidence
        (queue, evidence) = ([], [:])
        for location in noted where !isSuperseded {
            guard let state = try found(location) else {
                gone.append(location)
                continue
            }
            if let known = picture[location], known.type == .folder && known.inode != state.inode {
                // Another one stands there, and nobody was told of what was in the one that went.
                for inner in picture.below(location) where try found(inner) == nil {
                    if state.type == .folder {
                        gone.append(inner)
                    } else if try examine(inner, .comparison) {
                        wrote = true
                    }
                }
            }
            if try examine(location, reasons[location] ?? .comparison) { wrote = true }
        }
        for location in gone where !isSuperseded {
            for inner in picture.below(location) where try examine(inner, .comparison) { wrote = true }
            if try examine(location, reasons[location] ?? .comparison) { wrote = true }
        }
        return wrote
    }

    private func found(_ location: ItemLocation) throws(CoordinationError) -> ItemState? {
        do throws(Errno) {
            return try member.status(of: location).map { ItemState($0, contentHash: nil) }
        } catch {
            // A parent is a link or a file now, or not ours to enter: nothing that could be named stands there.
            if [.tooManyLinks, .notAFolder, .accessDenied].contains(error) { return nil }
            throw CoordinationError(error, item: printable(location.bytes), operation: "watch")
        }
    }

    private func examine(_ location: ItemLocation, _ why: Evidence) throws(CoordinationError) -> Bool {
        if ForeignChange.decide(known: picture[location], found: try found(location), by: why) == .nothing {
            return false
        }
        let origin = try moveOrigin(of: location)
        let wanted = [location, origin].compactMap { $0 }.filter { !(lease?.covers($0, for: .reading) ?? false) }
        let own: Lease?
        do {
            own = try acquire(wanted)
        } catch {
            // In the second case it is held around here, for something else.
            if error.code != .leaseTimedOut && error.code != .deadlock { throw error }
            postponed[location] = max(why, postponed[location] ?? why)
            return false
        }
        defer { own?.end() }
        var wrote = false
        while true {
            try tree.catchUp(member.journal)
            if isSuperseded { return wrote }
            guard let record = try decide(location, why, from: origin) else { return wrote }
            guard try tree.append(record, to: member.journal) else { continue }
            wrote = true
            // One that is written without pause would keep us, and the lease, for ever; there will be another event.
            if record.kind == .modified || record.kind == .touched { return true }
        }
    }

    /// Without waiting.
    private func acquire(_ wanted: [ItemLocation]) throws(CoordinationError) -> Lease? {
        if wanted.isEmpty { return nil }
        return try LeaseRequest(
            wanted.map { ($0, .reading) }, by: member, for: Array("steward".utf8), operation: "watch"
        ).acquireBlocking(until: Deadline(after: .zero))
    }

    /// Where the thing that is new here was recorded before, if nothing stands there any more.
    private func moveOrigin(of location: ItemLocation) throws(CoordinationError) -> ItemLocation? {
        guard picture[location] == nil, let state = try found(location),
            let origin = picture.place(ofInode: state.inode),
            let known = picture[origin], ForeignChange.isMove(of: known, to: state), try found(origin) == nil
        else { return nil }
        return origin
    }

    /// The next record that the item needs, or nil. Asked again after each, so a replaced item gets its two.
    private func decide(
        _ location: ItemLocation, _ why: Evidence, from origin: ItemLocation?
    ) throws(CoordinationError) -> ChangeRecord? {
        let known = picture[location]
        var state = try found(location)
        var change = ForeignChange.decide(known: known, found: state, by: why)
        if [.created, .modified, .needsContent, .replaced].contains(change), state?.type == .file {
            // Its dates are those from before it was read: what is written meanwhile shows as another change.
            if let size = state?.size, size <= ItemState.largestHashed {
                do {
                    let content = try member.readFile(location, operation: "watch").content
                    state?.contentHash = member.contentHash(of: content)
                } catch {
                    if error.code == .notFound { return nil }
                    // Not ours to read: what stands there is told nevertheless.
                }
            }
        }
        if change == .needsContent, let known, let found = state {
            change = found.contentHash.map { ForeignChange.decide(hash: $0, known: known, found: found) } ?? .modified
        }
        switch change {
        case .nothing, .needsContent: return nil
        case .created:
            if let origin, var moved = picture[origin], let state, ForeignChange.isMove(of: moved, to: state),
                try found(origin) == nil
            {
                // As it was when it moved, but for what the move itself changes.
                moved.changed = state.changed
                return record(.moved, location, moved, from: origin)
            }
            return record(.created, location, state)
        case .modified: return record(.modified, location, state)
        case .touched:
            state?.contentHash = known?.contentHash
            return record(.touched, location, state)
        case .removed, .replaced: return record(.removed, location, nil)
        }
    }

    private func record(
        _ kind: ChangeRecord.Kind, _ location: ItemLocation, _ state: ItemState?, from: ItemLocation? = nil
    ) -> ChangeRecord {
        ChangeRecord(
            kind, path: location.bytes, from: from?.bytes, state: state, isCoordinated: false, processIdentifier: 0,
            purpose: [], time: wallNanoseconds())
    }
}
