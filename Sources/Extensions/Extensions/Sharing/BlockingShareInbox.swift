public import GroupContainer

/// A share inbox whose calls block the thread. For programs without tasks; see `ShareInbox`.
public struct BlockingShareInbox: Sendable {
    private let inbox: ShareInbox
    private var coordinator: BlockingCoordinator { inbox.coordinator.blocking }

    init(_ inbox: ShareInbox) { self.inbox = inbox }

    /// Adds an item, and returns its identifier. See `ShareInbox.add(_:moving:)`.
    @discardableResult
    public func add(_ item: ExtensionItem, moving: Bool = false) throws -> String {
        while true {
            let new = try inbox.newItem(item, moving: moving)
            if try coordinator.transaction(new.intents, { try new.add(by: $0) }).answer { return new.identifier }
        }
    }

    /// Removes an item that will not be handled. Returns false if it was not there. See `ShareInbox.remove(_:)`.
    @discardableResult
    public func remove(_ identifier: String) throws -> Bool {
        try coordinator.coordinate(.writing(inbox.path(of: identifier), .forDeleting)) { access in
            try inbox.remove(identifier, by: access)
        }
    }

    /// Handles the next item exactly once. Returns the result of `body`; nil if no item waits. See
    /// `ShareInbox.handleNext(changing:timeout:_:)`.
    public func handleNext<Answer>(
        changing intents: [AccessIntent], timeout: Duration? = Coordinator.lockTimeout,
        _ body: (SharedItem, Access) throws -> Answer
    ) throws -> Answer? {
        for identifier in try inbox.identifiers() {
            let all = [.writing(inbox.path(of: identifier), .forDeleting)] + intents
            let (answer, _) = try coordinator.transaction(all, timeout: timeout) { access in
                try inbox.handle(identifier, by: access, body)
            }
            if let answer { return answer }
        }
        return nil
    }

    /// Handles the next item at least once. Returns false if no item waits. See `ShareInbox.handleNext(timeout:_:)`.
    public func handleNext(
        timeout: Duration? = Coordinator.lockTimeout, _ body: (SharedItem) throws -> Void
    ) throws -> Bool {
        var busy: String?
        for identifier in try inbox.identifiers() {
            do {
                if try handle(identifier, timeout: .zero, body) { return true }
            } catch let error as CoordinationError where inbox.isBusy(error, identifier) {
                busy = busy ?? identifier
            }
        }
        guard let busy else { return false }
        if try handle(busy, timeout: timeout, body) { return true }
        return try handleNext(timeout: timeout, body)
    }

    private func handle(_ identifier: String, timeout: Duration?, _ body: (SharedItem) throws -> Void) throws -> Bool {
        try coordinator.coordinate(.writing(inbox.path(of: identifier), .forDeleting), timeout: timeout) { access in
            guard let shared = try inbox.begin(identifier, by: access) else { return false }
            try body(shared)
            return try inbox.remove(identifier, by: access)
        }
    }
}

extension ShareInbox {
    /// The form whose calls block the thread.
    public var blocking: BlockingShareInbox { BlockingShareInbox(self) }
}
