public import GroupContainer

/// Handling. Each call takes the first item that waits. Of several processes that handle, each takes an item of its own.
extension ShareInbox {
    /// Handles the next item exactly once: by a durable transaction that includes the item's removal. Returns the result of
    /// `body`; nil if no item waits. `body` has access to the item's files, and to what `intents` name; it may move the
    /// files to other places. If it throws, or the process is killed, nothing was changed, and the item waits.
    ///
    /// Errors: those of `body` and of `Coordinator.transaction`; for an item that cannot be read, those of
    /// `Access.read(_:as:)`, after which `remove` removes it.
    public func handleNext<Answer: Sendable>(
        changing intents: [AccessIntent], timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (SharedItem, Access) throws -> Answer
    ) async throws -> Answer? {
        for identifier in try identifiers() {
            let all = [.writing(path(of: identifier), .forDeleting)] + intents
            let (answer, _) = try await coordinator.transaction(all, timeout: timeout) { access in
                try handle(identifier, by: access, body)
            }
            if let answer { return answer }
        }
        return nil
    }

    /// Handles an item in a transaction. Returns nil if another process has handled it meanwhile.
    func handle<Answer>(
        _ identifier: String, by access: Access, _ body: (SharedItem, Access) throws -> Answer
    ) throws -> Answer? {
        guard let shared = try SharedItem(identifier, in: self, by: access) else { return nil }
        let answer = try body(shared, access)
        try access.remove(shared.place, recursively: true)
        return answer
    }

    /// Handles the next item at least once, for work that is no transaction of the container. Returns false if no item
    /// waits. The item is removed when `body` has returned. If it throws, or the process is killed, the item waits, and its
    /// next handler finds `again`. The item is locked meanwhile, so that no other process handles it.
    ///
    /// Errors: those of `body` and of `Coordinator.coordinate`; for an item that cannot be read, those of
    /// `Access.read(_:as:)`, after which `remove` removes it.
    public func handleNext(
        timeout: Duration? = Coordinator.lockTimeout, _ body: @Sendable (SharedItem) async throws -> Void
    ) async throws -> Bool {
        for identifier in try identifiers() {
            let intent = AccessIntent.writing(path(of: identifier), .forDeleting)
            let isHandled = try await coordinator.coordinate(intent, timeout: timeout) { (held: HeldAccess) in
                guard let shared = try await held.perform({ try begin(identifier, by: $0) }) else { return false }
                try await body(shared)
                return try await held.perform { try remove(identifier, by: $0) }
            }
            if isHandled { return true }
        }
        return false
    }

    /// Reads an item and marks it, so that the next handler knows of this one. Returns nil if another process has handled
    /// it meanwhile.
    func begin(_ identifier: String, by access: Access) throws -> SharedItem? {
        let shared = try SharedItem(identifier, in: self, by: access)
        if let shared, !shared.again { try access.write(bytes: [], to: ItemPath("\(shared.place)/\(Self.mark)")) }
        return shared
    }

    /// Handles all items that wait and that come, exactly once, until the task is cancelled or `body` throws. See
    /// `handleNext(changing:timeout:_:)`.
    public func handleEach(
        changing intents: [AccessIntent], _ body: @escaping @Sendable (SharedItem, Access) throws -> Void
    ) async throws {
        try await onArrivals { while try await handleNext(changing: intents, body) != nil {} }
    }

    /// Handles all items that wait and that come, at least once, until the task is cancelled or `body` throws. See
    /// `handleNext(timeout:_:)`.
    public func handleEach(_ body: @Sendable (SharedItem) async throws -> Void) async throws {
        try await onArrivals { while try await handleNext(body) {} }
    }

    /// Calls `work`, and again whenever something comes.
    private func onArrivals(_ work: () async throws -> Void) async throws {
        // The stream begins before the first look, so that nothing between them is missed.
        let changes = container.changes(since: .now, matching: ChangeFilter(including: ["\(directory)/**"]))
        var iterator = changes.makeAsyncIterator()
        repeat {
            try await work()
        } while try await iterator.next() != nil
    }
}
