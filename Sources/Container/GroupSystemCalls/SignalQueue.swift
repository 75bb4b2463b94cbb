import CGroupLinux

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The signals that programs of this package receive or send, by their numbers on Linux.
package enum Signal: Int32, Sendable {
    case hangup = 1, interrupt = 2, quit = 3, kill = 9, userTwo = 12, terminate = 15, child = 17, goOn = 18, stop = 19
    case windowChanged = 28
}

/// The stop that Ctrl-Z requests (SIGTSTP), after work that a thread does before.
package enum StopRequest {
    /// Lets SIGTSTP stop this process only after that work. System calls: sigaction(2)
    package static func stopAfterWork() { clinux_stop_after_work() }

    /// Defers stops to the calling thread, until `endDeferral`. Returns a descriptor that is readable once a stop is
    /// requested; nil if there is no descriptor. System calls: eventfd(2)
    package static func deferStop() -> Int32? {
        let number = clinux_defer_stop()
        return number < 0 ? nil : number
    }

    /// Whether a stop is requested. For the thread that defers.
    package static var isPending: Bool { clinux_stop_is_requested() != 0 }

    /// Stops this process, and returns when it goes on. For the thread that defers. System calls: tgkill(SIGTSTP)
    package static func stop() { clinux_stop_deferred() }

    /// Lets signals stop this process at once again.
    package static func endDeferral() { clinux_end_deferral() }
}

/// Signals in a readable descriptor, so that one loop can wait for them and for everything else.
package struct SignalQueue: ~Copyable, Sendable {
    private let queue: FileDescriptor

    /// The descriptor, which becomes readable with each signal.
    package var descriptor: Int32 { queue.number }

    /// Redirects these signals into the queue; they have no other effect in this thread and those that it starts. To be
    /// called before there are other threads. System calls: rt_sigprocmask(2), signalfd(2)
    package init(_ signals: [Signal]) throws(Errno) {
        let numbers = signals.map(\.rawValue)
        queue = FileDescriptor(owning: try check { unsafe clinux_signal_descriptor(numbers, Int32(numbers.count)) })
    }

    /// Returns the next signal that has arrived; nil where none is left. System calls: read(2)
    package func next() -> Signal? { Signal(rawValue: clinux_next_signal(queue.number)) }
}

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a value to read, so that a command can clean up before it ends.
package struct TerminationSignals: Sendable {
    /// Makes these signals only record their number from now on. System calls: sigaction(2)
    package init() { clinux_note_signals() }

    /// Makes SIGTERM and SIGHUP record their number, and SIGINT and SIGQUIT do nothing until the next value is made: a
    /// terminal sends these also to a child, whose keys they are. System calls: sigaction(2)
    package init(leavingKeysToChild: Void) {
        clinux_note_signals()
        clinux_ignore_keys()
    }

    /// Gives these signals their default effect again, and forgets those that have arrived. System calls: sigaction(2)
    package static func restoreDefaults() { clinux_restore_signals() }

    /// The last signal that arrived, also where `restoreDefaults` was called since; nil if none has.
    package static var last: Int32? {
        let number = clinux_last_signal()
        return number == 0 ? nil : number
    }

    /// Has exit(3) end this process by SIGINT, so that a shell that has got it, too, ends its script. Only for a process
    /// that `StandardStreams.prepare` was called in. System calls: none
    package static func endByInterrupt() { clinux_end_by_interrupt() }

    /// The last signal that arrived.
    package var received: Int32? { Self.latest }

    /// Whether there is a value of this type, in this process: then no signal ends a write that waits for its reader.
    package static var areNoted: Bool { clinux_notes_signals() != 0 }

    /// The last signal that arrived, for code that has no value of this type; nil while `areNoted` is false.
    package static var latest: Int32? {
        let number = clinux_noted_signal()
        return number == 0 ? nil : number
    }

    /// Waits until a descriptor has input, its writer is gone or it is closed, or until one of these signals has
    /// arrived, before this call or during it. Returns whether there is input. Where no eventfd can be made, a signal
    /// that another thread gets just before this call is seen with the next input. System calls: poll(2), eventfd(2)
    package func waitForInput(of descriptor: Int32) -> Bool {
        var entries = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: clinux_noted_descriptor(), events: Int16(POLLIN), revents: 0),
        ]
        if received != nil { return false }
        return unsafe poll(&entries, 2, -1) > 0 && entries[1].revents == 0
    }

    /// Waits until a signal arrives or the time is over; may return early. Each signal is an `Interruption`.
    /// System calls: futex(FUTEX_WAIT)
    package func wait(nanoseconds: Int64) {
        let seen = Interruption.latest
        if received == nil { Interruption.wait(since: seen, atMost: max(0, nanoseconds)) }
    }
}

/// The signals of `TerminationSignals`, one after the other, with their origin. The signals of several arrivals with the
/// same number, before the next look, are one.
package struct ArrivedSignals: Sendable {
    private let numbers: [Int32]
    /// How many had arrived at the last look, of those from processes and of those from a terminal.
    private var seen: [[UInt32]]

    private init(_ numbers: [Int32]) {
        self.numbers = numbers
        seen = numbers.map { _ in [0, 0] }
    }

    /// All that have arrived in this process.
    package init() { self.init([Signal.interrupt, .terminate, .hangup, .quit].map(\.rawValue)) }

    /// SIGUSR1 and SIGUSR2, from now on: they do not end a program that passes them on. System calls: sigaction(2)
    package static func passedOn() -> ArrivedSignals {
        clinux_note_passed_signals()
        var signals = ArrivedSignals([SIGUSR1, SIGUSR2])
        while signals.next() != nil {}
        return signals
    }

    /// Returns the next one: its number, and whether the terminal has sent it, because of a key or because the terminal
    /// is gone, rather than a process. Returns nil if there is none.
    package mutating func next() -> (number: Int32, isFromTerminal: Bool)? {
        for (index, number) in numbers.enumerated() {
            for origin in 0...1 {
                let count = clinux_arrived_signals(number, Int32(origin))
                if count == seen[index][origin] { continue }
                seen[index][origin] = count
                return (number, origin == 1)
            }
        }
        return nil
    }
}
