// Imports nothing: no file, clock or process.

/// Where the strict requests of this machine stand.
///
///     recorded ── queue ──▶ queued ── take ──▶ in flight ── accepted ──▶ accepted ── applied here ──▶ over
///                             ▲                    │
///                             └── again ───────────┴── refused ──▶ over
///
/// Times are nanoseconds of a clock of the caller. No date decides: the clocks of the program and of the processes that make requests
/// may differ.
package struct StrictQueue: Equatable, Sendable {
    private var seen: [ClusterName: Int64] = [:]
    private var queued: Set<ClusterName> = []
    private var refusals: [ClusterName: Int] = [:]
    /// Accepted requests that are being applied here, and the items that they have changed.
    package private(set) var accepted: [ClusterName: Set<ItemName>]
    /// When requests that could not be sent are tried again; nil where none is.
    package private(set) var nextRetry: Int64?
    /// Whether `accepted` is another one than is stored.
    package private(set) var isUnstored = false

    /// How often a request without a condition is sent again when the cluster has refused it: the cause may be there for
    /// good, as a new item in a directory that is to be removed.
    package static let mostRefusals = 50
    package static let retry: Int64 = 30_000_000

    /// Begins with the requests that were being applied when the program's last run ended.
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

    /// Takes a request whose turn has come.
    package mutating func take(_ name: ClusterName) { queued.remove(name) }

    /// Queues a request behind what is to be sent or applied before it.
    package mutating func again(_ name: ClusterName, at now: Int64) {
        queued.insert(name)
        nextRetry = now + Self.retry
    }

    /// Notes the time.
    package mutating func passed(_ now: Int64) { if let time = nextRetry, time <= now { nextRetry = nil } }

    /// Notes that the cluster has refused a request. Returns whether it may be sent again.
    package mutating func refused(_ name: ClusterName) -> Bool {
        refusals[name, default: 0] += 1
        return refusals[name, default: 0] < Self.mostRefusals
    }

    /// Notes that the cluster has accepted a request.
    package mutating func accept(_ name: ClusterName, _ items: Set<ItemName>) {
        accepted[name] = items
        isUnstored = true
    }

    /// The accepted requests all of whose items are applied here.
    package func applied(isStale: (ItemName) -> Bool) -> [ClusterName] {
        accepted.filter { !$0.value.contains(where: isStale) }.map(\.key)
    }

    /// Notes that a request is over. That it was accepted is kept until its record says so: see `forget`.
    package mutating func end(_ name: ClusterName, isAccepted: Bool) {
        queued.remove(name)
        refusals[name] = nil
        if !isAccepted { forget(name) }
    }

    /// Notes that the record of a request says what became of it.
    package mutating func forget(_ name: ClusterName) {
        if accepted.removeValue(forKey: name) != nil { isUnstored = true }
    }

    /// Notes that `accepted` is stored.
    package mutating func stored() { isUnstored = false }
}
