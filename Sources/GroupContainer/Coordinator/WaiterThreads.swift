import GroupSystemCalls

/// The process's seats for threads that wait in the kernel: see `WaiterSeats`.
enum WaiterThreads {
    private struct State: Sendable {
        var seats = WaiterSeats()
        var signals: [UInt64: Signal<Void>] = [:]
        /// The threads of a forked child's parent are not the child's.
        var forkGeneration = GroupSystemCalls.forkGeneration
    }
    private static let state = Guarded(State())

    struct Place: Sendable {
        let number: UInt64
        let signal: Signal<Void>
    }

    /// A seat at once (nil), or a place in the line for one.
    static func takeSeat() -> Place? {
        state.withLock { state in
            if state.forkGeneration != GroupSystemCalls.forkGeneration { state = State() }
            guard let number = state.seats.take() else { return nil }
            let signal = Signal<Void>()
            state.signals[number] = signal
            return Place(number: number, signal: signal)
        }
    }

    static func giveSeatBack() {
        let next = state.withLock { state in
            state.seats.giveBack().flatMap { state.signals.removeValue(forKey: $0) }
        }
        next?.set(())
    }

    /// Leaves the line; a seat that came meanwhile goes to the next.
    static func leaveLine(_ place: Place) {
        let isStillWaiting = state.withLock { state in
            state.signals[place.number] = nil
            return state.seats.withdraw(place.number)
        }
        if !isStillWaiting { giveSeatBack() }
    }
}
