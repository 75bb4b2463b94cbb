import SystemCalls

/// The right to listen to a channel under a name: a byte of the lock file. It ends with its process, however that ends.
final class ListeningRight: Sendable {
    private let member: Member
    private let handle: LockFile.Handle

    /// Error: `conflict` where somebody has it.
    init(to channel: String, as name: String, _ member: Member) throws(CoordinationError) {
        self.member = member
        handle = try member.lockFile.borrow()
        let byte = ByteRange(
            start: LeaseBlock.listening(to: channel, as: name, key: member.hashKey), length: 1)
        let isMine: Bool
        do throws(Errno) {
            isMine = try handle.descriptor.tryLock(.exclusive, byte)
        } catch {
            throw CoordinationError(error, item: ".group/lock", operation: "listen")
        }
        if isMine { return }
        member.lockFile.giveBack(handle)
        throw CoordinationError(
            .conflict, item: "\(channel)/\(name)", operation: "listen",
            cause: "somebody listens under that name already",
            advice: "wait for its end, or listen under another name, which gets all messages, too")
    }

    deinit {
        // A child that only forked must not touch its parent's lock.
        if member.desk.forkGeneration == SystemCalls.forkGeneration { member.lockFile.giveBack(handle) }
    }
}
