import GroupBytes
import GroupLocking
import GroupSystemCalls

/// The members that hold locks while they wait for a command that they have started. The command, and what it starts,
/// inherits their numbers in its environment: a request that would wait for one of them fails at once, as it could wait
/// forever.
package enum WaitingHolders {
    /// The numbers that the members have drawn, in hexadecimal, with spaces in between.
    package static let variable = "GROUP_LOCK_HOLDERS"

    /// Those that wait for this process.
    static let ofThisProcess = numbers(environmentValue(variable) ?? "")

    static func numbers(_ text: String) -> [UInt64] { text.split(separator: " ").compactMap { UInt64($0, radix: 16) } }

    /// Returns the variable for a command that this member waits for under a lock.
    package static func variable(in container: Container) -> (name: String, value: [UInt8]) {
        let all = ofThisProcess + [container.opened.memberTable.nonce]
        return (variable, Array(all.map { String($0, radix: 16) }.joined(separator: " ").utf8))
    }

    /// Throws if a request would wait for one of them. Errors: `deadlock`, with the holders
    static func check(_ request: LockRequest, _ operation: String) throws(CoordinationError) {
        if ofThisProcess.isEmpty { return }
        let holders = request.holders.filter { ofThisProcess.contains($0.nonce) }
        if holders.isEmpty { return }
        throw CoordinationError(
            .deadlock, operation: operation, item: request.label,
            reason: "the command that started this one holds the lock, and waits for this one",
            holders: holders.map(CoordinationError.Holder.init),
            remedy: .init(
                .useAccess, "the lock is held for this command: have it change the file itself, or end it first"))
    }
}

extension Container {
    /// Returns the item that this process waits for, and the process in the way; nil where it waits for none. System
    /// calls: fcntl(F_OFD_GETLK) for each member
    package func awaitedLock() -> (item: String, holder: CoordinationError.Holder)? {
        opened.memberTable.ownWait().map { ($0.path, CoordinationError.Holder($0.holder)) }
    }
}
