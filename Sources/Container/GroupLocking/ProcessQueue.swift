import GroupSystemCalls

/// The queues of this process, in front of the kernel's: see `LockQueue`. Requests that are made under a lock have a
/// queue of their own: behind requests that wait for what their own owner holds, they would wait forever.
package final class ProcessQueue: Sendable {
    struct Turn: Sendable {
        let ticket: LockQueue.Ticket
        let isNested: Bool
        /// Set when the turn comes; nil if it has come already.
        let signal: OneShotEvent<Void>?
    }

    private struct Line: Sendable {
        var queue = LockQueue()
        var signals: [LockQueue.Ticket: OneShotEvent<Void>] = [:]

        mutating func take(_ tickets: [LockQueue.Ticket]) -> [OneShotEvent<Void>] {
            tickets.isEmpty ? [] : tickets.compactMap { signals.removeValue(forKey: $0) }
        }
    }
    private let ordinary = Guarded(Line())
    private let nested = Guarded(Line())

    private func line(isNested: Bool) -> Guarded<Line> { isNested ? nested : ordinary }

    /// Whether no request of this process holds or waits.
    var isQuiet: Bool {
        [ordinary, nested].allSatisfy { line in line.withLock { $0.queue.isEmpty && $0.signals.isEmpty } }
    }

    func enter(_ plan: LockPlan, isNested: Bool) -> Turn {
        line(isNested: isNested).withLock { line in
            let (ticket, mayGo) = line.queue.request(plan)
            let signal = mayGo ? nil : OneShotEvent<Void>()
            if let signal { line.signals[ticket] = signal }
            return Turn(ticket: ticket, isNested: isNested, signal: signal)
        }
    }

    /// Grants the plan as far as this process is concerned. Returns nil where the request has to wait, or needs the
    /// general way.
    func enterAtOnce(_ plan: LockPlan) -> Turn? {
        ordinary.withLock { $0.queue.grantAtOnce(plan) }.map { Turn(ticket: $0, isNested: false, signal: nil) }
    }

    func recordGrant(_ turn: Turn) {
        let next = line(isNested: turn.isNested).withLock { $0.take($0.queue.recordGrant(turn.ticket)) }
        for signal in next { signal.set(()) }
    }

    func leave(_ turn: Turn) {
        let next = (turn.isNested ? nested : ordinary).withLock { line in
            if turn.signal != nil { line.signals[turn.ticket] = nil }
            return line.take(line.queue.end(turn.ticket))
        }
        for signal in next { signal.set(()) }
    }
}
