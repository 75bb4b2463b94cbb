import GroupSystemCalls

/// Says that somebody of that name is there, as long as the object lives and the process does: a shared lock on a byte
/// of the lock file, so it outlives nobody. Several may have the same name.
///
/// System calls: fcntl(F_OFD_SETLK); asking: fcntl(F_OFD_GETLK)
package final class Presence: Sendable {
    private let byte: HeldByte

    /// Nobody excludes it, so it is refused only where names collide with another thing: never in practice.
    package init(_ name: String, in container: Container) throws(CoordinationError) {
        let member = container.member
        guard
            let byte = try HeldByte(
                LockRange.presence(of: name, key: member.hashKey), .shared, member, operation: "be present")
        else {
            throw CoordinationError(
                .conflict, item: name, operation: "be present", cause: "another process has locked its byte")
        }
        self.byte = byte
    }

    /// Whether anybody of that name is there, in this process or another.
    package static func isThere(_ name: String, in container: Container) throws(CoordinationError) -> Bool {
        let member = container.member
        return try HeldByte.isHeld(
            LockRange.presence(of: name, key: member.hashKey), member, operation: "ask who is present")
    }
}
