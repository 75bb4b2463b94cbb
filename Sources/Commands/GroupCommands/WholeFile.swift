package import GroupSystemCalls

/// A small file outside of the container that a command keeps for its user.
package enum WholeFile {
    /// Writes a file beside its path, and renames it: a reader finds the old content or the new, also after a power
    /// cut. The mode of the old file is kept. Any other file type at the path (a device, a symbolic link) is refused and
    /// left alone.
    package static func write(_ content: [UInt8], at path: [UInt8]) throws(Errno) {
        _ = try writeHeld(content, at: path, isFirst: false)
    }

    /// Writes a file as `write` does, and locks its first byte before the rename; the lock lasts as long as the
    /// descriptor is open. With `isFirst`, a file at the path is an error.
    package static func writeHeld(
        _ content: [UInt8], at path: [UInt8], isFirst: Bool
    ) throws(Errno) -> FileDescriptor {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { Array(path[($0 + 1)...]) } ?? path
        let directory = slash.map { $0 == 0 ? [UInt8(ascii: "/")] : Array(path[..<$0]) } ?? [UInt8(ascii: ".")]
        if name.isEmpty { throw .invalid }
        let here = try FileDescriptor.open(path: directory, [.reading, .directory])
        let old = try here.statusIfPresent(of: name)
        if let old, !old.isRegularFile { throw old.isDirectory ? .isADirectory : .invalid }
        var draft = try Draft(name, in: here, mode: old == nil ? 0o644 : 0o600)
        if let old { try draft.file.setMode(old.permissions) }
        try draft.file.writeAll(content)
        // Otherwise the file may be empty after a power cut, as the file system may write the new name first.
        try draft.file.synchronizeData()
        try draft.publish(as: name, replacing: !isFirst)
        return try draft.file.duplicate()
    }
}
