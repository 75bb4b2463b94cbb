import GroupSystemCalls
import TestSupport
import Testing

@Suite struct `A file on its way to its name` {
    private let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    private func draft(_ label: String = "a") throws -> Draft {
        try Draft(Array(label.utf8), in: temporary.open(".", [.reading, .directory]))
    }

    private func names() throws -> [String] {
        try temporary.directory.entryNames().map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    @Test func `gets it as a whole`() throws {
        try temporary.put("old", at: "a")
        do {
            var draft = try draft()
            try draft.file.writeAll(Array("new".utf8))
            #expect(try temporary.content(of: "a") == "old")
            try draft.publish(as: Array("a".utf8))
        }
        #expect(try temporary.content(of: "a") == "new")
        #expect(try names() == ["a"])
    }

    @Test func `is removed if it does not get it`() throws {
        do {
            var draft = try draft()
            try temporary.put("another", at: "a")
            #expect(throws: Errno.exists) { try draft.publish(as: Array("a".utf8), replacing: false) }
        }
        #expect(try names() == ["a"])
        #expect(try temporary.content(of: "a") == "another")
    }

    @Test func `replaces one that a killed process has left, and no other`() throws {
        let first = try draft()
        try temporary.put("left by a process that was killed", at: ".a.group-draft-1")
        try temporary.run("mkfifo", ".a.group-draft-2")
        try temporary.put("victim", at: "victim")
        try temporary.run("ln", "-s", "victim", ".a.group-draft-3")
        let second = try draft()
        #expect(first.name == Array(".a.group-draft".utf8) && second.name == Array(".a.group-draft-1".utf8))
        #expect(try second.file.status().size == 0)
        let third = try draft()
        #expect(third.name == Array(".a.group-draft-4".utf8))
        #expect(try temporary.content(of: "victim") == "victim")
        let other = try draft("b")
        #expect(other.name == Array(".b.group-draft".utf8))
    }

    @Test func `has a random name if all others are in use`() throws {
        for number in 0...16 {
            let name = ".a.group-draft" + (number == 0 ? "" : "-\(number)")
            try temporary.directory.createDirectory(Array(name.utf8), mode: 0o700)
        }
        let last = try draft()
        #expect(last.name.starts(with: ".a.group-draft-".utf8) && last.name.count > 20)
    }

    @Test func `keeps its lock for a descriptor that outlives it`() throws {
        let held: FileDescriptor
        do {
            var draft = try draft()
            try draft.publish(as: Array("a".utf8))
            held = try draft.file.duplicate()
        }
        let other = try temporary.open("a")
        #expect(try !other.tryLock(.exclusive, ByteRange(start: 0, length: 1)))
        _ = consume held
        #expect(try other.tryLock(.exclusive, ByteRange(start: 0, length: 1)))
    }
}
