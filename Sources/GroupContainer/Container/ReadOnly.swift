import GroupSystemCalls

/// The reason why a container can only be read: its lock file or its member table cannot be opened for writing, or all
/// slots are taken. This process is a reader then: it has no slot in the member table, takes locks for reading only,
/// and writes nothing at all.
struct ReadOnlyReason: Equatable, Sendable {
    let cause: String
    /// The error code with which a change is refused.
    var code = CoordinationError.Code.notPermitted
    var advice = "the container can only be read"

    /// All slots of the member table are taken.
    static let full = ReadOnlyReason(
        cause:
            "it has \(MemberTableLayout.slotCount) members, which is the limit; without being one it can only be read",
        code: .limitReached, advice: "end some; groupctl status shows them")

    private init(cause: String, code: CoordinationError.Code, advice: String) {
        (self.cause, self.code, self.advice) = (cause, code, advice)
    }

    /// Finds the reason, or returns nil where both files can be written or where opening them will find another
    /// problem. System calls: openat2
    init?(of group: borrowing FileDescriptor) {
        for file in ["lock", "members"] {
            do throws(Errno) {
                _ = try FileDescriptor.open(Array(file.utf8), in: group, [.readingAndWriting, .nonBlocking])
            } catch {
                switch error {
                case .readOnly: cause = "the file system is mounted read-only"
                case .accessDenied, .notPermitted: cause = "no permission to write .group/\(file)"
                default: continue
                }
                return
            }
        }
        return nil
    }

    func error(_ item: String?, _ operation: String) -> CoordinationError {
        CoordinationError(
            code, item: item, operation: operation, cause: cause, advice: advice)
    }
}

extension Member {
    /// Whether this process may only read the container.
    var isReadOnly: Bool { readOnly != nil }

    /// Returns the error for an operation that a process that may only read cannot do.
    func refusal(_ item: String, _ operation: String) -> CoordinationError {
        readOnly?.error(item, operation)
            ?? CoordinationError(.notFound, item: item, operation: operation, cause: "it cannot be made")
    }

    /// Throws if this process may only read and an access would change something. Called before anything is waited for.
    func checkMayTake(_ intents: [AccessIntent], _ operation: String) throws(CoordinationError) {
        guard let readOnly else { return }
        for intent in intents where intent.mode(concernsDirectory: false) ?? .reading > .reading {
            throw readOnly.error(intent.path.description, operation)
        }
        // A snapshot is made in staging.
        for intent in intents where intent.wantsSnapshot {
            throw readOnly.error(intent.path.description, "make a snapshot of")
        }
    }

    /// Throws if this process may only read and a lock request is not for reading only. The request may be for one of
    /// the library's own files.
    func checkMayTake(_ request: LockRequest) throws(CoordinationError) {
        guard let readOnly else { return }
        if request.items.contains(where: { $0.mode > .reading }) {
            throw readOnly.error(request.label, request.operation)
        }
    }
}

extension Container {
    /// Whether the container can be read and followed, but every change of it is `notPermitted`: its file system is
    /// mounted read-only, or this user has no permission to write to its files. The value is determined when the first
    /// `Container` of this process opens it, and stays until the last one is gone.
    ///
    /// The value is also true where all 1,024 slots for members are taken: then every change of it is `limitReached`.
    ///
    /// This process is then no member:
    /// - Other processes do not see it in `status()` or in errors.
    /// - Its locks are real, but a deadlock through them ends only with the deadline of a waiter.
    /// - `.forUploading` is `notPermitted`, too.
    /// - Changes that are made without coordination are seen if a member that may write follows.
    /// - What a member that died has left half done is read as it is: of a transaction perhaps one item, and not the
    ///   other.
    /// - A journal that was not recovered after a crash is read up to where it is whole.
    public var isReadOnly: Bool { member.isReadOnly }

    /// The cause, or nil where the container can be written.
    package var readOnlyCause: String? { member.readOnly?.cause }

    /// Throws the error that changing an item would throw if the container can only be read.
    package func checkNotReadOnly(_ item: ItemPath, _ operation: String) throws(CoordinationError) {
        if let readOnly = member.readOnly { throw readOnly.error(item.description, operation) }
    }
}
