import GroupSystemCalls

extension GroupChannel {
    /// Whether somebody listens under that name now, in this process or another. System calls: fcntl(F_OFD_GETLK)
    public func isListening(_ listener: String) throws(CoordinationError) -> Bool {
        let member = container.member
        return try HeldByte.isHeld(
            LockRange.listening(to: name, as: listener, key: member.hashKey), member, operation: "ask who listens")
    }

    /// Waits, blocking, until somebody listens under that name. False: the time is over. Errors and system calls: as
    /// those of `awaitAcknowledgement`
    public func awaitListener(_ listener: String, timeout: Duration? = nil) throws(CoordinationError) -> Bool {
        guard let store = try store(creating: true) else { return try isListening(listener) }
        let deadline = Deadline(after: timeout)
        var presence = PresenceCheck()
        while true {
            let (file, offset) = store.mark
            if try isListening(listener) { return true }
            if deadline.isOver { return false }
            try presence.check(container.member, "await listener")
            store.memberTable.awaitWake(on: store.wakeWord, atMost: deadline.remaining) { file.map.load64(offset) != 0 }
            _ = try store.checkedRead { _ in }
        }
    }

    /// Waits, blocking, until a listener is done with a message. False: the time is over (nil has no end), or there is
    /// no such listener. Errors: as those of `GroupListener.next(timeout:)`. System calls: futex(FUTEX_WAIT)
    public func awaitAcknowledgement(
        of number: UInt64, by listener: String, timeout: Duration? = nil
    ) throws(CoordinationError) -> Bool {
        guard let store = try store(creating: false) else { return false }
        let deadline = Deadline(after: timeout)
        var presence = PresenceCheck()
        while true {
            // Before the look, so that what comes during it is seen.
            let (file, offset) = store.mark
            let acknowledged = try store.checkedRead { $0.listeners[listener]?.acknowledged }
            guard let acknowledged else { return false }
            if acknowledged >= number { return true }
            if deadline.isOver { return false }
            try presence.check(container.member, "await acknowledgement")
            store.memberTable.awaitWake(on: store.wakeWord, atMost: deadline.remaining) { file.map.load64(offset) != 0 }
        }
    }
}
