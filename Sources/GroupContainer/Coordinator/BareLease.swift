/// A lease without files, to measure what it costs by itself.
package struct BareLease {
    private let member: Member
    private let location: ItemLocation
    private let mode: LeaseMode

    package init(_ path: ItemPath, isWriting: Bool, in container: Container) throws(CoordinationError) {
        member = container.member
        location = try path.location(for: "lease")
        mode = isWriting ? .writing : .reading
    }

    /// Acquires it and gives it back, so many times.
    package func cycle(_ count: Int) throws(CoordinationError) {
        for _ in 0..<count {
            let request = LeaseRequest([(location, mode)], by: member, for: [], operation: "lease")
            try request.acquireBlocking(until: .never).end()
        }
    }
}
