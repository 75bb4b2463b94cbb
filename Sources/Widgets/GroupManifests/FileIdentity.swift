import GroupSystemCalls

/// The identity of the file at a path, with its modification time and size, to notice another file or a change.
package struct FileIdentity: Hashable, Sendable {
    package let path: [UInt8]
    private let device: UInt64
    private let inode: UInt64
    private let modified: Int64
    private let size: UInt64

    /// Reads the identity of the file at a path; nil if no file can be opened there. Follows symbolic links. System
    /// calls: openat2(2), statx(2)
    package init?(path: [UInt8]) {
        guard let file = try? FileDescriptor.open(path: path, .pathOnly), let status = try? file.status() else {
            return nil
        }
        self.path = path
        device = status.device
        inode = status.inode
        modified = status.modified
        size = status.size
    }

    /// Reads the identity of a program, by its path or, if its name has no '/', by PATH.
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
