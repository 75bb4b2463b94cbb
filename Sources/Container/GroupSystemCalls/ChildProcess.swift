import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A command that was started, and whose end was not waited for yet.
package struct ChildProcess: ~Copyable {
    package let identifier: Int32

    /// A child of this process that it did not start itself: it was left to it (`ProcessTree.adoptOrphans`).
    package init(adopted identifier: Int32) { self.identifier = identifier }

    /// Starts a command whose descriptors 0, 1, 2, … are copies of the streams; -1 is this process's own.
    static func spawn(
        _ words: [[UInt8]], environment: [[UInt8]]?, streams: [Int32], flags: Int32
    ) throws(Errno) -> Int32 {
        let arguments = unsafe Self.pointers(words)
        let variables = unsafe Self.pointers(environment ?? [])
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var child: pid_t = 0
        var streams = streams
        let count = Int32(streams.count)
        let error =
            environment == nil
            ? unsafe clinux_spawn(arguments, nil, &streams, count, flags, &child)
            : unsafe clinux_spawn(arguments, variables, &streams, count, flags, &child)
        if error != 0 { throw Errno(error) }
        return child
    }

    private static func pointers(_ words: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe words.map { word in unsafe withCString(word) { unsafe strdup($0) } } + [nil]
    }

    /// Waits for the end, and returns the exit status as a shell does: 128 + n where signal n ended the command.
    /// System calls: waitpid(2)
    package consuming func wait() throws(Errno) -> Int32 {
        var status: Int32 = 0
        let identifier = identifier
        _ = try retryingOnInterrupt { unsafe waitpid(identifier, &status, 0) }
        return Self.exitStatus(status)
    }

    /// Waits for the end for a limited time, and returns the exit status; nil if the command still runs then, or a
    /// signal arrives.
    /// System calls: pidfd_open(2), ppoll(2), waitpid(2)
    package func wait(nanoseconds: Int64) throws(Errno) -> Int32? {
        var status: Int32 = 0
        let identifier = identifier
        let answer = try retryingOnInterrupt { unsafe clinux_wait_child(identifier, max(0, nanoseconds), &status) }
        return answer == 0 ? nil : Self.exitStatus(status)
    }

    /// Waits until a child has ended, without taking its exit status, and blocks the calling thread.
    /// System calls: waitid(WNOWAIT)
    package static func awaitEnd(of child: Int32) { _ = clinux_child_has_ended(child, 1) }

    /// Sends a signal; not after the end was waited for, as the number may then be another process's.
    /// System calls: kill(2)
    package func signal(_ number: Int32) { _ = kill(identifier, number) }

    private static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}

extension ChildProcess {
    /// Starts a command that is no child of this process and has a session of its own, so that it outlives this
    /// process. Its input, output and standard error are /dev/null: a program that reads those of this process until
    /// their end would wait for the command otherwise. System calls: fork(2), setsid(2), execve(2)
    package static func startDetached(_ words: [[UInt8]]) throws(Errno) {
        let nothing = try FileDescriptor.open(path: Array("/dev/null".utf8), .readingAndWriting)
        let arguments = unsafe pointers(words)
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var streams = [nothing.number, nothing.number, nothing.number]
        let error = unsafe clinux_spawn_detached(arguments, &streams)
        if error != 0 { throw Errno(error) }
    }

    /// Starts a command with these variables besides this process's own, and with this process's input and output, or
    /// the descriptors that are given. The kernel kills it when the calling thread ends. It gets the signal of a key that
    /// was pressed before it existed, if `TerminationSignals` has noted that.
    /// System calls: fork(2), execve(2)
    package static func start(
        _ words: [[UInt8]], input: Int32 = -1, output: Int32 = -1, variables: [(name: String, value: [UInt8])]
    ) throws(Errno) -> ChildProcess {
        let flags = Int32(clinux_spawn_dies_with_parent | clinux_spawn_takes_keys)
        return ChildProcess(
            adopted: try spawn(
                words, environment: environment(with: variables), streams: [input, output, -1], flags: flags))
    }

    /// Returns what a pipe holds up to its end; nil if that is more than `limit` bytes. It is collected in a file in
    /// memory: an array that grows needs three times the memory of its content for a moment.
    package static func content(
        of reading: borrowing FileDescriptor, atMost limit: Int
    ) throws(Errno) -> [UInt8]? {
        let collected = try FileDescriptor.inMemory()
        var piece = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        while case let found = try reading.read(into: &piece), found > 0 {
            count += found
            if count > limit { return nil }
            try collected.writeAll(Array(piece[..<found]))
        }
        return try collected.read(at: 0, count: count)
    }

    /// Starts a command with `input` as its standard input, which is a file in memory, and these variables besides this
    /// process's own. The kernel kills it when the calling thread ends. System calls: memfd_create(2), fork(2),
    /// execve(2)
    package static func start(
        _ words: [[UInt8]], input: [UInt8], variables: [(name: String, value: [UInt8])]
    ) throws(Errno) -> ChildProcess {
        let source = try FileDescriptor.inMemory(input)
        return try start(words, input: source.number, variables: variables)
    }

    /// Returns this process's environment with these variables in place of those of the same names.
    static func environment(with variables: [(name: String, value: [UInt8])]) -> [[UInt8]] {
        let names = variables.map { Array($0.name.utf8) + [UInt8(ascii: "=")] }
        let own = currentEnvironment().filter { variable in !names.contains { variable.starts(with: $0) } }
        return own + zip(names, variables).map { $0 + $1.value }
    }

    private static func currentEnvironment() -> [[UInt8]] {
        var variables: [[UInt8]] = []
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            let bytes = unsafe UnsafeBufferPointer(start: variable, count: strlen(variable))
            unsafe variables.append(bytes.map { UInt8(bitPattern: $0) })
            unsafe next += 1
        }
        return variables
    }
}
