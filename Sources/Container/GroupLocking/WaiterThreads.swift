import GroupSystemCalls

/// The number of threads of the process that may wait in the kernel, and the line for the case that all of them do.
struct WaitPermits: Sendable {
    static let limit = 64

    private var inUse = 0
    private var line: [UInt64] = []
    private var last: UInt64 = 0

    /// Takes a permit at once and returns nil, or returns a number in the line for one.
    mutating func take() -> UInt64? {
        if inUse < Self.limit {
            inUse += 1
            return nil
        }
        last += 1
        line.append(last)
        return last
    }

    /// Gives a permit back. Returns the number that has the permit now, or nil.
    mutating func giveBack() -> UInt64? {
        if line.isEmpty {
            inUse -= 1
            return nil
        }
        return line.removeFirst()
    }

    /// Leaves the line. Returns false if the permit was given to this number already and has to be given back.
    mutating func withdraw(_ number: UInt64) -> Bool {
        guard let index = line.firstIndex(of: number) else { return false }
        line.remove(at: index)
        return true
    }
}

/// The process's permits for threads that wait in the kernel: see `WaitPermits`.
enum WaiterThreads {
    private struct State: Sendable {
        var permits = WaitPermits()
        var signals: [UInt64: OneShotEvent<Void>] = [:]
        /// The threads of a forked child's parent are not the child's.
        var forkGeneration = GroupSystemCalls.forkGeneration
    }
    private static let state = Guarded(State())

    struct Turn: Sendable {
        let number: UInt64
        let signal: OneShotEvent<Void>
    }

    /// Takes a permit at once and returns nil, or returns a turn in the line.
    static func takePermit() -> Turn? {
        state.withLock { state in
            if state.forkGeneration != GroupSystemCalls.forkGeneration { state = State() }
            guard let number = state.permits.take() else { return nil }
            let signal = OneShotEvent<Void>()
            state.signals[number] = signal
            return Turn(number: number, signal: signal)
        }
    }

    static func returnPermit() {
        let next = state.withLock { state in
            state.permits.giveBack().flatMap { state.signals.removeValue(forKey: $0) }
        }
        next?.set(())
    }

    /// Leaves the line. A permit that was given to this turn meanwhile goes to the next.
    static func leaveLine(_ turn: Turn) {
        let isStillWaiting = state.withLock { state in
            state.signals[turn.number] = nil
            return state.permits.withdraw(turn.number)
        }
        if !isStillWaiting { returnPermit() }
    }
}
