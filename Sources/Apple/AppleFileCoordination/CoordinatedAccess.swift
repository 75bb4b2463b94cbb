import Foundation
import GroupContainer
import GroupSystemCalls

/// Who requests an access: a coordinator's identity, and the presenter that it was made for.
struct Requester: Sendable {
    /// Requests of one purpose do not wait for one another, where one has all that the other needs.
    var purposeIdentifier: String
    /// The name in the journal and in errors.
    var label: String
    var presenter: RegisteredPresenter?
}

/// The access of a request, or of several of one purpose, to items of one container. It ends when the last of them
/// ends, and when the accesses in it have ended.
final class CoordinatedAccess: Sendable {
    private let purposeIdentifier: String
    private let container: Container
    private let coordinator: BlockingCoordinator
    private let held: HeldAccess
    /// The access around this one, kept as long as this one relies on its locks.
    private let outer: CoordinatedAccess?
    private let state = Guarded(State())

    private struct State: Sendable {
        var users = 1
        /// The renames that the accessor has announced, and that could not be recorded then.
        var moves: [ItemPath: ItemPath] = [:]
        /// Where the items are that were renamed, and recorded.
        var arrived: Set<ItemPath> = []
        var copies = NamedCopies()
    }

    /// The accesses that have not ended.
    private static let active = Guarded([CoordinatedAccess]())
    /// The innermost access of the accessor that the thread runs.
    private static let ofThread = ThreadLocal<CoordinatedAccess>()

    private init(
        _ requester: Requester, _ container: Container, _ coordinator: BlockingCoordinator, _ held: HeldAccess
    ) {
        purposeIdentifier = requester.purposeIdentifier
        self.container = container
        self.coordinator = coordinator
        self.held = held
        outer = Self.ofThread.value.flatMap { $0.use() ? $0 : nil }
    }

    /// Waits for access to items of one container, but for those that other accesses of the purpose have already.
    /// Returns the accesses, and for each item which of them has it. Errors: those of `Coordinator.coordinate`
    static func begin(
        _ intents: [AccessIntent], in container: Container, by requester: Requester, orUntil cancellation: Cancellation
    ) throws -> (accesses: [CoordinatedAccess], ofItem: [CoordinatedAccess]) {
        var (accesses, ofItem, rest) = ([CoordinatedAccess](), [AccessIntent: CoordinatedAccess](), intents)
        do {
            for one in active.withLock({ $0 }) where one.isOf(requester.purposeIdentifier, container) {
                let covered = try one.held.performBlocking { access in try rest.filter { try access.covers($0) } }
                if covered.isEmpty || !one.use() { continue }
                accesses.append(one)
                for intent in covered { ofItem[intent] = one }
                rest.removeAll { covered.contains($0) }
            }
            if !rest.isEmpty {
                let new = try within(accesses[...]) { try wait(for: rest, in: container, requester, cancellation) }
                accesses.append(new)
                for intent in rest { ofItem[intent] = new }
            }
            return (accesses, intents.compactMap { ofItem[$0] })
        } catch {
            for access in accesses.reversed() { access.leave() }
            throw error
        }
    }

    private static func wait(
        for intents: [AccessIntent], in container: Container, _ requester: Requester, _ cancellation: Cancellation
    ) throws -> CoordinatedAccess {
        let own = requester.presenter.flatMap { presenter in
            presenter.container.path == container.path ? presenter.coordinator(purpose: requester.label) : nil
        }
        let coordinator = (own?.0 ?? container.coordinator(purpose: requester.label)).blocking
        let held = try AnsweredQuestion.answering(own?.1, in: container) {
            try coordinator.begin(intents, timeout: nil, orUntil: cancellation)
        }
        let access = CoordinatedAccess(requester, container, coordinator, held)
        active.withLock { $0.append(access) }
        do {
            try held.performBlocking { granted in
                try granted.recordEarlierChanges()
                let copies = try NamedCopies(intents, in: granted)
                access.state.withLock { $0.copies = copies }
            }
            return access
        } catch {
            access.leave()
            throw error
        }
    }

    private func isOf(_ purposeIdentifier: String, _ container: Container) -> Bool {
        self.purposeIdentifier == purposeIdentifier && self.container.path == container.path
    }

    /// Adds a user. Returns false if the access has ended.
    private func use() -> Bool {
        state.withLock { state in
            if state.users == 0 { return false }
            state.users += 1
            return true
        }
    }

