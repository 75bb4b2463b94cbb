import Foundation
import Glibc

/// The error of a system call that should not have failed.
package struct SetUpError: Error, CustomStringConvertible {
    package let description: String

    init(_ call: String, _ code: Int32) { description = unsafe "\(call): \(String(cString: strerror(code)))" }
}

/// The start of a program.
struct Spawn {
    /// The program and its arguments.
    var words: [[UInt8]]
    var environment: [String]
    /// The descriptors that become its standard input, output and error.
    var streams: (Int32, Int32, Int32)
    /// Whether it leads a process group of its own. A program that does cannot lead a session.
    var hasOwnGroup = true

    /// Returns the tests' environment, with this package's executables to be found first. A nil removes the variable.
    static func environment(_ changes: [String: String?] = [:]) -> [String] {
        var variables = ProcessInfo.processInfo.environment.mapValues { Optional($0) }
        variables["PATH"] = BuildDirectory.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        variables[TestFiles.variable] = TestFiles.directory
        variables[ProcessUsage.variable] = .some(nil)
        variables.merge(changes) { $1 }
        return variables.compactMap { name, value in value.map { "\(name)=\($0)" } }
    }

    /// Runs a program to its end, silently, and returns its status as a shell has it; 127 if it could not be started.
    /// Blocks.
    static func status(of words: [String]) -> Int32 {
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let spawn = Spawn(
            words: words.map(\.commandBytes), environment: environment(), streams: (null, null, null))
        guard let identifier = try? spawn.start() else { return 127 }
        return ProcessLife(of: identifier).reap()
    }

    /// Starts the program, with every signal as a shell would leave it.
    func start() throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, streams.0, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, streams.1, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, streams.2, 2)
        // What `swift test` has left open would count against a limit of open files.
        unsafe addCloseFrom(&actions, 3)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        let flags = group | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        var identifier: pid_t = 0
        let code = unsafe Self.withPointers(words) { words in
            unsafe Self.withPointers(environment.map { Array($0.utf8) }) { environment in
                guard let program = unsafe words[0] else { return ENOENT }
                return unsafe posix_spawnp(&identifier, program, &actions, &attributes, words, environment)
            }
        }
        if code != 0 { throw SetUpError("posix_spawn of \(String(decoding: words[0], as: UTF8.self))", code) }
        return identifier
    }

    private static func withPointers<Answer>(
        _ texts: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) -> Answer
    ) -> Answer {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { text in
            unsafe (text + [0]).withUnsafeBufferPointer { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe $0.baseAddress.flatMap { unsafe strdup($0) } }
            }
        }
        defer { unsafe pointers.forEach { unsafe free($0) } }
        unsafe pointers.append(nil)
        return unsafe body(pointers)
    }
}

// Swift does not see the functions of glibc that need _GNU_SOURCE.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np") @discardableResult
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32) -> Int32

/// Returns whether a program succeeds, as root or with what is installed here. The program's output is discarded.
package func succeeds(_ words: [String]) -> Bool { Spawn.status(of: words) == 0 }
