import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A Unix socket that listens at a path, for this user's processes only: its file has the mode 0600.
package final class UnixListener: Sendable {
    private let socket: FileDescriptor
    private let directory: FileDescriptor
    private let name: [UInt8]
    private let inode: UInt64

    private static let backlog: Int32 = 1_024
    private static let longestPath = 107

    /// Listens. Replaces the file of a socket on which no process listens any more. Errors: `addressInUse` where one
    /// listens; `exists` where there is another file; `busy` where another program keeps the directory locked for two
    /// seconds; `nameTooLong`. System calls: socket(2), fchmod(2), bind(2),
    /// listen(2); where a file is there, connect(2), unlinkat(2); flock(2) on the directory, so that of two programs
    /// that start one replaces the file
    package init(path: [UInt8]) throws(Errno) {
        let (parent, name) = Self.split(path)
        let directory = try FileDescriptor.open(path: parent, [.reading, .directory])
        let number = directory.number
        // The path by the directory's descriptor is shorter, if the path is long.
        let address =
            path.count <= Self.longestPath
            ? path : Array("/proc/self/fd/\(number)/".utf8) + name
        try Self.lock(number)
        defer { _ = flock(number, LOCK_UN) }
        let socket: FileDescriptor
        do throws(Errno) {
            socket = try Self.listen(address)
        } catch {
            if error != .addressInUse { throw error }
            guard try directory.status(of: name).isSocket else { throw .exists }
            do throws(Errno) {
                _ = try Self.connect(path: address, waits: false)
                throw .addressInUse
            } catch {
                if error == .tryAgain { throw .addressInUse }
                if error != .connectionRefused { throw error }
            }
            try directory.unlink(name)
            socket = try Self.listen(address)
        }
        let status = try directory.status(of: name)
        // The umask may have kept even this user out.
        if status.permissions & 0o600 != 0o600 { try directory.setMode(of: name, 0o600) }
        inode = status.inode
        self.name = name
        self.socket = socket
        self.directory = directory
    }

    private static func listen(_ path: [UInt8]) throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try check { unsafe withCString(path) { unsafe clinux_listen($0, backlog) } })
    }

    private static func split(_ path: [UInt8]) -> (directory: [UInt8], name: [UInt8]) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return ([UInt8(ascii: ".")], path) }
        return (Array(path[...slash]), Array(path[(slash + 1)...]))
    }

    /// Locks the directory, which other servers hold for the moment in which they begin to listen. Error: `busy` where
    /// another program holds it.
    private static func lock(_ directory: Int32) throws(Errno) {
        for _ in 0..<200 {
            if flock(directory, LOCK_EX | LOCK_NB) == 0 { return }
            let error = Errno.last
            if error != .tryAgain && error != .interrupted { throw error }
            pause(nanoseconds: 10_000_000)
        }
        throw .busy
    }

    /// Connects to the socket at a path. Error: `tryAgain` where the server is busy, and `waits` is false. System calls:
    /// socket(2), connect(2)
    package static func connect(path: [UInt8], waits: Bool = true) throws(Errno) -> FileDescriptor {
        FileDescriptor(
            owning: try check { unsafe withCString(path) { unsafe clinux_connect($0, waits ? 1 : 0) } })
    }

    /// Ends both directions of a connection, and the waits for it; does nothing with another file. System calls:
    /// shutdown(2)
    package static func shutDown(_ connection: Int32) { _ = shutdown(connection, Int32(SHUT_RDWR)) }

    /// Waits for a client. Errors: those of accept4(2), except of a client that has gone meanwhile. System calls:
    /// accept4(2)
    package func accept() throws(Errno) -> FileDescriptor {
        let number = socket.number
        while true {
            do throws(Errno) {
                return FileDescriptor(owning: try retryingOnInterrupt { clinux_accept(number) })
            } catch {
                if error != .connectionAborted { throw error }
            }
        }
    }

    /// Removes the file, unless another program has replaced it. System calls: statx(2), unlinkat(2)
    package func removeFile() {
        if (try? directory.status(of: name))?.inode == inode { try? directory.unlink(name) }
    }
}
