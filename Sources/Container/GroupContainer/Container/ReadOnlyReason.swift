import GroupLocking
import GroupSystemCalls

/// The reason why a container can only be read: its lock file or its member table cannot be opened for writing, or all
/// slots are taken. This process is a reader then: it has no slot in the member table, takes locks for reading only,
/// and writes nothing at all.
package struct ReadOnlyReason: Equatable, Sendable {
    let reason: String
    /// The error code with which a change is refused.
    var code = CoordinationError.Code.notPermitted
    var remedy: CoordinationError.Remedy?

    /// All slots of the member table are taken.
    static let full = ReadOnlyReason(
        reason:
            "the container has \(MemberTableLayout.slotCount) members, which is the limit; other processes can only read",
        code: .limitReached, remedy: .init(.endMembers, "end some of the members"))

    private init(reason: String, code: CoordinationError.Code, remedy: CoordinationError.Remedy) {
        self.reason = reason
        self.code = code
        self.remedy = remedy
    }

    /// Finds the reason, or returns nil where both files can be written or where opening them will find another
    /// problem. System calls: openat2
    init?(of group: borrowing FileDescriptor) {
        for file in ["lock", "members"] {
            do throws(Errno) {
                _ = try FileDescriptor.open(Array(file.utf8), in: group, [.readingAndWriting, .nonBlocking])
            } catch {
                switch error {
                case .readOnly: reason = "the file system is mounted read-only"
                case .accessDenied, .notPermitted: reason = "this user may not write .group/\(file)"
                default: continue
                }
                return
            }
        }
        return nil
    }

    func error(_ item: String?, _ operation: String) -> CoordinationError {
        CoordinationError(code, operation: operation, item: item, reason: reason, remedy: remedy)
    }
}
