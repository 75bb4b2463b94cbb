/// A lock without files, to measure what it costs by itself.
package struct BareLock {
    private let member: Member
    private let location: ItemLocation
    private let mode: LockMode

    package init(_ path: ItemPath, isWriting: Bool, in container: Container) throws(CoordinationError) {
        member = container.member
        location = try path.location(for: "lock")
        mode = isWriting ? .writing : .reading
    }

    /// Acquires it and gives it back, so many times.
    package func cycle(_ count: Int) throws(CoordinationError) {
        for _ in 0..<count {
            let request = LockRequest([(location, mode)], by: member, for: [], operation: "lock")
            try request.acquireBlocking(until: .never).end()
        }
    }
}
