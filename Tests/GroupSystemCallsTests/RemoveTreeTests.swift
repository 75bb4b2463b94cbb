import GroupSystemCalls
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct `The removal of a tree` {
    private func name(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `takes everything and follows no link`() throws {
        let temporary = try TemporaryFolder()
        let folder = try temporary.folder.duplicate()
        try folder.makeFolder(name("outside"), mode: 0o700)
        let outside = try FileDescriptor.open(name("outside"), in: folder, [.reading, .folder])
        _ = try FileDescriptor.open(name("kept"), in: outside, [.writing, .creating], mode: 0o600)
        try folder.makeFolder(name("tree"), mode: 0o700)
        let tree = try FileDescriptor.open(name("tree"), in: folder, [.reading, .folder])
        for number in 0..<100 {
            try tree.makeFolder(name("f\(number)"), mode: 0o700)
            let inner = try FileDescriptor.open(name("f\(number)"), in: tree, [.reading, .folder])
            _ = try FileDescriptor.open(name("file"), in: inner, [.writing, .creating], mode: 0o600)
            try inner.makeLink(name("link"), to: name("../../outside"))
            try inner.makeFolder(name("empty"), mode: 0)
        }
        try folder.removeTree(name("tree"))
        #expect(try folder.entryNames() == [name("outside")])
        #expect(try outside.entryNames() == [name("kept")])
        try folder.removeTree(name("tree"))
        try folder.makeLink(name("link"), to: name("outside"))
        try folder.removeTree(name("link"))
        #expect(try outside.entryNames() == [name("kept")])
        try folder.removeTree(name("outside"))
        #expect(try folder.entryNames().isEmpty)
    }

    @Test func `goes deeper than a path can name, with two descriptors`() throws {
        let temporary = try TemporaryFolder()
        let depth = 3_000
        var current = try temporary.folder.duplicate()
        for _ in 0..<depth {
            try current.makeFolder(name("deep"), mode: 0o700)
            current = try FileDescriptor.open(name("deep"), in: current, [.reading, .folder])
        }
        _ = try FileDescriptor.open(name("file"), in: current, [.writing, .creating], mode: 0o600)
        let highest = current.number
        current = try temporary.folder.duplicate()
        try temporary.folder.removeTree(name("deep"))
        #expect(try temporary.folder.entryNames().isEmpty)
        // Numbers are given from below: many open at once would have pushed this one up.
        let next = try temporary.folder.duplicate()
        #expect(next.number <= highest + 64)
    }
}
