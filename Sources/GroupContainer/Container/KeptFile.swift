import GroupSystemCalls

extension Container {
    /// A file that a command is to keep for its user can stand there: outside of this container, whose items change
    /// only under a lock, and are told of; and nothing but a regular file stands there. Errors: `invalidArgument`.
    /// System calls: openat2, statx, both for each directory around it
    package func checkMayKeep(_ file: [UInt8], _ operation: String) throws(CoordinationError) {
        let slash = file.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { $0 == 0 ? [UInt8(ascii: "/")] : Array(file[..<$0]) } ?? [UInt8(ascii: ".")]
        if slash.map({ $0 + 1 == file.count }) ?? file.isEmpty { throw .notKept(file, operation, isLink: false) }
        if holds(directory) {
            throw CoordinationError(
                .invalidArgument, item: printable(file), operation: operation,
                cause: "it lies inside the container, and would be one of its items",
                advice: "choose a place outside of it")
        }
        let status = try? FileDescriptor.open(path: directory, [.placeOnly, .directory])
            .statusIfPresent(of: Array(file[(slash.map { $0 + 1 } ?? 0)...]))
        if let status, !status.isRegularFile {
            throw .notKept(file, operation, isLink: status.isLink)
        }
    }

    /// Whether a directory is this one's root or lies in it, whatever way leads there.
    private func holds(_ directory: [UInt8]) -> Bool {
        guard let root = try? FileDescriptor.open(path: path.bytes, [.placeOnly, .directory]).status() else {
            return false
        }
        var place = directory
        var last: FileStatus?
        while let status = try? FileDescriptor.open(path: place, [.placeOnly, .directory]).status() {
            if status.inode == root.inode && status.device == root.device { return true }
            // The root of all files is its own parent.
            if let last, last.inode == status.inode && last.device == status.device { return false }
            last = status
            place += Array("/..".utf8)
        }
        return false
    }
}

extension CoordinationError {
    fileprivate static func notKept(_ file: [UInt8], _ operation: String, isLink: Bool) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: printable(file), operation: operation,
            cause: isLink ? "it is a symbolic link, no regular file" : "it is no regular file",
            advice: isLink ? "name the file that the link leads to" : "name a file, one that is there or a new one")
    }
}
