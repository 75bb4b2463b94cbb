public import GroupContainer

/// Handling. Each call takes the first item that waits. Of several processes that handle exactly once, one waits for
/// the other; of those that handle at least once, each takes an item that no other one has.
extension ShareInbox {
    /// Handles the next item exactly once: by a durable transaction that includes the item's removal. Returns the
    /// result of `body`; nil if no item waits. `body` has access to the item's files, and to what `intents` name; it
    /// may move the files to other paths. If it throws, or the process is killed, nothing was changed, and the item
    /// waits.
    ///
    /// Errors: those of `body` and of `Coordinator.transaction`; `SharedItem.Damaged`
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
        try access.remove(shared.path, recursively: true)
        return answer
    }

    /// Handles the next item at least once, for work that is no transaction of the container. Returns false if no item
    /// waits. The item is removed when `body` has returned. If it throws, or the process is killed, the item waits, and
    /// its next handler finds `again`. The item is locked meanwhile, so that no other process handles it.
    ///
    /// Errors: those of `body` and of `Coordinator.coordinate`; `lockTimedOut` where other processes have all items for
    /// longer than `timeout`; `SharedItem.Damaged`
    public func handleNext(
        timeout: Duration? = Coordinator.lockTimeout, _ body: @Sendable (SharedItem) async throws -> Void
    ) async throws -> Bool {
        let identifiers = try identifiers()
        var busy: String?
        for identifier in identifiers {
            do {
                if try await handle(identifier, timeout: .zero, body) { return true }
            } catch let error as CoordinationError where isBusy(error, identifier) {
                busy = busy ?? identifier
            }
        }
        guard let busy else { return false }
        if try await handle(busy, timeout: timeout, body) { return true }
        return try await handleNext(timeout: timeout, body)
    }

    private func handle(
        _ identifier: String, timeout: Duration?, _ body: @Sendable (SharedItem) async throws -> Void
    ) async throws -> Bool {
        try await coordinator.coordinate(.writing(path(of: identifier), .forDeleting), timeout: timeout) {
            (held: HeldAccess) in
            guard let shared = try await held.perform({ try begin(identifier, by: $0) }) else { return false }
            try await body(shared)
            return try await held.perform { try remove(identifier, by: $0) }
        }
    }

    /// Returns whether another process has the item; the error of a handler's own request names another one.
    func isBusy(_ error: CoordinationError, _ identifier: String) -> Bool {
        error.code == .lockTimedOut && error.operation == "coordinate" && error.item == "\(path(of: identifier))"
    }

    /// Reads an item and marks it, so that the next handler knows of this one. Returns nil if another process has
    /// handled it meanwhile.
    func begin(_ identifier: String, by access: Access) throws -> SharedItem? {
        let shared = try SharedItem(identifier, in: self, by: access)
        if let shared, !shared.again { try access.write(bytes: [], to: shared.path.appending(Self.mark)) }
        return shared
    }

    /// Handles all items that wait and that come, exactly once, until the task is cancelled or `body` throws. See
    /// `handleNext(changing:timeout:_:)`.
    public func handleEach(
        changing intents: [AccessIntent], _ body: @escaping @Sendable (SharedItem, Access) throws -> Void
    ) async throws {
        try await onArrivals { while try await handleNext(changing: intents, timeout: nil, body) != nil {} }
    }

    /// Handles all items that wait and that come, at least once, until the task is cancelled or `body` throws. See
    /// `handleNext(timeout:_:)`.
    public func handleEach(_ body: @Sendable (SharedItem) async throws -> Void) async throws {
        try await onArrivals { while try await handleNext(timeout: nil, body) {} }
    }

    /// Calls `work`, and again whenever something comes.
    private func onArrivals(_ work: () async throws -> Void) async throws {
        // The stream begins before the first look, so that nothing between them is missed.
        var filter = ChangeFilter()
        filter.include(
            bytes: directory.bytes.flatMap { "*?[\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
                + Array("/**".utf8))
        let changes = container.changes(since: .now, matching: filter)
        var iterator = changes.makeAsyncIterator()
        repeat {
            try await work()
        } while try await iterator.next() != nil
    }
}
