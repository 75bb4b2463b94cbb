import CGroupLinux
import Glibc
import GroupSystemCalls

/// A program on a terminal of its own: what it draws is read at once, and it gets what a test types. It is killed, with
/// all that it started, when the test releases it.
package final class TerminalProcess {
    private let life: ProcessLife
    private let output: Drain
    private let keyboard: FileDescriptor
    /// Kept open, so that the terminal outlives the program and its settings can be read afterwards.
    private let screen: FileDescriptor
    private let path: String
    /// The terminal's settings before the program had it.
    package let settingsBefore: String

    /// Starts a program by util-linux's setsid(1), which makes the terminal the program's own.
    package init(
        _ words: [String], columns: Int, rows: Int, environment: [String: String?] = [:]
    ) throws {
        var number: Int32 = -1
        var name = [CChar](repeating: 0, count: 64)
        guard unsafe clinux_open_terminal(&number, &name, name.count) == 0 else {
            throw SetUpError("posix_openpt", errno)
        }
        keyboard = FileDescriptor(owning: number)
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        if slave < 0 { throw SetUpError("open \(path)", errno) }
        screen = FileDescriptor(owning: slave)
        guard succeeds(["stty", "-F", path, "cols", "\(columns)", "rows", "\(rows)"]) else {
            throw SetUpError("stty", errno)
        }
        settingsBefore = try Self.settings(path)
        let program = BuildDirectory.resolve(words.first ?? "")
        let spawn = Spawn(
            words: (["setsid", "--ctty", program] + words.dropFirst()).map(\.commandBytes),
            environment: Spawn.environment(environment.merging(["TERM": "xterm"]) { own, _ in own }),
            streams: (slave, slave, slave), hasOwnGroup: false)
        life = ProcessLife(of: try spawn.start())
        output = Drain(owning: try keyboard.duplicate().release())
    }

    /// Everything drawn so far.
    package var text: String { output.text }

    /// Waits until everything drawn so far meets a condition.
    package func wait(until isThere: (String) -> Bool) throws { try output.waitForText(isThere) }

    package func type(_ keys: String) throws { try keyboard.writeAll(Array(keys.utf8)) }

    /// Resizes the terminal; the kernel signals the program.
    package func resize(columns: Int, rows: Int) -> Bool {
        succeeds(["stty", "-F", path, "cols", "\(columns)", "rows", "\(rows)"])
    }

    /// Returns the terminal's settings, as stty(1) prints them.
    package func settings() throws -> String { try Self.settings(path) }

    private static func settings(_ path: String) throws -> String {
        let (status, text) = try RunningProcess.bound(["stty", "-F", path, "-g"]).finish()
        if status != 0 { throw SetUpError("stty", errno) }
        return text
    }

    /// Waits for the end, and returns the status as a shell has it.
    package func reap() -> Int32 { life.reap() }
}
