import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `External changes before a conditional write` {
    /// Shell scripts, run with `a` at generation 1 and "old" in it, and the changes that the journal records for `a`.
    static let scripts: [(script: String, reported: [String], isThere: Bool)] = [
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
    func `an external change is recorded once and makes a conditional write fail`(
        _ change: (script: String, reported: [String], isThere: Bool)
    ) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: Array("old".utf8), to: "a", mode: 0o600) == .written(1))
        let read = try tester.readVersion("a")
        try sample.temporary.run("sh", "-c", change.script)
        let isLink = change.reported.isEmpty
        let error = #expect(throws: CoordinationError.self) {
            try tester.write(bytes: Array("mine".utf8), to: "a", if: .generation(read.generation))
        }
        #expect(error?.code == .conflict)
        #expect(error?.generation == (change.isThere ? Generation(rawValue: UInt64(1 + change.reported.count)) : nil))
        #expect(try sample.history() == ["created a"] + change.reported)
        #expect(try tester.generation(of: "a") == error?.generation)
        #expect(try sample.history() == ["created a"] + change.reported, "once")
        if isLink { return }
        var follower = try sample.container.recordedChanges(since: .start)
        _ = try follower.next(timeout: .zero)
        while let found = try follower.next(timeout: .zero) { #expect(!found.isCoordinated) }
        try sample.container.noteUncoordinatedChanges()
        #expect(
            try sample.history().filter { $0.hasSuffix(" a") } == ["created a"] + change.reported, "not recorded again")
    }

    @Test func `an external change after a versioned read makes the next conditional write fail`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try sample.temporary.put("one", at: "a")
        let first = try tester.readVersion("a")
        #expect(first == Versioned(value: Array("one".utf8), generation: 1))
        try sample.temporary.put("two", at: "a")
        #expect(code { try tester.write(bytes: [0], to: "a", if: .generation(1)) } == .conflict)
        let second = try tester.readVersion("a")
        #expect(second == Versioned(value: Array("two".utf8), generation: 2))
        #expect(try tester.write(bytes: [0], to: "a", if: .generation(2)) == .written(3))
        #expect(try sample.history() == ["created a", "modified a", "modified a"])
    }

    @Test func `an external change is recorded together with the directories around it`() throws {
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

    @Test func `an external move is recorded as a move`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        try sample.temporary.run("mv", "a", "b")
        #expect(try tester.generation(of: "b") == 2)
        #expect(try sample.history() == ["created a", "moved b"])
        #expect(try tester.generation(of: "a") == nil)
        #expect(try sample.history().count == 2)
    }

    @Test func `an external change is recorded without waiting for a lock on the directory around it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try sample.temporary.run("sh", "-c", "mkdir d; printf 1 > d/a")
        let holder = try OtherMemberLock(sample, .writing("d"))
        #expect(try tester.generation(of: "d/a") == 2, "no wait for the directory, which is recorded first")
        holder.end()
        #expect(try sample.history() == ["created d", "created d/a"])
    }

    @Test func `an external change is found by its content where its dates are the same`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: Array("new".utf8), to: "a") == .written(1))
        // The record of a first write within the same tick of the file system's clock.
        let status = try sample.temporary.status(of: "a")
        let record = ChangeRecord(
            .modified, path: Array("a".utf8),
            state: ItemState(status, contentHash: sample.container.opened.contentHash(of: Array("old".utf8))),
            isCoordinated: true, processIdentifier: processIdentifier(), purpose: [], time: 0)
        #expect(try sample.container.opened.journal.append(record).sequence == 2)
        #expect(code { try tester.write(bytes: [0], to: "a", if: .generation(2)) } == .conflict)
        #expect(try tester.readVersion("a") == Versioned(value: Array("new".utf8), generation: 3))
    }

    @Test func `a versioned read during external changes returns each content with its own generation`() throws {
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
        var seen: [Generation: [UInt8]] = [:]
        var last: Generation = 0
        for _ in 0..<300 {
            do {
                let version = try tester.readVersion("a")
                #expect(version.generation >= last)
                last = version.generation
                #expect(seen.updateValue(version.value, forKey: last) ?? version.value == version.value)
            } catch let error as CoordinationError where error.code == .conflict {
                // The file is replaced faster than it can be read.
            }
        }
        isOver.withLock { $0 = true }
        try editor.answer()
        let member = sample.container.opened
        var place = try member.journal.log.start()
        reading: while true {
            switch try member.journal.log.step(behind: place) {
            case .entry(let entry):
                place = entry.position
                guard let content = seen[Generation(rawValue: place.sequence)] else { continue }
                let record = try ChangeRecord(decoding: entry.body)
                #expect(member.contentHash(of: content) == record.state?.contentHash, "at \(place.sequence)")
            case .gap(let next): place = next
            case .end: break reading
            case .lost: throw Errno.inputOutput
            }
        }
        let content = try sample.temporary.content(of: "a")
        #expect(try tester.readVersion("a").value == Array(content.utf8))
    }
}
