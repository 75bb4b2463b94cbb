import GroupLocking
import GroupBytes
import GroupSystemCalls

/// Compare-and-set: the generation of an item is the sequence number of its last journal record. A record of a
/// directory that contains the item changes its path, not its generation. A path may therefore have an earlier
/// generation than before, when another item arrived there with its directory.
extension Access {
    /// Returns an item's generation, or nil where there is no item; for a symbolic link, the generation of its target.
    /// An external change since the item's last record is recorded first, so that it has a generation of its own; up to
    /// 1 MiB, the content is compared, because dates are coarse.
    ///
    /// The first call of a process takes time linear in the journal, and keeps a structure in memory that is linear in
    /// the container's items. Each later call takes time linear in the records since then.
    ///
    /// Errors: `damaged` for the journal; `conflict` for an item that keeps being changed without coordination;
    /// `noSpace` where there is no room for a record. System calls: openat2, statx, read
    public func generation(of path: ItemPath) throws(CoordinationError) -> Generation? {
        try container.locating { () throws(CoordinationError) in try recordedGeneration(of: path) }
    }

    private func recordedGeneration(of path: ItemPath) throws(CoordinationError) -> Generation? {
        let location = try location(path, for: .shared, "look at")
        try backend.checkIsRecorded(location, "look at")
        return try presentGeneration(at: location, "look at")
    }

    /// Returns the generation of the item as it is on the disk, also if it is a symbolic link; nil where there is none.
    func presentGeneration(
        at location: ItemLocation, _ operation: String
    ) throws(CoordinationError) -> Generation? {
        try recordedItem(at: location, operation).map { Generation(rawValue: $0.generation) }
    }

    /// Returns an item's content and its generation. Writing with the condition `.generation` of that value overwrites
    /// no other change. Does not read snapshots. Complexity as for `generation(of:)`. Errors: those of `readBytes` and
    /// `generation(of:)`.
    public func readVersion(_ path: ItemPath) throws(CoordinationError) -> Versioned<[UInt8]> {
        try container.locating { () throws(CoordinationError) in try recordedContent(of: path) }
    }

    private func recordedContent(of path: ItemPath) throws(CoordinationError) -> Versioned<[UInt8]> {
        let location = try location(path, for: .shared, "read")
        try backend.checkIsRecorded(location, "read")
        for _ in 0..<Self.attempts {
            guard let item = try recordedItem(at: location, "read") else {
                throw CoordinationError(Errno.noSuchEntry, operation: "read", item: path.description)
            }
            let (content, before) = try container.readFile(location)
            let after = try status(of: location, "read")
            let hash = item.state.contentHash
            // The lock keeps out only processes that coordinate.
            if looksLike(item.state, before), looksLike(item.state, after),
                hash == nil || hash == container.contentHash(of: content)
            {
                return Versioned(value: content, generation: Generation(rawValue: item.generation))
            }
        }
        throw keepsChanging(location, "read")
    }

    /// Calls `body` to read an item's content piece by piece, and returns its generation. Only content larger than 1
    /// MiB is read while `body` runs: an external change meanwhile throws `conflict`, and `body` may have read content
    /// that never existed as a whole.
    public func readVersion<Answer>(
        _ path: ItemPath, _ body: (inout ItemReader) throws -> Answer
    ) throws -> Versioned<Answer> {
        let location = try location(path, for: .shared, "read")
        try backend.checkIsRecorded(location, "read")
        for _ in 0..<Self.attempts {
            guard let item = try recordedItem(at: location, "read") else {
                throw CoordinationError(Errno.noSuchEntry, operation: "read", item: path.description)
            }
            var reader = try ItemReader(
                of: location.bytes, in: container.directory.root, label: printable(location.bytes), by: container)
            if !looksLike(item.state, reader.status) { continue }
            if let hash = item.state.contentHash {
                if try hash != container.contentHash(of: reader.hold()) { continue }
                if try !looksLike(item.state, status(of: location, "read")) { continue }
                return Versioned(value: try body(&reader), generation: Generation(rawValue: item.generation))
            }
            let answer = try body(&reader)
            if try looksLike(item.state, status(of: location, "read")) {
                return Versioned(value: answer, generation: Generation(rawValue: item.generation))
            }
            break
        }
        throw keepsChanging(location, "read")
    }

