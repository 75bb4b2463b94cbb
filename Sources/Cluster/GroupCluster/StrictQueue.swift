// Imports nothing: no file, clock or process.

/// The states of the strict requests of this machine.
///
///     recorded ── queue ──▶ queued ── take ──▶ in flight ── accepted ──▶ accepted ── applied here ──▶ over
///                             ▲                    │
///                             └── again ───────────┴── refused ──▶ over
///
/// All times are nanoseconds of one clock of the caller. No date decides anything, because the clocks of the program
/// and of the requesting processes may differ.
package struct StrictQueue: Equatable, Sendable {
    /// The times at which this run has first seen each request.
    private var seen: [ClusterName: Int64] = [:]
    private var queued: Set<ClusterName> = []
    /// How often the cluster has refused each request.
    private var refusals: [ClusterName: Int] = [:]
    /// The accepted requests that are being applied here, with the items that they have changed.
    package private(set) var accepted: [ClusterName: Set<ItemName>]
    /// The time at which requests that could not be sent are tried again; nil if there are none.
    package private(set) var nextRetry: Int64?
    /// Whether `accepted` differs from what is stored.
    package private(set) var isUnstored = false

    /// The number of refusals after which a request without a condition is not sent again. The cause of the refusals
    /// may be permanent, such as a new item in a directory that is to be removed.
    package static let mostRefusals = 50
    package static let retry: Int64 = 30_000_000

    /// Begins with the requests that were being applied when the last run of the program ended.
    package init(accepted: [ClusterName: Set<ItemName>] = [:]) { self.accepted = accepted }

    /// Notes the requests that are recorded now.
    package mutating func look(at names: [ClusterName], now: Int64) {
        seen = Dictionary(names.map { ($0, seen[$0] ?? now) }) { first, _ in first }
    }

    /// Returns for how long a request has been recorded, as far as this run has seen.
    package func age(of name: ClusterName, at now: Int64) -> Int64 { now - (seen[name] ?? now) }

    package func isQueued(_ name: ClusterName) -> Bool { queued.contains(name) }

    /// Whether no request is queued.
    package var isEmpty: Bool { queued.isEmpty }

    package mutating func queue(_ name: ClusterName) { queued.insert(name) }

    /// Notes that the turn of a request has come.
    package mutating func take(_ name: ClusterName) { queued.remove(name) }

    /// Queues a request again, behind the changes that must be sent or applied before it.
    package mutating func again(_ name: ClusterName, at now: Int64) {
        queued.insert(name)
        nextRetry = now + Self.retry
    }

    /// Notes that the time has reached `now`.
    package mutating func passed(_ now: Int64) { if let time = nextRetry, time <= now { nextRetry = nil } }

    /// Notes that the cluster has refused a request. Returns whether the request may be sent again.
    package mutating func refused(_ name: ClusterName) -> Bool {
        refusals[name, default: 0] += 1
        return refusals[name, default: 0] < Self.mostRefusals
    }

    /// Notes that the cluster has accepted a request.
    package mutating func accept(_ name: ClusterName, _ items: Set<ItemName>) {
        accepted[name] = items
        isUnstored = true
    }

    /// Returns the accepted requests of which no item is stale any more.
    package func applied(isStale: (ItemName) -> Bool) -> [ClusterName] {
        accepted.filter { !$0.value.contains(where: isStale) }.map(\.key)
    }

    /// Notes that a request is over. An accepted request is kept until its record shows that: see `forget`.
    package mutating func end(_ name: ClusterName, isAccepted: Bool) {
        queued.remove(name)
        refusals[name] = nil
        if !isAccepted { forget(name) }
    }

    /// Notes that the record of a request shows its fate.
    package mutating func forget(_ name: ClusterName) {
        if accepted.removeValue(forKey: name) != nil { isUnstored = true }
    }

    /// Notes that `accepted` is stored.
    package mutating func stored() { isUnstored = false }
}
