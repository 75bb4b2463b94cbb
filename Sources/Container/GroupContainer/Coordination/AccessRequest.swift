import GroupBytes
import GroupLocking
import GroupLog
import GroupSystemCalls

/// A request for items by the paths that the caller gave. Resolving it gives the locks to request: symbolic links are
/// followed. A directory that a write has to make is locked when it is made. (An object, as it is handed on through
/// the whole call: a copy would count a reference for each property.)
final class AccessRequest: Sendable {
    let container: OpenContainer
    let intents: Few<AccessIntent>
    let operation: String
    let purpose: [UInt8]
    /// The question that the request helps to answer. Taken when the request is made, as its locks are acquired by a
    /// task, and looked at on a thread.
    let answering: AnsweredQuestion?
    /// The presenter for which the request is made, which is not asked.
    let presenter: PresentedItem?
    let presenterGrace: Duration
    /// Whether a presenter that does not answer in time fails the request.
    let needsAnswers: Bool
    /// The journal's end before the first try. Moves recorded after it are followed.
    let start: LogPosition
    /// The items that were moved while their lock was awaited, and their new locations.
    private let moved: [ItemPath: ItemLocation]

    init(
        _ operation: String, _ intents: Few<AccessIntent>, by container: OpenContainer, for purpose: [UInt8],
        presenter: PresentedItem?, grace: Duration, needsAnswers: Bool
    ) {
        self.container = container
        self.intents = intents
        self.operation = operation
        self.purpose = purpose
        self.presenter = presenter
        presenterGrace = grace
        self.needsAnswers = needsAnswers
        answering = AnsweredQuestion.current(in: container)
        let tail = container.journal.log.tail()
        start = LogPosition(segment: tail.segment, offset: tail.offset, sequence: 0, checksum: 0)
        moved = [:]
    }

    private init(_ earlier: AccessRequest, moved: [ItemPath: ItemLocation]) {
        container = earlier.container
        intents = earlier.intents
        operation = earlier.operation
        purpose = earlier.purpose
        presenter = earlier.presenter
        presenterGrace = earlier.presenterGrace
        needsAnswers = earlier.needsAnswers
        answering = earlier.answering
        start = earlier.start
        self.moved = moved
    }

    static let largestRequest = 1_024

    func resolve() throws(CoordinationError) -> Resolution {
        try container.locating { () throws(CoordinationError) -> Resolution in
            try container.checkMayTake(intents, operation)
            if intents.count > Self.largestRequest {
                throw CoordinationError(
                    .limitReached, operation: operation, reason: "a request may name \(Self.largestRequest) items",
                    remedy: .init(.reduceSize, "make several requests"))
            }
            var resolution = Resolution()
            var concernsDirectory = false
            for intent in intents where intent.isStructural || intent.readsContents {
                let location = try location(of: intent)
                if try status(of: location)?.isDirectory == true { concernsDirectory = true }
            }
            for intent in intents {
                let location = try location(of: intent)
                try container.checkIsOurs(location, operation)
                resolution.add(intent.path, at: location, intent.mode(concernsDirectory: concernsDirectory))
            }
            return resolution
        }
    }

    /// Returns what the request asks of presenters, once its paths are resolved.
    func concern(_ resolution: Resolution) -> PresenterConcern {
        var concern = PresenterConcern()
        for intent in intents {
            guard let item = resolution.location(of: intent.path) else { continue }
            concern.add(intent.questions, of: item, isWhole: resolution.mode(of: item) == .tree)
        }
        return concern
    }

    /// The items' paths, for presenters and errors.
    var label: [UInt8] { Array(intents.map(\.path.description).joined(separator: ", ").utf8) }

    private func location(of intent: AccessIntent) throws(CoordinationError) -> ItemLocation {
        let named: ItemLocation
        if let followed = moved[intent.path] {
            named = followed
        } else {
            named = try intent.path.location(for: operation)
        }
        return intent.isStructural ? named : try container.resolve(named, operation: operation)
    }

    private func status(of location: ItemLocation) throws(CoordinationError) -> FileStatus? {
        try container.status(of: location, for: operation)
    }

    private func locks(for resolution: Resolution) -> ItemLocks {
        ItemLocks(
            resolution.locks, of: container, for: purpose, operation: operation, answering: answering?.owner)
    }

    func acquireBlocking(
        _ resolution: Resolution, until deadline: Deadline, orUntil cancellation: Cancellation?
    ) throws(CoordinationError) -> HeldLock {
        try container.locating { () throws(CoordinationError) in
            try locks(for: resolution).acquireBlocking(until: deadline, orUntil: cancellation)
        }
    }

    func acquire(_ resolution: Resolution, until deadline: Deadline) async throws(CoordinationError) -> HeldLock {
        do {
            return try await locks(for: resolution).acquire(until: deadline)
        } catch {
            throw error.located(in: container)
        }
    }

    /// The result of checking the paths after their locks were granted.
    enum Verdict {
        case current
        /// The paths lead elsewhere, or more locks are needed: this request has to be made again.
        case again(AccessRequest)
    }

