import GroupLocking
import GroupBytes
import GroupSystemCalls

extension CoordinationError {
    /// Translates the failure of a request for items, which waited at most `timeout`.
    init(_ failure: LockFailure, operation: String, of request: LockRequest, timeout: Duration?) {
        let item = request.label
        switch failure {
        case .system(let errno): self = CoordinationError(errno, operation: operation, item: item)
        case .lockFile(let failure): self = CoordinationError(failure, operation: "open")
        case .cancelled:
            self = CoordinationError(.cancelled, operation: operation, item: item, reason: "the request was cancelled")
        case .timedOut(let holders):
            let mode = request.items.allSatisfy { $0.mode == .shared } ? "shared" : "exclusive"
            let lock = request.items.count == 1 ? "the \(mode) lock was" : "the locks were"
            self = CoordinationError(
                .lockTimedOut, operation: operation, item: item, reason: "\(lock) not granted \(Self.limit(timeout))",
                holders: holders.map(Holder.init))
        case .heldByCaller(let path):
            self = CoordinationError(
                .deadlock, operation: operation, item: path.map(printable),
                reason: "the requesting closure holds the lock already, and would wait for itself",
                remedy: .init(
                    .useAccess, "use the access that the closure was given, or name all items in one request"))
        case .keptByCaller(let path, let holders):
            self = CoordinationError(
                .deadlock, operation: operation, item: path.map(printable),
                reason: "the caller keeps a lock of it from an earlier call, and would wait for itself",
                holders: holders.map(Holder.init),
                remedy: .init(.useAccess, "work with the items of the lock that is kept, or end that lock first"))
        case .deadlock(let holders):
            self = CoordinationError(
                .deadlock, operation: operation, item: item,
                reason:
                    "the holder of the lock waits, directly or through others, for a lock that this caller holds",
                holders: holders.map(Holder.init),
                remedy: .init(
                    .releaseLocks, "release the locks that are held and try again, or name all items in one request"))
        }
    }

    /// Returns a limit such as `within 30 s`.
    private static func limit(_ timeout: Duration?) -> String {
        guard let timeout, timeout > .zero else { return "at once" }
        let (seconds, attoseconds) = timeout.components
        let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        if seconds == 0 { return "within \(milliseconds) ms" }
        // What was left of 10 s after the first request are not 9995 ms, but 10 s.
        let tenths = (milliseconds + 99) / 100
        if tenths == 0 || tenths == 10 { return "within \(tenths == 0 ? seconds : seconds &+ 1) s" }
        return "within \(seconds).\(tenths) s"
    }

    /// Translates a failure of the lock file.
    init(_ failure: LockFileFailure, operation: String) {
        let file = ".group/lock"
        switch failure {
        case .missing: self = .damaged(operation: operation, item: file, reason: "the lock file is missing")
        case .removed:
            self = .damaged(
                operation: operation, item: file, reason: "the lock file was removed while members are alive")
        case .replaced:
            self = .damaged(
                operation: operation, item: file, reason: "the lock file was replaced while members are alive")
        case .notRegular:
            self = .damaged(operation: operation, item: file, reason: "the lock file is not a regular file")
        case .doesNotExclude:
            self = CoordinationError(
                .unsupportedFileSystem, operation: operation, item: file,
                reason: "byte locks do not exclude each other on this file system", remedy: .useLocalFileSystem)
        case .system(let errno): self = CoordinationError(errno, operation: operation, item: file)
        }
    }

    /// Translates a failure of the member table.
    init(_ failure: MemberTable.Failure) {
        let (operation, file) = ("open", ".group/members")
        switch failure {
        case .missing: self = .damaged(operation: operation, item: file, reason: "the file is missing")
        case .malformed:
            self = .damaged(
                operation: operation, item: file, reason: "the file is not a member table, or was cut short")
        case .system(let errno): self = CoordinationError(errno, operation: operation, item: file)
        }
    }
}

extension CoordinationError.Holder {
    init(_ holder: LockHolder) {
        self.init(
            holder.process, purpose: holder.purpose, sinceNanoseconds: holder.since, item: holder.path,
            isWriting: holder.mode != .shared)
    }
}

extension CoordinationError.Holder.Condition {
    init(_ condition: ProcessView.Condition) {
        switch condition {
        case .running: self = .running
        case .stopped: self = .stopped
        case .zombie: self = .zombie
        }
    }
}

/// Runs a body that opens, borrows or locks a byte of the lock file, and translates its failure.
func locking<Answer: ~Copyable>(
    _ operation: String, _ body: () throws(LockFileFailure) -> Answer
) throws(CoordinationError) -> Answer {
    do {
        return try body()
    } catch {
        throw CoordinationError(error, operation: operation)
    }
}
