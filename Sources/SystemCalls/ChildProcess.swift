import CLinux
import Glibc

/// A command that was started and not yet waited for.
package struct ChildProcess: ~Copyable {
    package let identifier: Int32

    /// Looks the command up in PATH; its standard error is ours. With `diesWithParent` the kernel kills it when the
    /// starting thread ends, so that it cannot outlive a lease that it runs under.
    /// System calls: fork(2), prctl(PR_SET_PDEATHSIG), execve(2)
    package init(
        _ words: [[UInt8]], input: borrowing FileDescriptor, output: borrowing FileDescriptor, diesWithParent: Bool
    ) throws(Errno) {
        try self.init(words, input: input.number, output: output.number, diesWithParent: diesWithParent)
    }

    /// The same with this process's own standard input and output where the number is -1.
    private init(_ words: [[UInt8]], input: Int32, output: Int32, diesWithParent: Bool) throws(Errno) {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { word in
            unsafe withCString(word) { unsafe strdup($0) }
        }
        defer { unsafe pointers.forEach { unsafe free($0) } }
        unsafe pointers.append(nil)
        var child: pid_t = 0
        let error = unsafe clinux_spawn(pointers, input, output, diesWithParent ? 1 : 0, &child)
        if error != 0 { throw Errno(error) }
        identifier = child
    }

    /// The exit status as a shell gives it: 128 + n for one that signal n ended. System calls: waitpid(2)
    package consuming func wait() throws(Errno) -> Int32 {
        var status: Int32 = 0
        let identifier = identifier
        _ = try retryingOnInterrupt { unsafe waitpid(identifier, &status, 0) }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}

extension ChildProcess {
    /// Runs a command with this process's input and output, and returns its exit status. It dies when the calling thread
    /// does. System calls: fork(2), execve(2), waitpid(2)
    package static func run(_ words: [[UInt8]]) throws(Errno) -> Int32 {
        try ChildProcess(words, input: -1, output: -1, diesWithParent: true).wait()
    }

    /// Runs a command with `input` as its standard input and returns what it prints, and its exit status. The input is
    /// a file in memory rather than a pipe, so a command that prints before it has read everything cannot come to a
    /// standstill. It dies when the calling thread does. System calls: memfd_create(2), pipe2(2)
    package static func filter(_ words: [[UInt8]], input: [UInt8]) throws(Errno) -> (output: [UInt8], status: Int32) {
        let source = FileDescriptor(owning: try check { clinux_memory_file() })
        try source.writeAll(input)
        _ = try check { lseek(source.number, 0, SEEK_SET) }
        var ends: [Int32] = [-1, -1]
        _ = try check { unsafe clinux_pipe(&ends) }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        let child = try start(words, input: source, output: writing)
        let output = try reading.readAll()
        return (output, try child.wait())
    }

    /// Closes our end of its output, so that reading it comes to an end.
    private static func start(
        _ words: [[UInt8]], input: borrowing FileDescriptor, output: consuming FileDescriptor
    ) throws(Errno) -> ChildProcess {
        try ChildProcess(words, input: input, output: output, diesWithParent: true)
    }
}
