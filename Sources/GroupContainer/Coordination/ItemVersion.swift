import GroupSystemCalls

/// Compare and set: the generation of an item is the sequence of its last journal record. A record of a directory
/// around it changes where it stands, not its generation; so a path may be at an earlier generation than before when
/// another item came there with its directory.
extension Access {
    /// The generation that an item is at, or nil where nothing stands; of a symbolic link, that of what it leads to.
    /// What was changed without coordination since its last record is recorded first, so that it has a generation of
    /// its own; up to 1 MiB the content is compared, as dates are coarse.
    ///
    /// The first call of a process is linear in the journal and keeps, in memory, what is linear in the container's
    /// items; each later one is linear in the records since then.
    ///
    /// Errors: `damaged` for the journal; `conflict` for what keeps being changed without coordination; `noSpace` where
    /// there is no room for a record. System calls: openat2, statx, read
    public func generation(of path: ItemPath) throws(CoordinationError) -> UInt64? {
        try recordedItem(at: location(path, for: .reading, "look at"), "look at")?.generation
    }

    /// An item's content and the generation that it has: one that is written with `.generation` of it loses nobody's
    /// change. Not of a snapshot. Complexity as for `generation(of:)`. Errors: those of `readBytes` and
    /// `generation(of:)`.
    public func readVersion(_ path: ItemPath) throws(CoordinationError) -> Versioned<[UInt8]> {
        let location = try location(path, for: .reading, "read")
        for _ in 0..<Self.attempts {
            guard let item = try recordedItem(at: location, "read") else {
                throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "read")
            }
            let (content, before) = try member.readFile(location)
            let after = try status(of: location, "read")
            let hash = item.state.contentHash
            // The lock keeps out only those who ask for one.
            if looksLike(item.state, before), looksLike(item.state, after),
                hash == nil || hash == member.contentHash(of: content)
            {
                return Versioned(content: content, generation: item.generation)
            }
        }
        throw keepsChanging(location, "read")
    }

    /// The same, piece by piece. Only what is larger than 1 MiB is read while `body` runs: if it is changed without
    /// coordination meanwhile, that is a `conflict`, and `body` has read what may never have stood there.
    public func readVersion<Answer>(
        _ path: ItemPath, _ body: (inout ItemReader) throws -> Answer
    ) throws -> Versioned<Answer> {
        let location = try location(path, for: .reading, "read")
        for _ in 0..<Self.attempts {
            guard let item = try recordedItem(at: location, "read") else {
                throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "read")
            }
            var reader = try ItemReader(of: location.bytes, in: member.directory.root, label: printable(location.bytes))
            if !looksLike(item.state, reader.status) { continue }
            if let hash = item.state.contentHash {
                if try hash != member.contentHash(of: reader.hold()) { continue }
                if try !looksLike(item.state, status(of: location, "read")) { continue }
                return Versioned(content: try body(&reader), generation: item.generation)
            }
            let answer = try body(&reader)
            if try looksLike(item.state, status(of: location, "read")) {
                return Versioned(content: answer, generation: item.generation)
            }
            break
        }
        throw keepsChanging(location, "read")
    }

    /// Errors: `conflict`, with the present generation, where the condition does not hold; those of `generation(of:)`.
    func check(
        _ condition: WriteCondition, at location: ItemLocation, _ operation: String
    ) throws(CoordinationError) {
        if condition == .always { return }
        let present = try recordedItem(at: location, operation)?.generation
        if !condition.holds(at: present) {
            throw CoordinationError(
                failed: condition, at: present, item: printable(location.bytes), operation: operation)
        }
    }

    private static let attempts = 8

    /// What stands there, as its last record has it, after it was given one where it differed from it.
    private func recordedItem(
        at location: ItemLocation, _ operation: String
    ) throws(CoordinationError) -> TreeIndex.Item? {
        for _ in 0..<Self.attempts {
            let found = try status(of: location, operation).map { ItemState($0, contentHash: nil) }
            let item = try member.recordedItem(at: location)
            guard let hint = try difference(of: found, from: item?.state, at: location) else { return item }
            try record(location, hint, operation)
        }
        throw keepsChanging(location, operation)
    }

    /// Why it is to be reconciled; nil where it is as recorded.
    private func difference(
        of found: ItemState?, from known: ItemState?, at location: ItemLocation
    ) throws(CoordinationError) -> Hint? {
        if ExternalChange.decide(known: known, found: found, by: .comparison) != .nothing { return .comparison }
        guard let found, found.type == .file, found.size <= ItemState.largestHashed, let hash = known?.contentHash
        else {
            return nil
        }
        do {
            return try member.contentHash(at: location, operation: "look at").hash == hash ? nil : .content
        } catch {
            switch error.code {
            // Not ours to read: its dates must do.
            case .notPermitted: return nil
            // Gone or another thing by now: the next look tells.
            case .notFound, .wrongType, .outsideContainer: return .comparison
            default: throw error
            }
        }
    }

    /// Has a reconciliation record it, and before it what it needs: the directories around it, and what was in it.
    private func record(
        _ location: ItemLocation, _ hint: Hint, _ operation: String
    ) throws(CoordinationError) {
        let reconcileOnce = try ReconcileOnce(member, under: granted)
        for directory in location.ancestors where reconcileOnce.treeIndex[directory] == nil {
            reconcileOnce.note(directory, .comparison)
        }
        reconcileOnce.note(location, hint)
        if try reconcileOnce.work(for: operation, until: deadline) { hasChanged = true }
    }

    private func looksLike(_ state: ItemState, _ status: FileStatus?) -> Bool {
        status.map { state.looksLike(ItemState($0, contentHash: nil)) } ?? false
    }

    private func keepsChanging(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .conflict, item: printable(location.bytes), operation: operation,
            cause: "it keeps being changed without coordination", advice: "try again")
    }
}

extension CoordinationError {
    init(failed condition: WriteCondition, at present: UInt64?, item: String, operation: String) {
        let cause: String
        switch (condition, present) {
        case (.generation(let expected), let present?): cause = "it is at generation \(present), not \(expected)"
        case (.generation(let expected), nil): cause = "nothing stands there, rather than generation \(expected)"
        case (_, let present?): cause = "it is at generation \(present), and nothing was to stand there"
        case (_, nil): cause = "nothing stands there"
        }
        self.init(.conflict, item: item, operation: operation, cause: cause, advice: "read it again")
        generation = present
    }
}

/// What must be so of an item for a change of it to be made; compared under the lock.
public enum WriteCondition: Hashable, Sendable {
    /// Whatever is there.
    case always
    /// Nothing stands there.
    case absent
    /// It is at the generation that was read: nobody has changed it since.
    case generation(UInt64)

    /// `present` is nil where nothing stands.
    func holds(at present: UInt64?) -> Bool {
        switch self {
        case .always: true
        case .absent: present == nil
        case .generation(let expected): present == expected
        }
    }
}

/// An item's content, and the generation that it was read at.
public struct Versioned<Content> {
    /// What was read.
    public var content: Content
    /// For `WriteCondition.generation`.
    public var generation: UInt64
}

extension Versioned: Sendable where Content: Sendable {}
extension Versioned: Equatable where Content: Equatable {}
