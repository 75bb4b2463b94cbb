import SystemCalls

/// A request for items, as their user named them, on its way to leases on what they are: symbolic links followed, and
/// the folders that a write would have to make included.
struct AccessRequest: Sendable {
    let member: Member
    let intents: [AccessIntent]
    let operation: String
    let purpose: [UInt8]

    /// Where each path leads now.
    struct Resolution: Equatable, Sendable {
        var locations: [ItemPath: ItemLocation] = [:]
        var modes: [ItemLocation: LeaseMode] = [:]
    }

    static let largestRequest = 1_024

    func resolve() throws(CoordinationError) -> Resolution {
        if intents.count > Self.largestRequest {
            throw CoordinationError(
                .limitReached, operation: operation, cause: "a request may name \(Self.largestRequest) items")
        }
        var resolution = Resolution()
        var concernsFolder = false
        for intent in intents where intent.isStructural || intent.wantsSnapshot {
            let named = try intent.path.location(for: operation)
            let location = intent.isStructural ? named : try member.resolve(named, operation: operation)
            if try status(of: location)?.isFolder == true { concernsFolder = true }
        }
        for intent in intents {
            let named = try intent.path.location(for: operation)
            let location = intent.isStructural ? named : try member.resolve(named, operation: operation)
            resolution.locations[intent.path] = location
            guard let mode = intent.mode(concernsFolder: concernsFolder) else { continue }
            resolution.modes[location] = max(mode, resolution.modes[location] ?? .reading)
            if mode == .reading { continue }
            for folder in location.ancestors where try status(of: folder) == nil {
                resolution.modes[folder] = max(.writing, resolution.modes[folder] ?? .reading)
            }
        }
        return resolution
    }

    private func status(of location: ItemLocation) throws(CoordinationError) -> FileStatus? {
        try translating(printable(location.bytes), operation) { () throws(Errno) in try member.status(of: location) }
    }

    func leases(for resolution: Resolution) -> LeaseRequest {
        LeaseRequest(
            resolution.modes.map { ($0.key, $0.value) }.sorted { $0.0.bytes.lexicographicallyPrecedes($1.0.bytes) },
            by: member, for: purpose, operation: operation)
    }

    /// Whether the lease is on what the paths lead to still. If not, the request is made again.
    func isCurrent(_ resolution: Resolution) throws(CoordinationError) -> Bool {
        let now = try resolve()
        return now.locations == resolution.locations
            && now.modes.allSatisfy {
                resolution.modes[$0.key] ?? .reading >= $0.value && resolution.modes[$0.key] != nil
            }
    }

    var movedAway: CoordinationError {
        CoordinationError(
            .conflict, item: intents.map(\.path.description).joined(separator: ", "), operation: operation,
            cause: "what the path leads to kept changing while its lease was awaited", advice: "try again")
    }
}
