import GroupSystemCalls

/// What the code that runs on this thread holds: the lease that its closure was called with, and those around it. A
/// closure runs on one thread from beginning to end, so the thread tells which requests are nested in which.
final class LeaseFrame {
    let lease: Lease
    let outer: LeaseFrame?

    private init(_ lease: Lease, outer: LeaseFrame?) { (self.lease, self.outer) = (lease, outer) }

    private static let local = ThreadLocal<LeaseFrame>()

    static var current: LeaseFrame? { local.value }

    static func within<Answer>(_ lease: Lease, _ body: () throws -> Answer) rethrows -> Answer {
        let outer = local.value
        local.value = LeaseFrame(lease, outer: outer)
        defer { local.value = outer }
        return try body()
    }

    /// The leases of a member that are held around here, the innermost first.
    static func held(of member: Member) -> [Lease] {
        var held: [Lease] = []
        var frame = current
        while let next = frame {
            // One without a lease, for what needs none, is nothing to be nested in.
            let isLease = next.lease.member === member && !next.lease.plan.parts.isEmpty
            if isLease && next.lease.isHeld { held.append(next.lease) }
            frame = next.outer
        }
        return held
    }
}
