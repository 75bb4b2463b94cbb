import Glibc
package import GroupSystemCalls

/// A directory for one test; deleted with all that is in it when the test releases it.
package final class TemporaryDirectory: Sendable {
    package let path: String
    package let directory: FileDescriptor

    /// Makes a directory where tests make their files, unless a place is named.
    package init(in place: String = TestFiles.directory) throws {
        path = "\(place)/t-\(String(randomWord() % 2_176_782_336, radix: 36))"
        if unsafe mkdir(path, 0o700) != 0 { throw SetUpError("mkdir \(path)", errno) }
        directory = try FileDescriptor.open(path: Array(path.utf8), [.reading, .directory])
    }

    /// `rm` removes a tree of any depth.
    deinit { _ = Spawn.status(of: ["rm", "-rf", "--", path]) }

    /// Returns what changes have in staging. Intent records, whose files members keep for the next one, are left out.
    package func staged() throws -> [String] {
        try open(".group/staging", [.reading, .directory]).entryNames().map { String(decoding: $0, as: UTF8.self) }
            .filter { !$0.hasSuffix(".intent") }
    }

    package func open(_ name: String, _ access: FileDescriptor.OpenMode = .readingAndWriting) throws -> FileDescriptor {
        try FileDescriptor.open(Array(name.utf8), in: directory, access, mode: 0o600)
    }

    package func create(_ name: [UInt8]) throws {
        _ = try FileDescriptor.open(name, in: directory, [.writing, .creating, .exclusively], mode: 0o600)
    }

    /// Writes a file past the library, as an editor would.
    package func put(_ content: String, at name: String, mode: UInt32 = 0o600) throws {
        let file = try open(name, [.writing, .creating, .truncating])
        try file.setMode(mode)
        try file.writeAll(Array(content.utf8))
    }

    package func content(of name: String) throws -> String {
        String(decoding: try open(name, .reading).readAll(), as: UTF8.self)
    }

    package func status(of name: String) throws -> FileStatus { try directory.status(of: Array(name.utf8)) }

    /// Runs a command in this directory, for what GroupSystemCalls has no call for.
    package func run(_ words: String...) throws {
        let status = Spawn.status(of: ["env", "-C", path] + words)
        if status != 0 { throw CommandFailed(words: words, status: status) }
    }

    package struct CommandFailed: Error {
        package var words: [String]
        package var status: Int32
    }
}