    /// Checks the resolution after the locks were granted. An item that was moved in between is followed, once.
    func check(_ resolution: Resolution) throws(CoordinationError) -> Verdict {
        try container.locating { () throws(CoordinationError) -> Verdict in
            if container.mayHaveDatabases {
                try resolution.forEachLock { (location, mode) throws(CoordinationError) in
                    try container.checkHasNoOpenDatabase(location, isWhole: mode == .tree, operation)
                }
            }
            // No member has changed anything. An external change could follow a moment after any check.
            if !container.isReadOnly && !container.journal.log.hasMore(behind: start) { return .current }
            var nowMoved = moved
            for intent in intents where intent.followsMoves {
                let location = try location(of: intent)
                guard try status(of: location) == nil, let trail = try trail(of: location) else { continue }
                if moved[intent.path] != nil { throw movedAway }
                nowMoved[intent.path] = trail
            }
            if nowMoved != moved { return .again(AccessRequest(self, moved: nowMoved)) }
            return resolution.covers(try resolve()) ? .current : .again(self)
        }
    }

    /// Returns where an item was moved since the request was made; nil if it was not moved. Linear in the records since
    /// then.
    private func trail(of location: ItemLocation) throws(CoordinationError) -> ItemLocation? {
        var trail = MoveTrail(of: location)
        try container.journal.read(from: start) { record in
            trail.note(record)
            return false
        }
        return trail.hasMoved ? trail.location : nil
    }

    var movedAway: CoordinationError {
        CoordinationError(
            .conflict, operation: operation, item: intents.map(\.path.description).joined(separator: ", "),
            reason: "the path was redirected again and again while the lock was awaited", remedy: .tryAgain
        ).located(in: container)
    }
}

extension AccessRequest {
    /// The present location of each path, and the lock mode that each location needs.
    struct Resolution: Sendable {
        private enum Items: Sendable {
            /// No path, or a single one that needs no other lock. Nearly all requests name one item, and need no
            /// dictionary.
            case one((path: ItemPath, location: ItemLocation, mode: LockMode?)?)
            case several(locations: [ItemPath: ItemLocation], modes: [ItemLocation: LockMode])
        }
        private var items = Items.one(nil)

        /// Adds a path of the request; a mode of nil needs no lock.
        mutating func add(_ path: ItemPath, at location: ItemLocation, _ mode: LockMode?) {
            if case .one(nil) = items {
                items = .one((path, location, mode))
            } else {
                var (locations, modes) = takeSpread()
                locations[path] = location
                if let mode { modes[location] = max(mode, modes[location] ?? .shared) }
                items = .several(locations: locations, modes: modes)
            }
        }

        /// Adds the lock of a location that the request does not name.
        mutating func add(_ mode: LockMode, of location: ItemLocation) {
            var (locations, modes) = takeSpread()
            modes[location] = max(mode, modes[location] ?? .shared)
            items = .several(locations: locations, modes: modes)
        }

        /// Returns the dictionaries for a change, as the only one that has them: they are not copied.
        private mutating func takeSpread() -> (locations: [ItemPath: ItemLocation], modes: [ItemLocation: LockMode]) {
            defer { items = .one(nil) }
            return spread
        }

        private var spread: (locations: [ItemPath: ItemLocation], modes: [ItemLocation: LockMode]) {
            switch items {
            case .one(nil): ([:], [:])
            case .one(let (path, location, mode)?): ([path: location], mode.map { [location: $0] } ?? [:])
            case .several(let locations, let modes): (locations, modes)
            }
        }

        /// Returns the location of a path of the request.
        func location(of path: ItemPath) -> ItemLocation? {
            switch items {
            case .one(let only): only.flatMap { $0.path == path ? $0.location : nil }
            case .several(let locations, _): locations[path]
            }
        }

        /// Returns the mode of a location's lock; nil if none is needed.
        func mode(of location: ItemLocation) -> LockMode? {
            switch items {
            case .one(let only): only.flatMap { $0.location == location ? $0.mode : nil }
            case .several(_, let modes): modes[location]
            }
        }

        /// The locks, in the order of their paths.
        var locks: Few<LockRequest.Item> {
            if case .one(let only?) = items, let mode = only.mode { return Few(.init(only.location.bytes, mode)) }
            return Few(
                spread.modes.map { LockRequest.Item($0.key.bytes, $0.value) }
                    .sorted { $0.path.lexicographicallyPrecedes($1.path) })
        }

        func forEachLock<Failure: Error>(
            _ body: (ItemLocation, LockMode) throws(Failure) -> Void
        ) throws(Failure) {
            for (location, mode) in spread.modes { try body(location, mode) }
        }

        /// Returns whether another resolution of the same request leads to the same locations, and needs no other lock.
        func covers(_ other: Resolution) -> Bool {
            let (mine, others) = (spread, other.spread)
            return mine.locations == others.locations
                && others.modes.allSatisfy { location, mode in mine.modes[location].map { $0 >= mode } ?? false }
        }
    }
}

/// The location that an item was moved to while its lock was awaited, from the moves recorded in the journal since
/// then.
struct MoveTrail: Equatable, Sendable {
    private(set) var location: ItemLocation
    private(set) var hasMoved = false

    init(of location: ItemLocation) { self.location = location }

    /// Applies the next record: the item was moved itself, or with a directory that contains it.
    mutating func note(_ record: ChangeRecord) {
        for change in record.changes where change.kind == .moved {
            guard let from = change.from.flatMap({ try? ItemLocation($0) }) else { continue }
            guard from == location || location.isBelow(from),
                let next = try? ItemLocation(change.path + location.bytes[from.bytes.count...])
            else { continue }
            location = next
            hasMoved = true
        }
    }
}

/// A request with its granted locks.
struct GrantedRequest: Sendable {
    var request: AccessRequest
    var resolution: AccessRequest.Resolution
    var frame: LockFrame
    var deadline: Deadline
}
