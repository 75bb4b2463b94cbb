import GroupSystemCalls

/// A file of the user's own, outside of any container.
enum UserFile {
    /// Replaces a file as a whole or not at all, for every reader; if synchronized, after a power cut as well. Creates
    /// missing directories.
    static func replace(
        _ name: String, in directory: String, by content: [UInt8], isSynchronized: Bool
    ) throws(Errno) {
        let here = try makeDirectories(directory)
        let temporary = Array(".\(name).\(randomWord())".utf8)
        let file = try FileDescriptor.open(temporary, in: here, .newFile, mode: 0o600)
        do throws(Errno) {
            try file.writeAll(content)
            if isSynchronized { try file.synchronizeData() }
            try here.rename(temporary, to: Array(name.utf8), in: here, replacing: true)
        } catch {
            try? here.unlink(temporary)
            throw error
        }
    }

    private static func makeDirectories(_ path: String) throws(Errno) -> FileDescriptor {
        // An existing directory takes one call.
        if let here = try? FileDescriptor.open(path: Array(path.utf8), [.reading, .directory]) { return here }
        var made = ""
        for part in path.split(separator: "/") {
            let parent = try FileDescriptor.open(
                path: Array((made.isEmpty ? "/" : made).utf8), [.placeOnly, .directory])
            made += "/\(part)"
            if try parent.statusIfPresent(of: Array(part.utf8)) == nil {
                do throws(Errno) {
                    try parent.createDirectory(Array(part.utf8), mode: 0o700)
                } catch {
                    if error != .exists { throw error }
                }
            }
        }
        return try FileDescriptor.open(path: Array(path.utf8), [.reading, .directory])
    }
}
