import GroupSystemCalls

/// Why a container can only be read: its lock or its member table cannot be opened for writing. Then this process is a
/// reader: it has no slot in the member table, takes locks for reading only, and writes nothing at all.
struct ReadOnlyReason: Equatable, Sendable {
    let cause: String
    /// What a change is refused with.
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

    /// Nil where both can be written, or where what is wrong with them is something else, which opening them finds out.
    /// System calls: openat2
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
    /// It may only read.
    var isReadOnly: Bool { readOnly != nil }

    /// Of one that may only read.
    func refusal(_ item: String, _ operation: String) -> CoordinationError {
        readOnly?.error(item, operation)
            ?? CoordinationError(.notFound, item: item, operation: operation, cause: "it cannot be made")
    }

    /// At once, before anything is waited for.
    func checkMayTake(_ intents: [AccessIntent], _ operation: String) throws(CoordinationError) {
        guard let readOnly else { return }
        for intent in intents where intent.mode(concernsDirectory: false) ?? .reading > .reading {
            throw readOnly.error(intent.path.description, operation)
        }
        // It is made in staging.
        for intent in intents where intent.wantsSnapshot {
            throw readOnly.error(intent.path.description, "make a snapshot of")
        }
    }

    /// The same, of what is no item of a user's.
    func checkMayTake(_ request: LockRequest) throws(CoordinationError) {
        guard let readOnly else { return }
        if request.items.contains(where: { $0.mode > .reading }) {
            throw readOnly.error(request.label, request.operation)
        }
    }
}

extension Container {
    /// It can be read and followed, and every change of it is `notPermitted`: its file system is mounted read-only, or
    /// this user has no permission to write to its files. So it is found when the first `Container` of this process
    /// opens it, and stays so until the last one is gone.
    ///
    /// Also where all 1,024 places of members are taken: then every change of it is `limitReached`.
    ///
    /// This process is no member then: nobody sees it in `status()` or in errors. Its locks are real, but those who
    /// wait in a circle through them are told so only by their deadline. `.forUploading` is `notPermitted`, too.
    /// Changes that are made without coordination are seen if a member that may write follows. What a member that died
    /// has left half done is read as it is: of a transaction perhaps one item, and not the other. A journal that was
    /// not recovered after a crash is read up to where it is whole.
    public var isReadOnly: Bool { member.isReadOnly }

    /// Why; nil where it is not.
    package var readOnlyCause: String? { member.readOnly?.cause }

    /// Nothing, where it may be written; else the error that changing an item would be.
    package func checkNotReadOnly(_ item: ItemPath, _ operation: String) throws(CoordinationError) {
        if let readOnly = member.readOnly { throw readOnly.error(item.description, operation) }
    }
}
