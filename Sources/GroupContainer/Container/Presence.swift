import GroupSystemCalls

/// A sign that a process is present under a name, as long as the object and the process live. It is a shared lock on a
/// byte of the lock file, so it ends with its process. Several processes may use the same name.
///
/// System calls: fcntl(F_OFD_SETLK); for `isThere`: fcntl(F_OFD_GETLK)
package final class Presence: Sendable {
    private let byte: HeldByte

    /// Creates the sign. It is refused only where names collide with another lock, which does not happen in practice,
    /// because no process takes this lock exclusively. Error: `conflict`
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

    /// Returns whether this process or another is present under the name.
    package static func isThere(_ name: String, in container: Container) throws(CoordinationError) -> Bool {
        let member = container.member
        return try HeldByte.isHeld(
            LockRange.presence(of: name, key: member.hashKey), member, operation: "ask who is present")
    }
}
