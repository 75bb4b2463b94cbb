import Glibc
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `Removing trees` {
    private static func name(_ text: String) -> [UInt8] { Array(text.utf8) }
    private func name(_ text: String) -> [UInt8] { Self.name(text) }

    @Test func `removing a tree removes everything in it and follows no symbolic link`() throws {
        let temporary = try TemporaryDirectory()
        let directory = try temporary.directory.duplicate()
        try directory.createDirectory(name("outside"), mode: 0o700)
        let outside = try FileDescriptor.open(name("outside"), in: directory, [.reading, .directory])
        _ = try FileDescriptor.open(name("kept"), in: outside, [.writing, .creating], mode: 0o600)
        try directory.createDirectory(name("tree"), mode: 0o700)
        let tree = try FileDescriptor.open(name("tree"), in: directory, [.reading, .directory])
        for number in 0..<100 {
            try tree.createDirectory(name("f\(number)"), mode: 0o700)
            let inner = try FileDescriptor.open(name("f\(number)"), in: tree, [.reading, .directory])
            _ = try FileDescriptor.open(name("file"), in: inner, [.writing, .creating], mode: 0o600)
            try inner.makeLink(name("link"), to: name("../../outside"))
            try inner.createDirectory(name("empty"), mode: 0)
        }
        try directory.removeTree(name("tree"))
        #expect(try directory.entryNames() == [name("outside")])
        #expect(try outside.entryNames() == [name("kept")])
        try directory.removeTree(name("tree"))
        try directory.makeLink(name("link"), to: name("outside"))
        try directory.removeTree(name("link"))
        #expect(try outside.entryNames() == [name("kept")])
        try directory.removeTree(name("outside"))
        #expect(try directory.entryNames().isEmpty)
    }

    @Test func `a tree that is deeper than a path can name is removed with few descriptors`() async {
        // In a process of its own, because the limit is the process's, and other tests open descriptors, too.
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            var current = try temporary.directory.duplicate()
            for _ in 0..<3_000 {
                try current.createDirectory(Self.name("deep"), mode: 0o700)
                current = try FileDescriptor.open(Self.name("deep"), in: current, [.reading, .directory])
            }
            _ = try FileDescriptor.open(Self.name("file"), in: current, [.writing, .creating], mode: 0o600)
            current = try temporary.directory.duplicate()
            var limit = rlimit(rlim_cur: rlim_t(current.number) + 64, rlim_max: rlim_t(current.number) + 64)
            try #require(unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0)
            try temporary.directory.removeTree(Self.name("deep"))
            #expect(try temporary.directory.entryNames().isEmpty)
        }
    }
}
