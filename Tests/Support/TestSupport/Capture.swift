import CGroupLinux
import Foundation
import Glibc

/// The output from a pipe, kept, and returned line by line.
final class Capture {
    /// -1 once its end was reached or it was closed.
    private(set) var descriptor: Int32
    private(set) var bytes: [UInt8] = []
    private var nextLine = 0

    var isAtEnd: Bool { descriptor < 0 }

    /// Takes the reading end over.
    init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    func close() {
        if !isAtEnd { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Reads once; to be called when there is something to read.
    func take() {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &chunk, chunk.count)
        if count > 0 {
            bytes += chunk[..<count]
        } else if count == 0 || errno != EINTR {
            close()
        }
    }

    /// Returns the next whole line; at the end also a line without its newline.
    func popLine() -> String? {
        let rest = bytes[nextLine...]
        guard let newline = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            if !isAtEnd || rest.isEmpty { return nil }
            nextLine = bytes.count
            return String(decoding: rest, as: UTF8.self)
        }
        nextLine = newline + 1
        return String(decoding: rest[..<newline], as: UTF8.self)
    }
}

/// Makes a pipe, closed on exec.
func makePipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    if unsafe clinux_pipe(&ends) != 0 { throw SetUpError("pipe2", errno) }
    return (ends[0], ends[1])
}

/// Makes a file in memory that is read from its start.
func memoryFile(_ content: [UInt8]) throws -> Int32 {
    let file = clinux_memory_file()
    if file < 0 { throw SetUpError("memfd_create", errno) }
    var done = 0
    while done < content.count {
        let count = unsafe content[done...].withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        if count < 0 { throw SetUpError("write", errno) }
        done += count
    }
    lseek(file, 0, SEEK_SET)
    return file
}

/// Returns the descriptors that can be read or are at their end; none when the time is over. Waits on a thread of its
/// own: tests that wait must not take the cooperative pool away from tests that could go on.
func awaitReadable(_ descriptors: [Int32], atMost time: Duration) async -> [Int32] {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
            _ = unsafe poll(&entries, nfds_t(entries.count), Int32(clamping: max(0, milliseconds) + 1))
            continuation.resume(returning: entries.filter { $0.revents != 0 }.map(\.fd))
        }
    }
}
