import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// Opening and moving the files of the disk.
extension LocalDisk {
    /// Opens the directory of an item. No symbolic link on the path leads out of the container.
    func open(directory item: LocalItem) throws(Errno) -> FileDescriptor {
        if item == .root {
            return try FileDescriptor.open([UInt8(ascii: ".")], in: root.descriptor, [.reading, .directory])
        }
        return try FileDescriptor.open(path(of: item), in: root.descriptor, [.reading, .directory])
    }

    func open(file item: LocalItem) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(path(of: item), in: root.descriptor, .readingItself)
    }

    /// Moves a file of the directory of contents to a path.
    func move(_ name: [UInt8], of contents: ContentFiles, to path: [UInt8]) throws(CoordinationError) {
        do throws(Errno) {
            let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
            let directory = start == 0 ? [UInt8(ascii: ".")] : Array(path[..<(start - 1)])
            let goal = try FileDescriptor.open(directory, in: root.descriptor, [.reading, .directory])
            try contents.move(name, to: Array(path[start...]), in: goal)
        } catch {
            throw CoordinationError(error, operation: "move", item: printable(path))
        }
    }

    /// Writes everything that was changed in the container's file system to the disk. System calls: syncfs(2)
    func synchronize() throws(Errno) { try root.descriptor.synchronizeFileSystem() }

    /// Writes a directory to the disk. System calls: fsync(2)
    func synchronize(directory: LocalItem) throws(Errno) { try open(directory: directory).synchronize() }
}
