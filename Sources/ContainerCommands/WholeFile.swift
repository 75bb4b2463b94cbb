package import SystemCalls

/// A small file outside of the container that a command keeps for its user.
package enum WholeFile {
    /// Writes it beside its place, as `NAME.new`, and renames it: whoever reads it finds the old content or the new.
    package static func write(_ content: [UInt8], at path: [UInt8]) throws(Errno) {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { Array(path[($0 + 1)...]) } ?? path
        let folder = slash.map { $0 == 0 ? [UInt8(ascii: "/")] : Array(path[..<$0]) } ?? [UInt8(ascii: ".")]
        let here = try FileDescriptor.open(path: folder, [.reading, .folder])
        let temporary = name + Array(".new".utf8)
        let file = try FileDescriptor.open(
            temporary, in: here, [.writing, .creating, .truncating], mode: 0o644, resolving: .free)
        try file.writeAll(content)
        try here.rename(temporary, to: name, in: here, replacing: true)
    }
}
