package import GroupSystemCalls

/// A small file outside of the container that a command keeps for its user.
package enum WholeFile {
    /// Writes a file beside its path, under a random name, and renames it: a reader finds the old content or the new,
    /// also after a power cut. The mode of the old file is kept. Any other file type at the path (a device, a symbolic
    /// link) is refused and left alone.
    package static func write(_ content: [UInt8], at path: [UInt8]) throws(Errno) {
        _ = try put(content, at: path, isFirst: false) { (_) throws(Errno) in true }
    }

    /// Writes a file as `write` does, and locks its first byte before the rename; the lock lasts as long as the
    /// descriptor is open. With `isFirst`, a file at the path is an error.
    package static func writeHeld(
        _ content: [UInt8], at path: [UInt8], isFirst: Bool
    ) throws(Errno) -> FileDescriptor {
        try put(content, at: path, isFirst: isFirst) { (file) throws(Errno) in
            try file.tryLock(.exclusive, ByteRange(start: 0, length: 1))
        }
    }

    private static func put(
        _ content: [UInt8], at path: [UInt8], isFirst: Bool, _ hold: (borrowing FileDescriptor) throws(Errno) -> Bool
    ) throws(Errno) -> FileDescriptor {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { Array(path[($0 + 1)...]) } ?? path
        let directory = slash.map { $0 == 0 ? [UInt8(ascii: "/")] : Array(path[..<$0]) } ?? [UInt8(ascii: ".")]
        if name.isEmpty { throw .invalid }
        let here = try FileDescriptor.open(path: directory, [.reading, .directory])
        let old = try here.statusIfPresent(of: name)
        if let old, !old.isRegularFile { throw old.isDirectory ? .isADirectory : .invalid }
        let temporary = [UInt8(ascii: ".")] + name.prefix(200) + Array(".\(randomWord())".utf8)
        let file = try FileDescriptor.open(
            temporary, in: here, .newFile, mode: old == nil ? 0o644 : 0o600)
        do throws(Errno) {
            if let old { try file.setMode(old.permissions) }
            _ = try hold(file)
            try file.writeAll(content)
            // Otherwise the file may be empty after a power cut, as the file system may write the new name first.
            try file.synchronizeData()
            try here.rename(temporary, to: name, in: here, replacing: !isFirst)
        } catch {
            try? here.unlink(temporary)
            throw error
        }
        return file
    }
}
