import GroupSystemCalls
import TestSupport
import Testing

@Suite struct `The name of an entry` {
    /// Calls everything that changes an entry.
    private static let calls: [String: @Sendable (borrowing FileDescriptor, [UInt8]) throws -> Void] = [
        "unlink": { try $0.unlink($1) },
        "mkdir": { try $0.createDirectory($1, mode: 0o700) },
        "rename": { try $0.rename(Array("own".utf8), to: $1, in: $0, replacing: true) },
        "rename from": { try $0.rename($1, to: Array("own".utf8), in: $0, replacing: true) },
        "link": { try $0.link(Array("own".utf8), as: $1, in: $0) },
        "exchange": { try $0.exchange(Array("own".utf8), with: $1, in: $0) },
        "symlink": { try $0.makeLink($1, to: Array("x".utf8)) },
        "chown": { try $0.setOwner(of: $1, .max, group: .max) },
        "chmod": { try $0.setMode(of: $1, 0o600) },
        "remove tree": { try $0.removeTree($1) },
    ]

    @Test(arguments: calls.keys.sorted()) func `that leads out of the directory is refused`(name: String) throws {
        let call = try #require(Self.calls[name])
        let temporary = try TemporaryDirectory()
        try temporary.put("victim", at: "victim")
        try temporary.run("mkdir", "inside")
        try temporary.run("ln", "-s", "..", "inside/link")
        try temporary.put("own", at: "inside/own")
        let inside = try temporary.open("inside", [.reading, .directory])
        for path in [
            "../victim", "a/../../victim", "\(temporary.path)/victim", "..", ".", "", "own/", "./own", "own\0",
            "link/victim",
        ] {
            #expect(throws: Errno.self, "\(path)") { try call(inside, Array(path.utf8)) }
        }
        #expect(try temporary.content(of: "victim") == "victim")
        #expect(try temporary.content(of: "inside/own") == "own")
    }

    @Test func `that is a path below the directory leads there`() throws {
        let temporary = try TemporaryDirectory()
        try temporary.directory.createDirectory(Array("a".utf8), mode: 0o700)
        try temporary.directory.createDirectory(Array("a/b".utf8), mode: 0o700)
        try temporary.put("x", at: "a/b/c")
        try temporary.directory.rename(
            Array("a/b/c".utf8), to: Array("a/d".utf8), in: temporary.directory, replacing: false)
        #expect(try temporary.content(of: "a/d") == "x")
        try temporary.directory.unlink(Array("a/d".utf8))
        try temporary.directory.unlink(Array("a/b".utf8), directory: true)
    }
}
