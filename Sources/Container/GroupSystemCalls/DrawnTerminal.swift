import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A terminal that this process draws on, without echo, each key at once. There is one at a time.
///
/// The terminal's former state is restored when the owner leaves it or releases it, when the process ends, and before a
/// signal ends it, including a crash; only SIGKILL leaves the terminal as it is.
package struct DrawnTerminal: ~Copyable {
    /// The signals that have arrived.
    package struct News: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// SIGWINCH: the terminal has another size.
        package static let resized = News(rawValue: Int32(clinux_terminal_resized))
        /// SIGTSTP: this process is requested to stop.
        package static let stopping = News(rawValue: Int32(clinux_terminal_stopping))
        /// SIGCONT: this process was stopped, and another one may have used the terminal meanwhile.
        package static let continued = News(rawValue: Int32(clinux_terminal_continued))
    }

    private let input: Int32
    private let output: Int32

    /// Enters the terminal. `drawing` and `resting` are written to it when it is entered and left; `resting` has at
    /// most 128 bytes. The descriptors stay their owner's. System calls: tcsetattr(3), sigaction(2), eventfd(2)
    package init(input: Int32, output: Int32, drawing: String, resting: String) throws(Errno) {
        self.input = input
        self.output = output
        try enter(drawing: drawing, resting: resting)
    }

    deinit { clinux_terminal_leave() }

    /// Enters the terminal again, after it was left.
    package func enter(drawing: String, resting: String) throws(Errno) {
        _ = try check { unsafe clinux_terminal_enter(input, output, drawing, resting) }
    }

    /// Restores the terminal's former state. System calls: tcsetattr(3)
    package func leave() { clinux_terminal_leave() }

    /// Leaves the terminal, and stops this process until it is continued; returns at once where no shell could continue
    /// it.
    /// System calls: kill(SIGTSTP)
    package func stop() { clinux_terminal_stop() }

    /// A descriptor that is readable when signals have arrived.
    package var wake: Int32 { clinux_terminal_wake() }

    /// Returns the signals that have arrived since the last call.
    package func news() -> News { News(rawValue: clinux_terminal_news()) }

    /// Returns the size of a terminal in cells; nil where the size is not known.
    /// System calls: ioctl(TIOCGWINSZ)
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var (columns, rows): (Int32, Int32) = (0, 0)
        guard unsafe clinux_terminal_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else { return nil }
        return (Int(columns), Int(rows))
    }

    /// Returns what has been typed: empty for nothing yet, nil at the end of the input. System calls: poll(2), read(2)
    package func typed() -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // Limited, so that a user who pastes a book still sees what happens.
        while bytes.count < 65_536, clinux_is_readable(input) != 0 {
            let count = unsafe read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { break }
            if count <= 0 { return bytes.isEmpty ? nil : bytes }
            bytes += buffer[..<count]
        }
        return bytes
    }
}

/// Returns the offset of the local time at that moment in seconds; east is positive. Library calls: localtime_r(3)
package func secondsFromGMT(atSecond second: Int64) -> Int64 {
    var seconds = time_t(second)
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
    return unsafe Int64(parts.tm_gmtoff)
}
