import SystemCalls

/// A request for items, as their user named them, on its way to leases on what they are: symbolic links followed, and
/// the folders that a write would have to make included.
struct AccessRequest: Sendable {
    let member: Member
    let intents: [AccessIntent]
    let operation: String

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
        for intent in intents {
            let location = try member.resolve(intent.path.location(for: operation), operation: operation)
            resolution.locations[intent.path] = location
            resolution.modes[location] = max(intent.mode, resolution.modes[location] ?? .reading)
            if intent.mode == .reading { continue }
            for folder in location.ancestors {
                let status = try translating(printable(location.bytes), operation) { () throws(Errno) in
                    try member.status(of: folder)
                }
                if status == nil { resolution.modes[folder] = .writing }
            }
        }
        return resolution
    }

    func leases(for resolution: Resolution) -> LeaseRequest {
        LeaseRequest(
            resolution.modes.map { ($0.key, $0.value) }.sorted { $0.0.bytes.lexicographicallyPrecedes($1.0.bytes) },
            by: member,
            operation: operation)
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
