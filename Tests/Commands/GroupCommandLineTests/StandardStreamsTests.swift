import GroupCommandLine
import GroupSystemCalls
import Glibc
import Testing

/// Both ends of a pipe, closed with the value or before. They are close-on-exec: other tests start processes meanwhile.
private struct Pipe: ~Copyable {
    let reader: Int32
    let writer: Int32
    private var open: Set<Int32>

    init() throws {
        let ends = try FileDescriptor.pipe()
        reader = fcntl(ends.reading.number, F_DUPFD_CLOEXEC, 3)
        writer = fcntl(ends.writing.number, F_DUPFD_CLOEXEC, 3)
        open = [reader, writer]
    }

    mutating func close(_ end: Int32) {
        if open.remove(end) != nil { _ = Glibc.close(end) }
    }

    deinit { for end in open { _ = Glibc.close(end) } }
}

struct StandardStreamsTests {
    init() { ignoreBrokenPipe() }

    @Test func `lines are buffered until a flush and written whole`() throws {
        var pipe = try Pipe()
        var output = StandardOutput(descriptor: pipe.writer)
        try output.writeLine("one")
        try output.write([0xFF, 0x0A])
        var entry = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 0) == 0)
        try output.flush()
        pipe.close(pipe.writer)
        #expect(try StandardInput.readAll(limit: 100, descriptor: pipe.reader) == bytes("one\n") + [0xFF, 0x0A])
    }

    @Test func `output that exceeds a non-blocking pipe is written in full`() async throws {
        var pipe = try Pipe()
        #expect(fcntl(pipe.writer, F_SETFL, O_NONBLOCK) == 0)
        let (reader, writer) = (pipe.reader, pipe.writer)
        let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        async let sent: Void = {
            var output = StandardOutput(descriptor: writer)
            try output.write(content)
            try output.flush()
        }()
        var received: [UInt8] = []
        var byte = [UInt8](repeating: 0, count: 4096)
        while received.count < content.count {
            let count = unsafe read(reader, &byte, byte.count)
            try #require(count > 0)
            received += byte[..<count]
        }
        try await sent
        #expect(received == content)
        pipe.close(pipe.writer)
    }

    @Test func `a closed pipe is distinguished from a write error`() throws {
        var pipe = try Pipe()
        var output = StandardOutput(descriptor: pipe.writer)
        let before = output.readerIsGone()
        pipe.close(pipe.reader)
        let after = output.readerIsGone()
        #expect(!before && after)
        try output.writeLine("no process reads this")
        do throws(OutputError) {
            try output.flush()
            Issue.record("written to a closed pipe")
        } catch {
            #expect(error == .closedPipe)
        }
        // No output is left that could fail again.
        try output.flush()
    }

    @Test func `a full disk is an error of standard output`() throws {
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { _ = close(full) }
        var output = StandardOutput(descriptor: full)
        try output.writeLine("x")
        do throws(OutputError) {
            try output.flush()
            Issue.record("written to a full disk")
        } catch {
            #expect(error == .failed(Errno(ENOSPC)))
            #expect(error.description == "standard output: No space left on device")
        }
    }

    @Test func `input up to the limit is read, and longer input is refused`() throws {
        var pipe = try Pipe()
        var output = StandardOutput(descriptor: pipe.writer)
        try output.write(bytes("12345"))
        try output.flush()
        #expect(throws: InputError.tooLarge(limit: 4)) {
            try StandardInput.readAll(limit: 4, descriptor: pipe.reader)
        }
        try output.write(bytes("12345"))
        try output.flush()
        pipe.close(pipe.writer)
        #expect(try StandardInput.readAll(limit: 5, descriptor: pipe.reader) == bytes("12345"))
        #expect(try StandardInput.readAll(limit: 0, descriptor: pipe.reader) == [])
    }

    @Test func `standard input that cannot be read is an error`() {
        #expect(throws: InputError.failed(Errno(EBADF))) { try StandardInput.readAll(limit: 1, descriptor: -1) }
    }
}
