import GroupBytes
import GroupLocking
import GroupLog
import GroupSystemCalls

/// Why this process cannot finish what a dead member left half done: a file of it cannot be read, or a step is not
/// permitted to this process's user.
///
/// Another user may be permitted to do it, such as the dead member's own. So the operation stays in flight, and this
/// process goes on without it. The operation concerns items that this process may not access; a process that may access
/// them finishes the operation before it is granted their lock. Only a repair of the container that a user has
/// requested, and a process that has to have the slot (`puttingAside`), end such an operation: what is left of it is
/// put aside, below `.group/damaged`, where nothing deletes it.
struct RefusedRepair: Equatable, Sendable {
    var item: String
    var reason: Errno

    /// Whether an error means that another user may do what this process may not.
    static func isPermission(_ error: Errno) -> Bool { [.accessDenied, .notPermitted].contains(error) }

    /// Whether an error of opening a file means that something else has its name.
    private static func isOfOtherType(_ error: Errno) -> Bool {
        [.tooManyLinks, .notADirectory, .isADirectory, .noSuchDevice].contains(error)
    }

    /// Whether the file or the step is the cause, rather than the state of this process or of the disk.
    fileprivate var isFinal: Bool { Self.isPermission(reason) || Self.isOfOtherType(reason) }
}

/// The result of finishing an operation of a dead member.
enum RepairEnding: Equatable, Sendable {
    case finished
    /// There is nothing to finish.
    case nothing
    /// It is left to a process that may finish it.
    case refused(RefusedRepair)
}

extension OpenContainer {
    /// Decides about a refusal. Returns it if the operation is left to a process that may finish it; nil after what is
    /// left of the operation was put aside. Errors: the reason, if that says nothing about the operation
    func judge(
        _ refusal: RefusedRepair, of operation: [UInt8], puttingAside: Bool
    ) throws(CoordinationError) -> RefusedRepair? {
        guard refusal.isFinal else {
            throw CoordinationError(refusal.reason, operation: "repair", item: refusal.item)
        }
        if RefusedRepair.isPermission(refusal.reason) && !puttingAside { return refusal }
        putAside(operation)
        diagnostics.report(
            .memberRepaired, item: refusal.item,
            "a change of a member that died cannot be finished: \(refusal.reason); what is left of it is in .group/damaged"
        )
        return nil
    }

    /// Moves what an operation has in staging to `.group/damaged`.
    private func putAside(_ operation: [UInt8]) {
        let prefix = StagingName.of(operation)
        let names = ((try? directory.staging.entryNames()) ?? []).filter { $0.starts(with: prefix) }
        if names.isEmpty { return }
        guard let aside = try? directory.ownDirectory("damaged") else { return }
        for name in names { try? directory.staging.rename(name, to: name, in: aside, replacing: true) }
    }

    /// Appends the record of a dead member's change; nil if it is too large for any segment: no correct member
    /// announces such a change.
    func appendRepaired(_ record: ChangeRecord) throws(CoordinationError) -> LogPosition? {
        do {
            return try journal.append(record)
        } catch {
            if error.code != .limitReached || error.cause != nil { throw error }
            diagnostics.report(
                .memberRepaired, item: ".group/staging", "a change of a member that died has no record: \(error.reason)"
            )
            return nil
        }
    }

    /// Returns the prefixes of the names in staging that belong to other slots with in-flight operations.
    func namesKeptInStaging() -> [[UInt8]] {
        memberTable.slotsWithInFlight().flatMap { slot -> [[UInt8]] in
            let changes = memberTable.inFlight(of: slot)
            guard slot != memberTable.slot, !changes.isEmpty, let member = memberTable.member(at: slot) else {
                return []
            }
            var writer = ByteWriter()
            writer.write(member.nonce)
            return changes.map { StagingName.of($0.operation) } + [Hexadecimal.digits(of: writer.bytes)]
        }
    }
}
