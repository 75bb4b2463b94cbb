import SystemCalls

/// A folder for one test; goes with all that is in it.
struct TemporaryFolder: ~Copyable {
    let folder: FileDescriptor
    private let parent: FileDescriptor
    private let name: [UInt8]

    init() throws {
        // Memory: on a disk the thousands of files of some tests take seconds.
        let place = Array((environmentValue("TMPDIR") ?? "/dev/shm").utf8)
        let name = Array("system-calls-\(randomWord())".utf8)
        let parent = try FileDescriptor.open(path: place, [.reading, .folder])
        try parent.makeFolder(name, mode: 0o700)
        folder = try FileDescriptor.open(name, in: parent, [.reading, .folder])
        self.parent = parent
        self.name = name
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

    func create(_ name: [UInt8]) throws {
        _ = try FileDescriptor.open(name, in: folder, [.writing, .creating, .exclusively], mode: 0o600)
    }

    /// Each call gives an open file description of its own.
    func open(_ name: String) throws -> FileDescriptor {
        try FileDescriptor.open(Array(name.utf8), in: folder, [.readingAndWriting, .creating], mode: 0o600)
    }
}

/// More than any wait of a test that passes takes, so that one which does not ends.
let patience: Int64 = 30_000_000_000
