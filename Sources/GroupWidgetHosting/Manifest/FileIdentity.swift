import GroupSystemCalls

/// Which file stands at a path, and when it was written: enough to see that it is another one.
package struct FileIdentity: Hashable, Sendable {
    private let path: [UInt8]
    private let device: UInt64
    private let inode: UInt64
    private let modified: Int64
    private let size: UInt64

    /// Follows links. Nil: nothing can be opened there. System calls: openat2(2), statx(2)
    package init?(path: [UInt8]) {
        guard let file = try? FileDescriptor.open(path: path, .placeOnly), let status = try? file.status() else {
            return nil
        }
        self.path = path
        (device, inode, modified, size) = (status.device, status.inode, status.modified, status.size)
    }

    /// Of a program, by its path or, without a '/' in it, by PATH.
    package init?(program: String) {
        if program.contains("/") {
            self.init(path: Array(program.utf8))
            return
        }
        let directories = (environmentValue("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        let found = directories.lazy.compactMap { FileIdentity(path: Array("\($0)/\(program)".utf8)) }.first
        guard let found else { return nil }
        self = found
    }
}
