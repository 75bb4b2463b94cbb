#if Secrets
import GroupSystemCalls
import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a suite if a program of a session with a keyring is missing.
    static var needsKeyring: Self { .needs("perl", "dbus-daemon", "dbus-send", "gnome-keyring-daemon") }
}

/// A session bus of a test, with a home directory of its own, and what a test runs in that session. All processes are
/// killed when the test releases it.
final class DesktopSession: Sendable {
    let directory: TemporaryDirectory
    private let bus: Guarded<RunningProcess?>
    private let keyring = Guarded<RunningProcess?>(nil)

    /// Starts the bus.
    init() throws {
        directory = try TemporaryDirectory()
        try directory.run("mkdir", "-m", "700", "run")
        bus = Guarded(nil)
        try startBus()
    }

    /// What a program of the session has in its environment.
    var environment: [String: String?] {
        [
            "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path + "/run",
            "XDG_DATA_HOME": directory.path + "/data",
            "XDG_CONFIG_HOME": directory.path + "/config", "XDG_CACHE_HOME": directory.path + "/cache",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory.path)/bus", "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
            "SECRET_BACKEND": nil, "GNOME_KEYRING_CONTROL": nil,
        ]
    }

    /// Words before a command that end it by SIGALRM after five minutes: also where the test was killed.
    private static let limited = [
        "perl", "-e", "alarm 300; exec @ARGV",
    ]

    func startBus() throws {
        let configuration = "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/session.conf"
        let process = try RunningProcess(
            Self.limited + [
                "dbus-daemon", "--nofork", "--nopidfile", "--print-address=1", "--config-file=\(configuration)",
                "--address=unix:path=\(directory.path)/bus",
            ],
            environment: environment)
        try process.waitForText("guid=")
        bus.withLock { $0 = process }
    }

    /// Stops the bus; false if it has ended.
    func stopBus() -> Bool { bus.withLock { $0 }?.stop() ?? false }

    func resumeBus() { bus.withLock { $0 }?.resume() }

    func endBus() {
        bus.withLock { $0?.kill() }
        try? directory.run("rm", "-f", "bus")
    }

    /// Starts the keyring, with its login collection unlocked and the default one; without a password, with no
    /// collection that secrets can be stored in.
    func startKeyring(password: String? = "password") throws -> RunningProcess {
        let process = try RunningProcess(
            Self.limited + ["gnome-keyring-daemon", "--foreground", "--components=secrets"]
                + (password == nil ? [] : ["--unlock"]),
            input: password ?? "", environment: environment)
        keyring.withLock { $0 = process }
        let program = try program()
        guard try eventually({ try program.answer("names") != noService }) else {
            throw Absent(description: "the keyring did not start: \(process.text)")
        }
        return process
    }

    struct Absent: Error, CustomStringConvertible {
        let description: String
    }

    /// Locks the login collection, as a password manager does.
    func lock() throws {
        let (status, text) = try RunningProcess(
            [
                "dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
                "org.freedesktop.Secret.Service.Lock", "array:objpath:/org/freedesktop/secrets/collection/login",
            ],
            input: "", environment: environment
        ).finish()
        if status != 0 { throw Absent(description: "the keyring was not locked: \(text)") }
    }

    /// Starts a program of a group in the session.
    func program(
        of group: String = "group.com.example.mail", _ changes: [String: String?] = [:]
    ) throws -> Program {
        Program(
            process: try RunningProcess(
                ["secrets-member", group], environment: environment.merging(changes) { $1 }))
    }

    /// A program that answers each line with one line.
    final class Program: Sendable {
        let process: RunningProcess
        private let lines = Guarded(0)

        init(process: RunningProcess) { self.process = process }

        /// Sends a line, and returns the number of its answer.
        func send(_ line: String) throws -> Int {
            try process.send(line)
            return lines.withLock { count in
                count += 1
                return count
            }
        }

        func answer(to number: Int) throws -> String {
            try process.waitForLines(number)
            return String(process.text.split(separator: "\n", omittingEmptySubsequences: false)[number - 1])
        }

        func answer(_ line: String) throws -> String { try answer(to: send(line)) }
    }
}
#endif
