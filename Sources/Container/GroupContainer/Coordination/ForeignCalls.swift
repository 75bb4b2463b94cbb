import GroupLocking
import GroupSystemCalls

/// Changes that a closure makes by other calls than those of its access, such as Foundation's. They are found by
/// looking at the items of the request while its locks are held.
extension Access {
    /// Records what programs without coordination have changed in the items that this request writes, so that it is not
    /// taken for a change by this member. Call this before the closure. Errors: `damaged`, `inputOutput`,
    /// `lockTimedOut`
    package func recordEarlierChanges() throws(CoordinationError) {
        try record(by: nil, movedTo: [:], andAt: []) { item throws(CoordinationError) in
            let found = try container.status(of: item, for: "look at").map { ItemState($0, contentHash: nil) }
            let known = try container.recordedState(at: item).state
            return ExternalChange.decide(known: known, found: found, by: .comparison) == .nothing ? nil : .comparison
        }
    }

    /// This member, for what the closure has changed.
    private var author: ChangeAuthor {
        ChangeAuthor(purpose: purpose) {
            let operation = self.container.memberTable.makeOperation()
            self.presenter?.noteOwn(operation)
            return operation
        }
    }

    /// Records a rename that the closure has made, before anything else can stand at the item's old path. Returns
    /// false where something does, or nothing like the item is at the goal. Errors: those of `recordOwnChanges`
    package func recordOwnMove(from origin: ItemPath, to goal: ItemPath) throws(CoordinationError) -> Bool {
        guard let granted, !container.isReadOnly else { return false }
        let goal = try goal.location(for: "move")
        // The goal need not be an item of the request.
        try container.checkIsOurs(goal, "move")
        let reconcileOnce = try ReconcileOnce(container, under: granted, by: author)
        defer { if let made = reconcileOnce.appended { note(made) } }
        return try reconcileOnce.recordMove(from: try origin.location(for: "move"), to: goal)
    }

    /// Records what stands differently on the disk in the items that this request writes, and at `others`, as changes
    /// by this member. Call this after the closure, while the access lasts. `moves` are the renames that the closure
    /// has announced and that are not recorded yet. Errors: `damaged`, `inputOutput`, `lockTimedOut`; what could not be
    /// recorded is an external change
    package func recordOwnChanges(
        movedTo moves: [ItemPath: ItemPath] = [:], andAt others: some Collection<ItemPath> = []
    ) throws(CoordinationError) {
        try record(by: author, movedTo: moves, andAt: others) { item throws(CoordinationError) in
            // An item that is gone is not to be awaited as the other half of a rename.
            try container.status(of: item, for: "look at") == nil ? .comparison : .content
        }
    }

    private func record(
        by author: ChangeAuthor?, movedTo moves: [ItemPath: ItemPath], andAt others: some Collection<ItemPath>,
        _ hint: (ItemLocation) throws(CoordinationError) -> Hint?
    ) throws(CoordinationError) {
        guard let granted, !container.isReadOnly else { return }
        var items: [(location: ItemLocation, hint: Hint)] = []
        for intent in intents where intent.isForWriting {
            guard let location = resolution.location(of: intent.path) else { continue }
            // What is in a directory may differ though the directory itself does not.
            let isWhole = covers(location, for: .tree)
            if let hint = try hint(location) ?? (isWhole ? .comparison : nil) { items.append((location, hint)) }
        }
        for other in others { items.append((try other.location(for: "move"), .content)) }
        if items.isEmpty && moves.isEmpty { return }
        let reconcileOnce = try ReconcileOnce(container, under: granted, by: author)
        defer { if author != nil, let made = reconcileOnce.appended { note(made) } }
        for (origin, goal) in moves {
            let goal = try goal.location(for: "move")
            // The goal need not be an item of the request.
            try container.checkIsOurs(goal, "move")
            try reconcileOnce.recordMove(from: try origin.location(for: "move"), to: goal)
        }
        // The date of a directory is not that in the journal, so that a move of one is not found by it.
        for origin in items where author != nil {
            for goal in items where try reconcileOnce.hasMoved(directory: origin.location, to: goal.location) {
                try reconcileOnce.recordMove(from: origin.location, to: goal.location)
            }
        }
        for item in items {
            reconcileOnce.note(item.location, item.hint)
            if covers(item.location, for: .tree) { reconcileOnce.noteContents(of: item.location) }
        }
        try reconcileOnce.workThrough(for: "coordinate", until: Deadline(after: Self.patience))
    }

    /// How long to wait for another process's change in a directory around an item.
    private static let patience = Duration.seconds(5)

    /// Returns the present path of an item of the request, which may have been moved while its lock was awaited, or be
    /// where a symbolic link leads.
    package func presentPath(of path: ItemPath) -> ItemPath {
        resolution.location(of: path).map { ItemPath(bytes: $0.bytes) } ?? path
    }

    /// Returns the private copy that is to be read in place of an item; nil if there is none, or none is wanted.
    package func copy(for intent: AccessIntent) throws -> AbsolutePath? {
        let isThere = intent.wantsSnapshot && snapshots.contains { $0.path == intent.path }
        return isThere ? try absolutePath(of: intent.path) : nil
    }

    /// Returns whether a request for an item would wait for nothing but this access, which lasts.
    package func covers(_ other: AccessIntent) throws(CoordinationError) -> Bool {
        if other.wantsSnapshot || !other.needsLock { return false }
        let named = try other.path.location(for: "coordinate")
        let location = other.isStructural ? named : try container.resolve(named, operation: "coordinate")
        let isDirectory = try container.status(of: location, for: "coordinate")?.isDirectory == true
        return other.mode(concernsDirectory: isDirectory).map { covers(location, for: $0) } ?? false
    }
}
