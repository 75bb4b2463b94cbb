import GroupSystemCalls

/// The container's directory. Copies of `LocalDisk` share it.
final class ContainerRoot: Sendable {
    let descriptor: FileDescriptor
    private let own: FileStatus

    init(_ descriptor: consuming FileDescriptor) throws(Errno) {
        own = try descriptor.status()
        self.descriptor = descriptor
    }

    /// Returns whether a file is on another file system, or on a mount of its own, as a bind mount is.
    func isOther(_ other: FileStatus) -> Bool {
        other.mountID != own.mountID || other.isDirectory && other.device != own.device
    }

    /// Returns the status of what is at a path, without following it.
    func status(of path: [UInt8]) throws(Errno) -> FileStatus {
        try FileDescriptor.open(path, in: descriptor, [.pathOnly, .notFollowing]).status()
    }

    /// Returns whether something is mounted on a directory of a path.
    func isHidden(_ path: [UInt8]) -> Bool {
        path.indices.contains { slash in
            guard path[slash] == UInt8(ascii: "/"), let above = try? status(of: Array(path[..<slash])) else {
                return false
            }
            return isOther(above)
        }
    }

    /// Returns whether a directory is another container.
    func isContainer(_ path: [UInt8]) -> Bool {
        (try? status(of: path + Array("/.group".utf8)))?.isDirectory == true
    }
}
