import GroupLocking
import GroupSystemCalls

/// A sign that a process is present under a name, as long as the object and the process live. It is a shared lock on a
/// byte of the lock file, so it ends with its process. Several processes may use the same name.
///
/// System calls: fcntl(F_OFD_SETLK); for `isThere`: fcntl(F_OFD_GETLK)
package final class Presence: Sendable {
    private let byte: HeldByte
    /// Keeps this process a member.
    private let opened: OpenContainer

    /// Creates the sign. It is refused only where names collide with another lock, which does not happen in practice,
    /// because no process takes this lock exclusively. Error: `conflict`
    package init(_ name: String, in container: Container) throws(CoordinationError) {
        let opened = container.opened
        let byte = try locking("be present") { () throws(LockFileFailure) in
            try HeldByte(ContainerLock.presence(of: name, key: opened.hashKey), .shared, opened.lockManager)
        }
        guard let byte else {
            throw CoordinationError(
                .conflict, operation: "be present", item: name,
                reason: "another process has locked the byte of this name")
        }
        self.byte = byte
        self.opened = opened
    }

    /// Returns whether this process or another is present under the name.
    package static func isThere(_ name: String, in container: Container) throws(CoordinationError) -> Bool {
        let opened = container.opened
        return try locking("read the locks of") { () throws(LockFileFailure) in
            try HeldByte.isHeld(ContainerLock.presence(of: name, key: opened.hashKey), opened.lockManager)
        }
    }
}