    /// Runs an accessor, or a part of one: requests that it makes are nested in this access.
    func within<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        let around = Self.ofThread.value
        Self.ofThread.value = self
        defer { Self.ofThread.value = around }
        return try held.within(body)
    }

    static func within<Answer>(
        _ accesses: ArraySlice<CoordinatedAccess>, _ body: () throws -> Answer
    ) rethrows -> Answer {
        guard let first = accesses.first else { return try body() }
        return try first.within { try within(accesses.dropFirst(), body) }
    }

    /// Returns the present path of an item, and the private copy that is to be read in its place, if there is one.
    func present(of intent: AccessIntent) throws -> (path: ItemPath, copy: URL?) {
        let path = try held.performBlocking { $0.presentPath(of: intent.path) }
        return (path, state.withLock(\.copies).url(for: intent))
    }

    /// Records that the accessor has renamed an item. Returns false if this access does not have it. A move that cannot
    /// be recorded now, because the item was moved on before it was announced, is noted for the end.
    private func noteMove(from origin: ItemPath, to goal: ItemPath) -> Bool {
        let hasArrived = state.withLock { $0.arrived.contains(origin) || $0.moves.values.contains(origin) }
        let isCovered = try? held.performBlocking { try $0.covers(.writing(origin)) }
        guard hasArrived || isCovered == true else { return false }
        var isRecorded = false
        reportingErrors { isRecorded = try held.performBlocking { try $0.recordOwnMove(from: origin, to: goal) } }
        state.withLock { state in
            if isRecorded {
                state.arrived.insert(goal)
            } else {
                let first = state.moves.first { $0.value == origin }?.key
                state.moves[first ?? origin] = goal
            }
        }
        return true
    }

    /// Notes a rename in the accesses of a purpose.
    static func noteMove(from origin: LocatedItem, to goal: LocatedItem, in purposeIdentifier: String) {
        guard origin.container.path == goal.container.path else { return }
        for one in active.withLock({ $0 }) where one.isOf(purposeIdentifier, origin.container) {
            if one.noteMove(from: origin.path, to: goal.path) { return }
        }
    }

    /// Ends one use. With the last one, what was changed in the items is recorded, and the locks end. What cannot be
    /// recorded now is found by the leader, as an external change.
    func leave() {
        let isLast = state.withLock { state in
            state.users -= 1
            return state.users == 0
        }
        if !isLast { return }
        Self.active.withLock { $0.removeAll { $0 === self } }
        let (moves, arrived) = state.withLock { ($0.moves, $0.arrived) }
        reportingErrors {
            try held.performBlocking { try $0.recordOwnChanges(movedTo: moves, andAt: arrived) }
        }
        reportingErrors { try coordinator.end(held) }
        outer?.leave()
    }
}

/// The accesses of one request. They end with `leave()`, or with the last reference: an accessor may never be called.
final class GrantedAccess: Sendable {
    private let accesses: Guarded<[CoordinatedAccess]>
    /// The present URLs of the items, in the order of the request.
    let urls: [URL]

    /// Waits for access to all items, or throws with access to none. Containers are taken in the order of their paths.
    /// Errors: those of `LocatedItem.init` and `Coordinator.coordinate`
    init(_ requested: [RequestedAccess], by requester: Requester, orUntil cancellation: Cancellation) throws {
        let items = try requested.map { try LocatedItem($0.url, for: $0.isWriting ? "write" : "read") }
        let intents = zip(requested, items).map { $0.intent(for: $1.path) }
        let containers = Dictionary(items.map { ($0.container.path.bytes, $0.container) }) { first, _ in first }
        var accesses: [CoordinatedAccess] = []
        var urls = requested.map(\.url)
        do {
            for (path, container) in containers.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let indices = items.indices.filter { items[$0].container.path.bytes == path }
                let new = try CoordinatedAccess.within(accesses[...]) {
                    try CoordinatedAccess.begin(
                        indices.map { intents[$0] }, in: container, by: requester, orUntil: cancellation)
                }
                accesses += new.accesses
                for (index, access) in zip(indices, new.ofItem) {
                    let (present, copy) = try access.present(of: intents[index])
                    if present != items[index].path {
                        urls[index] = items[index].url(of: present, isDirectory: urls[index].hasDirectoryPath)
                    }
                    if let copy { urls[index] = copy }
                }
            }
            try Self.check(cancellation)
        } catch {
            for access in accesses.reversed() { access.leave() }
            throw error
        }
        self.accesses = Guarded(accesses)
        self.urls = urls
    }

    /// Errors: `cancelled`
    static func check(_ cancellation: Cancellation) throws(CoordinationError) {
        if cancellation.isCancelled {
            throw CoordinationError(.cancelled, operation: "coordinate", reason: "the request was cancelled")
        }
    }

    /// Runs an accessor: requests that it makes are nested in these accesses.
    func within<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        try CoordinatedAccess.within(accesses.withLock { $0 }[...], body)
    }

    /// Ends the accesses. A second call does nothing.
    func leave() {
        let left = accesses.withLock { accesses in
            defer { accesses = [] }
            return accesses
        }
        for access in left.reversed() { access.leave() }
    }

    deinit { leave() }
}
