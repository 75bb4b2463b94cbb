import GroupContainer
import SystemCalls

/// A folder for one test, in memory unless a place is named; goes with all that is in it.
final class TemporaryFolder: Sendable {
    let path: String
    let folder: FileDescriptor
    private let parent: FileDescriptor
    private let name: [UInt8]

    init(in place: String = "/dev/shm") throws {
        let name = "group-container-\(randomWord())"
        let parent = try FileDescriptor.open(path: Array(place.utf8), [.reading, .folder])
        try parent.makeFolder(Array(name.utf8), mode: 0o700)
        folder = try FileDescriptor.open(Array(name.utf8), in: parent, [.reading, .folder])
        self.parent = parent
        self.name = Array(name.utf8)
        path = "\(place)/\(name)"
    }

    deinit {
        Self.empty(folder)
        try? parent.unlink(name, folder: true)
    }

    private static func empty(_ folder: borrowing FileDescriptor) {
        for name in (try? folder.entryNames()) ?? [] {
            if let inner = try? FileDescriptor.open(name, in: folder, [.reading, .folder]) {
                empty(inner)
                try? folder.unlink(name, folder: true)
            } else {
                try? folder.unlink(name)
            }
        }
    }

    func open(_ name: String, _ access: FileDescriptor.Access = .readingAndWriting) throws -> FileDescriptor {
        try FileDescriptor.open(Array(name.utf8), in: folder, access, mode: 0o600)
    }

    /// Past the library, as an editor would.
    func put(_ content: String, at name: String, mode: UInt32 = 0o600) throws {
        let file = try open(name, [.writing, .creating, .truncating])
        try file.setMode(mode)
        try file.writeAll(Array(content.utf8))
    }

    func content(of name: String) throws -> String {
        String(decoding: try open(name, .reading).readAll(), as: UTF8.self)
    }

    func status(of name: String) throws -> FileStatus { try folder.status(of: Array(name.utf8)) }

    /// A command in this folder, for what SystemCalls has no call for.
    func run(_ words: String...) throws {
        let script = ["sh", "-c", "cd \"$0\" && exec \"$@\"", path] + words
        let (_, status) = try ChildProcess.filter(script.map { Array($0.utf8) }, input: [])
        if status != 0 { throw CommandFailed(words: words, status: status) }
    }

    struct CommandFailed: Error {
        var words: [String]
        var status: Int32
    }
}
