import Glibc
import GroupSystemCalls

/// A directory that is removed with everything in it.
final class ScratchDirectory: Sendable {
    /// In memory, if there is room for the few files of one input: a fuzzer makes thousands of them.
    private static let parent: [UInt8] = {
        var facts = statvfs()
        let isThere = unsafe statvfs("/dev/shm", &facts) == 0
        let isRoomy = isThere && UInt64(facts.f_bavail) * UInt64(facts.f_frsize) >= 32 << 20
        return Array((isRoomy ? "/dev/shm" : environmentValue("TMPDIR") ?? "/tmp").utf8)
    }()
    private let name: [UInt8]
    var path: [UInt8] { Self.parent + [UInt8]("/") + name }
    let descriptor: FileDescriptor

    init() throws {
        name = [UInt8]("group-container-fuzz-\(randomWord())")
        let parent = try FileDescriptor.open(path: Self.parent, [.reading, .directory])
        try parent.createDirectory(name, mode: 0o700)
        descriptor = try FileDescriptor.open(name, in: parent, [.reading, .directory])
    }

    func write(_ content: [UInt8], as name: String) throws {
        let file = try FileDescriptor.open(
            [UInt8](name), in: descriptor, [.writing, .creating, .exclusively], mode: 0o600)
        try file.writeAll(content)
    }

    deinit {
        let parent = try? FileDescriptor.open(path: Self.parent, [.reading, .directory])
        try? parent?.removeTree(name)
    }
}
