import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `What is changed without coordination before a compare and set` {
    /// Shell scripts, with `a` at generation 1 and "old" in it, and what the journal tells of them.
    static let scripts: [(script: String, told: [String], isThere: Bool)] = [
        ("printf other > a", ["modified a"], true),
        ("printf new > a", ["modified a"], true),
        ("cp -p a keep; printf new 1<> a; touch -r keep a; rm keep", ["modified a"], true),
        ("printf new > b; touch -r a b; mv b a", ["modified a"], true),
        ("cp -p a b; mv b a", ["touched a"], true),
        ("chmod 640 a", ["touched a"], true),
        ("touch -d yesterday a", ["touched a"], true),
        ("rm a", ["removed a"], false),
        ("rm a; mkdir a; : > a/b", ["removed a", "created a"], true),
        ("rm a; ln -s nowhere a", [], false),
        ("mv a b; printf old > a; touch -r b a", ["touched a"], true),
    ]

    @Test(arguments: scripts)
    func `is seen, gets its record, and fails it`(_ change: (script: String, told: [String], isThere: Bool)) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: Array("old".utf8), to: "a", mode: 0o600) == .written(1))
        let read = try tester.readVersion("a")
        try sample.temporary.run("sh", "-c", change.script)
        let isLink = change.told.isEmpty
        let error = #expect(throws: CoordinationError.self) {
            try tester.write(bytes: Array("mine".utf8), to: "a", if: .generation(read.generation))
        }
        #expect(error?.code == .conflict)
        #expect(error?.generation == (change.isThere ? UInt64(1 + change.told.count) : nil))
        #expect(try sample.history() == ["created a"] + change.told)
        #expect(try tester.generation(of: "a") == error?.generation)
        #expect(try sample.history() == ["created a"] + change.told, "once")
        if isLink { return }
        var follower = try sample.container.recordedChanges(since: .start)
        _ = try follower.next(timeout: .zero)
        while let found = try follower.next(timeout: .zero) { #expect(!found.isCoordinated) }
        try sample.container.noteUncoordinatedChanges()
        #expect(
            try sample.history().filter { $0.hasSuffix(" a") } == ["created a"] + change.told, "by nobody else again")
    }

    @Test func `is what the next one finds`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try sample.temporary.put("one", at: "a")
        let first = try tester.readVersion("a")
        #expect(first == Versioned(content: Array("one".utf8), generation: 1))
        try sample.temporary.put("two", at: "a")
        #expect(code { try tester.write(bytes: [0], to: "a", if: .generation(1)) } == .conflict)
        let second = try tester.readVersion("a")
        #expect(second == Versioned(content: Array("two".utf8), generation: 2))
        #expect(try tester.write(bytes: [0], to: "a", if: .generation(2)) == .written(3))
        #expect(try sample.history() == ["created a", "modified a", "modified a"])
    }

    @Test func `is told with the directories that it needs`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try sample.temporary.run("sh", "-c", "mkdir -p d/e; printf 1 > d/e/a; : > d/e/b")
        #expect(code { try tester.write(bytes: [0], to: "d/e/a", if: .absent) } == .conflict)
        #expect(try sample.history() == ["created d", "created d/e", "created d/e/a"])
        try sample.temporary.run("rm", "-r", "d")
        #expect(try tester.generation(of: "d") == nil)
        #expect(
            try sample.history().dropFirst(3) == ["removed d/e/a", "removed d/e", "removed d"], "what was in it first")
    }

    @Test func `is a move where it was one`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        try sample.temporary.run("mv", "a", "b")
        #expect(try tester.generation(of: "b") == 2)
        #expect(try sample.history() == ["created a", "moved b"])
        #expect(try tester.generation(of: "a") == nil)
        #expect(try sample.history().count == 2)
    }

    @Test func `is not confused with another item whose lock somebody holds`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try sample.temporary.run("sh", "-c", "mkdir d; printf 1 > d/a")
        let holder = try OtherMemberLock(sample, .writing("d"))
        #expect(try tester.generation(of: "d/a") == 2, "nobody waits for the directory, which is told first")
        holder.end()
        #expect(try sample.history() == ["created d", "created d/a"])
    }

    @Test func `is seen by its content where no date tells`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: Array("new".utf8), to: "a") == .written(1))
        // As if it had been written again within one tick of the file system's clock.
        let status = try sample.temporary.status(of: "a")
        let record = ChangeRecord(
            .modified, path: Array("a".utf8),
            state: ItemState(status, contentHash: sample.container.member.contentHash(of: Array("old".utf8))),
            isCoordinated: true, processIdentifier: processIdentifier(), purpose: [], time: 0)
        #expect(try sample.container.member.journal.append(record).sequence == 2)
        #expect(code { try tester.write(bytes: [0], to: "a", if: .generation(2)) } == .conflict)
        #expect(try tester.readVersion("a") == Versioned(content: Array("new".utf8), generation: 3))
    }

    @Test func `is read with the generation of its own`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try sample.temporary.put("0", at: "a")
        let isOver = Guarded(false)
        let editor = Side {
            var number = 0
            while !isOver.withLock({ $0 }) {
                number += 1
                try sample.temporary.put("\(number)", at: "new")
                try sample.temporary.directory.rename(
                    Array("new".utf8), to: Array("a".utf8), in: sample.temporary.directory, replacing: true)
            }
        }
        var seen: [UInt64: [UInt8]] = [:]
        var last: UInt64 = 0
        for _ in 0..<300 {
            do {
                let version = try tester.readVersion("a")
                #expect(version.generation >= last)
                last = version.generation
                #expect(seen.updateValue(version.content, forKey: last) ?? version.content == version.content)
            } catch let error as CoordinationError where error.code == .conflict {
                // It is replaced faster than it can be read.
            }
        }
        isOver.withLock { $0 = true }
        try editor.answer()
        let member = sample.container.member
        var place = try member.journal.log.start()
        while let entry = try member.journal.log.entry(behind: place) {
            place = entry.position
            guard let content = seen[place.sequence] else { continue }
            let record = try ChangeRecord(decoding: entry.body)
            #expect(member.contentHash(of: content) == record.state?.contentHash, "at \(place.sequence)")
        }
        let content = try sample.temporary.content(of: "a")
        #expect(try tester.readVersion("a").content == Array(content.utf8))
    }
}
