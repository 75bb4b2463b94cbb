import CGroupLinux
import Glibc

/// Signals as something to read, so that one loop can wait for them and for all else.
package struct SignalQueue: ~Copyable, Sendable {
    package enum Signal: Int32, Sendable {
        case hangup = 1, interrupt = 2, quit = 3, userTwo = 12, terminate = 15, child = 17, windowChanged = 28
    }

    private let queue: FileDescriptor

    /// Becomes readable with each signal.
    package var descriptor: Int32 { queue.number }

    /// From now on these signals do nothing else, in this thread and those that it starts: to be called before there are
    /// others. System calls: rt_sigprocmask(2), signalfd(2)
    package init(_ signals: [Signal]) throws(Errno) {
        let numbers = signals.map(\.rawValue)
        queue = FileDescriptor(owning: try check { unsafe clinux_signal_descriptor(numbers, Int32(numbers.count)) })
    }

    /// The next one that came; nil: none is left. System calls: read(2)
    package func next() -> Signal? { Signal(rawValue: clinux_next_signal(queue.number)) }
}
