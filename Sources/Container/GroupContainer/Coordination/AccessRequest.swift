import GroupLocking
import GroupLog
import GroupSystemCalls

/// A request for items by the paths that the caller gave. Resolving it gives the locks to request: symbolic links are
/// followed, and the directories that a write would have to make are included.
struct AccessRequest: Sendable {
    let container: OpenContainer
    let intents: [AccessIntent]
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
    private var moved: [ItemPath: ItemLocation] = [:]

    init(
        _ operation: String, _ intents: [AccessIntent], by container: OpenContainer, for purpose: [UInt8],
        presenter: PresentedItem?, grace: Duration,
        needsAnswers: Bool
    ) {
        (self.container, self.purpose, self.presenter) = (container, purpose, presenter)
        (presenterGrace, self.needsAnswers) = (grace, needsAnswers)
        answering = AnsweredQuestion.current(in: container)
        (self.intents, self.operation) = (intents, operation)
        let tail = container.journal.log.tail()
        start = LogPosition(segment: tail.segment, offset: tail.offset, sequence: 0, checksum: 0)
    }

    /// The present location of each path, and the lock mode that each location needs.
    struct Resolution: Equatable, Sendable {
        var locations: [ItemPath: ItemLocation] = [:]
        var modes: [ItemLocation: LockMode] = [:]
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
                let location = try place(of: intent)
                if try status(of: location)?.isDirectory == true { concernsDirectory = true }
            }
            for intent in intents {
                let location = try place(of: intent)
                try container.checkIsOurs(location, operation)
                resolution.locations[intent.path] = location
                guard let mode = intent.mode(concernsDirectory: concernsDirectory) else { continue }
                resolution.modes[location] = max(mode, resolution.modes[location] ?? .shared)
                if mode == .shared { continue }
                for directory in location.ancestors where try status(of: directory) == nil {
                    resolution.modes[directory] = max(.exclusive, resolution.modes[directory] ?? .shared)
                }
            }
            return resolution
        }
    }

    /// Returns what the request asks of presenters, once its paths are resolved.
    func concern(_ resolution: Resolution) -> PresenterConcern {
        var concern = PresenterConcern()
        for intent in intents {
            guard let item = resolution.locations[intent.path] else { continue }
            concern.add(intent.questions, of: item, isWhole: resolution.modes[item] == .tree)
        }
        return concern
    }

    /// The items' paths, for presenters and errors.
    var label: [UInt8] { Array(intents.map(\.path.description).joined(separator: ", ").utf8) }

    private func place(of intent: AccessIntent) throws(CoordinationError) -> ItemLocation {
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
            resolution.modes.map { ($0.key, $0.value) }.sorted { $0.0.bytes.lexicographicallyPrecedes($1.0.bytes) },
            of: container, for: purpose, operation: operation, answering: answering?.owner)
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
                for (location, mode) in resolution.modes {
                    try container.checkHasNoOpenDatabase(location, isWhole: mode == .tree, operation)
                }
            }
            // No member has changed anything. An external change could follow a moment after any check.
            if !container.isReadOnly && !container.journal.log.hasMore(behind: start) { return .current }
            var next = self
            for intent in intents where intent.followsMoves {
                let location = try place(of: intent)
                guard try status(of: location) == nil, let place = try trail(of: location) else { continue }
                if moved[intent.path] != nil { throw movedAway }
                next.moved[intent.path] = place
            }
            if next.moved != moved { return .again(next) }
            let now = try resolve()
            let isCovered = now.modes.allSatisfy {
                resolution.modes[$0.key] ?? .shared >= $0.value && resolution.modes[$0.key] != nil
            }
            return now.locations == resolution.locations && isCovered ? .current : .again(self)
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
        return trail.hasMoved ? trail.place : nil
    }

    var movedAway: CoordinationError {
        CoordinationError(
            .conflict, operation: operation, item: intents.map(\.path.description).joined(separator: ", "),
            reason: "the path was redirected again and again while the lock was awaited", remedy: .tryAgain
        ).located(in: container)
    }
}

/// The location that an item was moved to while its lock was awaited, from the moves recorded in the journal since
/// then.
struct MoveTrail: Equatable, Sendable {
    private(set) var place: ItemLocation
    private(set) var hasMoved = false

    init(of location: ItemLocation) { place = location }

    /// Applies the next record: the item was moved itself, or with a directory that contains it.
    mutating func note(_ record: ChangeRecord) {
        for change in record.changes where change.kind == .moved {
            guard let from = change.from.flatMap({ try? ItemLocation($0) }) else { continue }
            guard from == place || place.isBelow(from),
                let next = try? ItemLocation(change.path + place.bytes[from.bytes.count...])
            else { continue }
            (place, hasMoved) = (next, true)
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