    /// Compares a condition with the present generation. Errors: `conflict`, with the present generation, where the
    /// condition does not hold; those of `generation(of:)`.
    func check(
        _ condition: WriteCondition, at location: ItemLocation, _ operation: String
    ) throws(CoordinationError) {
        if condition == .always { return }
        try staging?.noteRead(location, operation)
        let present = try presentGeneration(at: location, operation)
        if !condition.holds(at: present) {
            throw CoordinationError(
                failed: condition, at: present, item: printable(location.bytes), operation: operation)
        }
    }

    private static let attempts = 8

    /// Returns the item as its last record describes it, after recording an external change where the two differ.
    private func recordedItem(
        at location: ItemLocation, _ operation: String
    ) throws(CoordinationError) -> TreeIndex.Item? {
        for _ in 0..<Self.attempts {
            let found = try status(of: location, operation).map { ItemState($0, contentHash: nil) }
            let item = try container.recordedItem(at: location)
            guard let hint = try difference(of: found, from: item?.state, at: location) else { return item }
            try record(location, hint, operation)
        }
        throw keepsChanging(location, operation)
    }

    /// Returns the reason to reconcile the item; nil where it is as recorded.
    private func difference(
        of found: ItemState?, from known: ItemState?, at location: ItemLocation
    ) throws(CoordinationError) -> Hint? {
        if ExternalChange.decide(known: known, found: found, by: .comparison) != .nothing { return .comparison }
        guard let found, found.type == .file, found.size <= ItemState.largestHashed, let hash = known?.contentHash
        else {
            return nil
        }
        do {
            return try container.contentHash(at: location, operation: "look at").content?.hash == hash ? nil : .content
        } catch {
            switch error.code {
            // This user may not read the content; comparing dates must be enough.
            case .notPermitted: return nil
            // The item is gone or replaced by now; the next iteration sees its new state.
            case .notFound, .wrongType, .outsideContainer: return .comparison
            default: throw error
            }
        }
    }

    /// Records the item by reconciling it, and before it the directories around it that the journal lacks and, where a
    /// directory is gone, the items recorded in it.
    private func record(
        _ location: ItemLocation, _ hint: Hint, _ operation: String
    ) throws(CoordinationError) {
        let reconcileOnce = try ReconcileOnce(container, under: granted)
        for directory in location.ancestors where reconcileOnce.treeIndex[directory] == nil {
            reconcileOnce.note(directory, .comparison)
        }
        reconcileOnce.note(location, hint)
        try reconcileOnce.work(for: operation, until: deadline)
    }

    private func looksLike(_ state: ItemState, _ status: FileStatus?) -> Bool {
        status.map { state.looksLike(ItemState($0, contentHash: nil)) } ?? false
    }

    private func keepsChanging(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .conflict, operation: operation, item: printable(location.bytes),
            reason: "the item keeps being changed without coordination", remedy: .tryAgain)
    }
}

extension CoordinationError {
    init(failed condition: WriteCondition, at present: Generation?, item: String, operation: String) {
        let reason =
            switch (condition, present) {
            case (.generation(let expected), let present?): "the item is at generation \(present), not \(expected)"
            case (.generation(let expected), nil): "there is no item, rather than one at generation \(expected)"
            case (_, let present?): "the item is at generation \(present), and was to be absent"
            case (_, nil): "there is no item"
            }
        self.init(.conflict, operation: operation, item: item, reason: reason, generation: present, remedy: .readAgain)
    }
}

/// A condition on the present state of an item or of a key; compared before it is changed, so that no other process
/// changes it in between.
public enum WriteCondition: Hashable, Sendable {
    /// Holds in every state.
    case always
    /// The item does not exist, or nothing is set for the key.
    case absent
    /// The item or the key is at the generation that was read: no change was made since.
    case generation(Generation)

    /// Whether the condition holds; `present` is nil where there is no item.
    func holds(at present: Generation?) -> Bool {
        switch self {
        case .always: true
        case .absent: present == nil
        case .generation(let expected): present == expected
        }
    }
}

/// An item's content or a key's value, and the generation at which it was read.
public struct Versioned<Value> {
    /// The content or the value that was read.
    public var value: Value
    /// The generation, for `WriteCondition.generation`.
    public var generation: Generation

    /// Makes a value with the generation at which it was read.
    public init(value: Value, generation: Generation) {
        self.value = value
        self.generation = generation
    }
}

extension Versioned: Sendable where Value: Sendable {}
extension Versioned: Equatable where Value: Equatable {}
extension Versioned: Hashable where Value: Hashable {}
