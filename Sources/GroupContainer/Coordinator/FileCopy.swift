import GroupSystemCalls

/// A file's copy.
enum FileCopy {
    /// With the content and the attributes of `original`. With a key, the hash of its content, too, where it is small
    /// enough. System calls: openat2, ioctl(FICLONE) or copy_file_range, those of `StagedAttributes`, fsync
    static func make(
        _ name: [UInt8], in folder: borrowing FileDescriptor, of original: borrowing FileDescriptor, isDurable: Bool,
        hashKey: SipHash? = nil
    ) throws(Errno) -> (status: FileStatus, contentHash: UInt64?) {
        let attributes = try StagedAttributes(keptOf: original)
        let file = try FileDescriptor.open(
            name, in: folder, [.writing, .creating, .exclusively, .notFollowing], mode: attributes.creationMode)
        try file.copyContent(of: original)
        var hash: UInt64?
        // While it is still ours to read.
        if let hashKey, try file.status().size <= ItemState.largestHashed {
            hash = hashKey.hash(try FileDescriptor.content(of: name, in: folder))
        }
        try attributes.apply(to: file)
        if isDurable { try file.synchronize() }
        return (try file.status(), hash)
    }
}
