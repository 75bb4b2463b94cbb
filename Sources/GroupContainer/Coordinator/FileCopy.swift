import GroupSystemCalls

/// A file's copy.
enum FileCopy {
    /// What is copied.
    enum Original {
        case item(ItemLocation)
        /// What the process itself has in staging.
        case staged([UInt8])

        func open(
            _ root: borrowing FileDescriptor, _ staging: borrowing FileDescriptor,
            _ access: FileDescriptor.Access = [.reading, .notFollowing, .nonBlocking]
        ) throws(Errno) -> FileDescriptor {
            switch self {
            case .item(let location): try FileDescriptor.open(location.bytes, in: root, access)
            case .staged(let name): try FileDescriptor.open(name, in: staging, access)
            }
        }
    }

    /// Into staging. The program around this library may have the original open, and locked: it is opened and closed in
    /// another table of descriptors.
    static func make(
        _ name: [UInt8], of original: Original, in directory: GroupDirectory, isDurable: Bool, hashKey: SipHash? = nil
    ) throws(Errno) -> (status: FileStatus, contentHash: UInt64?) {
        try SeparateTable.within(directory.root, directory.staging) { root, staging throws(Errno) in
            try make(
                name, in: staging, of: try original.open(root, staging), isDurable: isDurable, hashKey: hashKey)
        }
    }

    /// With the content and the attributes of `original`. With a key, the hash of its content, too, where it is small
    /// enough. System calls: openat2, ioctl(FICLONE) or copy_file_range, those of `StagedAttributes`, fsync
    static func make(
        _ name: [UInt8], in directory: borrowing FileDescriptor, of original: borrowing FileDescriptor, isDurable: Bool,
        hashKey: SipHash? = nil
    ) throws(Errno) -> (status: FileStatus, contentHash: UInt64?) {
        let attributes = try StagedAttributes(keptOf: original)
        let file = try FileDescriptor.open(
            name, in: directory, [.writing, .creating, .exclusively, .notFollowing], mode: attributes.creationMode)
        try file.copyContent(of: original)
        var hash: UInt64?
        // While it is still ours to read.
        if let hashKey, try file.status().size <= ItemState.largestHashed {
            hash = hashKey.hash(try FileDescriptor.content(of: name, in: directory))
        }
        try attributes.apply(to: file)
        if isDurable { try file.synchronize() }
        return (try file.status(), hash)
    }
}
