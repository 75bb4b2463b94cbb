import Foundation
import GroupContainer
import TestSupport
import Testing

/// A change, what it starts from, and what tells whether it has happened.
struct ChangeCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The files that there are before, by their paths; "" stands for a folder.
    var before: [String: String]
    /// The words of groupctl; what stands in the folder of the case is written with `@/`.
    var words: [String]
    var after: [String: String]
    var records: [String]
    /// The only one whose lease leads to the repair; nil where any does.
    var concernsOneItem: String?

    static let all = [
        ChangeCase(
            testDescription: "remove a tree", before: ["a": "", "a/b": "", "a/b/file": "1", "a/other": "2"],
            words: ["remove", "-r", "@/a"], after: [:], records: ["removed @/a"]),
        ChangeCase(
            testDescription: "remove a file", before: ["a": "1"], words: ["remove", "@/a"], after: [:],
            records: ["removed @/a"], concernsOneItem: "a"),
        ChangeCase(
            testDescription: "move over a file", before: ["a": "1", "b": "2"], words: ["move", "@/a", "@/b"],
            after: ["b": "1"], records: ["moved @/b"]),
        ChangeCase(
            testDescription: "move a tree", before: ["a": "", "a/b": "", "a/b/file": "1", "c": ""],
            words: ["move", "@/a", "@/c/d"], after: ["c": "", "c/d": "", "c/d/b": "", "c/d/b/file": "1"],
            records: ["moved @/c/d"]),
        ChangeCase(
            testDescription: "copy over a file", before: ["a": "1", "b": "2"], words: ["copy", "@/a", "@/b"],
            after: ["a": "1", "b": "1"], records: ["modified @/b"], concernsOneItem: "b"),
        ChangeCase(
            testDescription: "copy a tree", before: ["a": "", "a/b": "", "a/b/file": "1"],
            words: ["copy", "-r", "@/a", "@/c"],
            after: ["a": "", "a/b": "", "a/b/file": "1", "c": "", "c/b": "", "c/b/file": "1"],
            records: ["created @/c", "created @/c/b", "created @/c/b/file"]),
        ChangeCase(
            testDescription: "make a folder", before: [:], words: ["mkdir", "@/a"], after: ["a": ""],
            records: ["created @/a"]),
    ]

    func command(in container: TemporaryContainer, _ folder: String) -> [String] {
        ["groupctl", words[0], container.path]
            + words.dropFirst().map { $0.replacingOccurrences(of: "@", with: folder) }
    }

    func prepare(_ container: TemporaryContainer, _ folder: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: "\(container.path)/\(folder)", withIntermediateDirectories: true)
        for (path, content) in before.sorted(by: { $0.key < $1.key }) {
            let place = "\(container.path)/\(folder)/\(path)"
            if content.isEmpty {
                try files.createDirectory(atPath: place, withIntermediateDirectories: true)
            } else {
                try Data(content.utf8).write(to: URL(fileURLWithPath: place))
            }
        }
    }

    /// What stands there now, in the same form.
    func found(_ container: TemporaryContainer, _ folder: String) -> [String: String] {
        let top = "\(container.path)/\(folder)"
        var found: [String: String] = [:]
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: top)) ?? [] {
            let content = FileManager.default.contents(atPath: "\(top)/\(path)")
            found[path] = content.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        return found
    }

    /// What the journal has of it: kind and path.
    func records(_ container: TemporaryContainer, _ other: Container?, since count: Int) throws -> [String] {
        try container.changes(other).dropFirst(count).map { "\($0.kind.name) \($0.path)" }
    }
}

// case 2
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 30 : 5)))
struct `A change killed at any of its system calls` {
    @Test(arguments: ChangeCase.all, [true, false])
    func `has happened wholly or not at all, with its record exactly if it has`(
        change: ChangeCase, isWatched: Bool
    ) throws {
        let container = try TemporaryContainer()
        let other = isWatched ? try container.open() : nil
        try change.prepare(container, "model")
        let kills = try EverySystemCall(of: change.command(in: container, "model"), in: container)
        #expect(change.found(container, "model") == change.after)
        try #require(kills.calls.contains { $0.name.hasPrefix("rename") })

        try kills.forEachIfLong { kill in
            let folder = "case\(kill.number)"
            try change.prepare(container, folder)
            let before = try container.changes(other).count
            try kill.run(change.command(in: container, folder))
            let visible = change.found(container, folder)
            let hasHappened = visible == change.after
            #expect(hasHappened || visible == change.before, "\(kill): \(visible)")

            let expected = hasHappened ? change.records.map { $0.replacingOccurrences(of: "@", with: folder) } : []
            if let other {
                // Whoever gets any lease finishes a change of a folder, or of two items.
                let path = change.concernsOneItem.map { "\(folder)/\($0)" } ?? "unrelated"
                _ = try? other.coordinator(purpose: "heir").blocking.readBytes(ItemPath(path))
                #expect(try change.records(container, other, since: before) == expected, "\(kill)")
            }
            for _ in 0..<2 { _ = try container.groupctl("read", "nothing") }
            #expect(change.found(container, folder) == visible, "\(kill)")
            #expect(try change.records(container, other, since: before) == expected, "\(kill)")
            #expect(container.staging.isEmpty, "\(kill): \(container.staging)")
        }
    }
}

// case 6
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(5)))
struct `A change for which there is no room` {
    @Test(arguments: ChangeCase.all, ["pwrite", "rename"])
    func `is refused before anything happens`(change: ChangeCase, name: String) throws {
        let container = try TemporaryContainer()
        try change.prepare(container, "model")
        let calls = try Strace.calls(of: change.command(in: container, "model"), input: "", in: container)
        let step = try #require(calls.firstIndex { $0.name.hasPrefix("rename") })
        // The last write before the step is that of the note.
        let call = try #require(calls[...step].last { $0.name.hasPrefix(name) })
        let before = try container.changes().count
        try change.prepare(container, "full")
        let command = change.command(in: container, "full") + ["--json"]
        let (status, text) = try Strace.run(command, fault: .error("ENOSPC"), at: call)
        #expect(status == 74 && text.contains(#""code":"noSpace""#), "\(text)")
        #expect(change.found(container, "full") == change.before)
        #expect(container.staging.isEmpty)
        #expect(try container.changes().count == before)
        #expect(try RunningProcess(command, input: "").finish().status == 0)
        #expect(change.found(container, "full") == change.after)
    }
}

// case 38
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `A snapshot that is read` {
    @Test func `is left alone by everybody who comes, goes and dies meanwhile`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "folder/item", input: "old")
        let open = try container.open()
        try open.coordinator(purpose: "uploader").blocking.coordinate(.reading("folder", .forUploading)) {
            access throws in
            #expect(try container.groupctl("write", "folder/item", "--timeout", "0", input: "new").status == 0)
            let victim = try container.member("hold", "other")
            try victim.waitForText("held")
            victim.kill()
            for _ in 0..<3 { #expect(try container.groupctl("read", "folder/item").text == "new") }
            #expect(try access.readBytes("folder/item") == Array("old".utf8))
            #expect(container.staging.count == 1)
        }
        #expect(container.staging.isEmpty)
    }

    @Test(arguments: [true, false])
    func `is swept once its process was killed`(isAlone: Bool) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "folder/inner/item", input: "old")
        let other = isAlone ? nil : try container.open()
        let uploader = try container.member("upload", "folder")
        try uploader.waitForText("uploading")
        #expect(container.staging.count == 1)
        uploader.kill()
        _ = try container.groupctl("read", "folder/inner/item")
        #expect(container.staging.isEmpty)
        _ = try other?.status()
    }
}
