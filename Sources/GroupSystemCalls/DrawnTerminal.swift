import CGroupLinux
import Glibc

/// A terminal that this process draws on: without echo, each key at once. There is one at a time.
///
/// What it was is restored when the owner leaves it or lets go, when the process ends, and before a signal ends it, a
/// crash's among them; only SIGKILL leaves it as it is.
package struct DrawnTerminal: ~Copyable {
    /// What signals have told.
    package struct News: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// SIGWINCH: it has another size.
        package static let resized = News(rawValue: Int32(clinux_terminal_resized))
        /// SIGTSTP: somebody wants us to stop.
        package static let stopping = News(rawValue: Int32(clinux_terminal_stopping))
        /// SIGCONT: we were stopped, and the terminal may be anybody's meanwhile.
        package static let continued = News(rawValue: Int32(clinux_terminal_continued))
    }

    private let input: Int32
    private let output: Int32

    /// `drawing` and `resting` are what the terminal is sent when it is entered and left; the latter is at most 128
    /// bytes. The descriptors stay their owner's. System calls: tcsetattr(3), sigaction(2), eventfd(2)
    package init(input: Int32, output: Int32, drawing: String, resting: String) throws(Errno) {
        (self.input, self.output) = (input, output)
        try enter(drawing: drawing, resting: resting)
    }

    deinit { clinux_terminal_leave() }

    /// Again, after it was left.
    package func enter(drawing: String, resting: String) throws(Errno) {
        _ = try check { unsafe clinux_terminal_enter(input, output, drawing, resting) }
    }

    /// It becomes what it was. System calls: tcsetattr(3)
    package func leave() { clinux_terminal_leave() }

    /// Leaves it, and stops this process until somebody continues it; returns at once where no shell could.
    /// System calls: kill(SIGTSTP)
    package func stop() { clinux_terminal_stop() }

    /// Readable when there is news.
    package var wake: Int32 { clinux_terminal_wake() }

    /// What came since the last time.
    package func news() -> News { News(rawValue: clinux_terminal_news()) }

    /// In cells; nil: it does not know. System calls: ioctl(TIOCGWINSZ)
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var (columns, rows): (Int32, Int32) = (0, 0)
        guard unsafe clinux_terminal_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else { return nil }
        return (Int(columns), Int(rows))
    }

    /// What has been typed; empty: nothing; nil: nothing will be any more. System calls: poll(2), read(2)
    package func typed() -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // Not without end: a user who pastes a book still sees what happens.
        while bytes.count < 65_536, clinux_is_readable(input) != 0 {
            let count = unsafe read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { break }
            if count <= 0 { return bytes.isEmpty ? nil : bytes }
            bytes += buffer[..<count]
        }
        return bytes
    }
}

/// Of the local time at that moment; east is positive. Library calls: localtime_r(3)
package func secondsFromGMT(atSecond second: Int64) -> Int64 {
    var seconds = time_t(second)
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
    return unsafe Int64(parts.tm_gmtoff)
}
