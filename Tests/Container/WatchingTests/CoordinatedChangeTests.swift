import TestSupport
import Testing

/// The leader sees the events of coordinated changes, too, and must not take them for external changes.
@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Stream of coordinated changes` {
    /// Returns what the stream reports of commands of groupctl. None of the changes is external.
    private func reported(_ watched: WatchedContainer, by lines: [String]...) async throws -> [String] {
        for words in lines {
            let outcome = try await watched.container.start(
                "groupctl", [words[0], watched.container.path] + words.dropFirst()
            ).finish()
            if outcome.status != 0 { throw TemporaryContainer.Failed(description: "\(words): \(outcome)") }
        }
        let changes = try await watched.settle()
        #expect(changes.allSatisfy { $0.coordinated && $0.by?.purpose == "groupctl" }, "\(changes.map(\.summary))")
        return changes.map(\.summary)
    }

    private static let tree = "mkdir -p a/b/c other; printf 1 > a/file; printf 22 > a/b/c/x; printf 3 > other/file"

    @Test func `moving a directory with everything in it is reported as one move`() async throws {
        let watched = try await WatchedContainer(Self.tree)
        #expect(try await reported(watched, by: ["move", "a", "other/a"]) == ["moved a to other/a"])
        #expect(try await reported(watched, by: ["move", "other/a", "z"]) == ["moved other/a to z"])
        // The directory is watched where it is now, and known as it is now.
        #expect(try await watched.reported(by: "chmod 600 z/b/c/x") == ["touched z/b/c/x"])
        #expect(try await watched.reported(by: ": > z/b/new").withoutRepetitions == ["created z/b/new"])
        #expect(try await watched.reported(by: "mkdir a; : > a/x").filter { $0 == "created a/x" }.count == 1)
    }

    @Test func `copying a directory is reported as one creation of each item in it`() async throws {
        let watched = try await WatchedContainer(Self.tree)
        let reported = try await reported(watched, by: ["copy", "-r", "a", "other/a"])
        #expect(reported.first == "created other/a")
        #expect(
            reported.sorted() == [
                "created other/a", "created other/a/b", "created other/a/b/c", "created other/a/b/c/x",
                "created other/a/file",
            ])
        // The copy is watched, and known as it is now.
        #expect(try await watched.reported(by: "chmod 600 other/a/b/c/x") == ["touched other/a/b/c/x"])
        let again = try await watched.changes(inOneRoundBy: "printf 1 > other/a/file")
        #expect(again.map(\.summary) == ["touched other/a/file"])
    }

    @Test func `removing a directory with everything in it is reported as one removal`() async throws {
        let watched = try await WatchedContainer(Self.tree)
        #expect(try await reported(watched, by: ["remove", "-r", "a"]) == ["removed a"])
        let again = try await watched.reported(by: "mkdir -p a/b; : > a/b/new")
        #expect(again.withoutRepetitions == ["created a", "created a/b", "created a/b/new"])
    }

    @Test(arguments: [["write", "a/x"], ["write", "a/new"], ["mkdir", "a"], ["write", "a/x/y/f"]])
    func `nothing is moved from where a directory stood before a coordinated change that is reported first`(
        words: [String]
    ) async throws {
        let watched = try await WatchedContainer("mkdir -p a/x/y/z; echo 1 >a/x/y/f; echo 2 >a/x/y/z/g")
        let changes = try await watched.changes(inOneRoundBy: "mv a b; echo new | groupctl \(words[0]) ./ \(words[1])")
        #expect(changes.contains { $0.coordinated }, "\(changes.map(\.summary))")
        // What stood there may come back, and is new then.
        try await watched.changes(inOneRoundBy: "rm -r a; mv b a")
        try await watched.changes(by: "mv a c")
    }

    @Test func `each coordinated change of a file is reported once`() async throws {
        let watched = try await WatchedContainer(Self.tree)
        #expect(try await reported(watched, by: ["move", "a/file", "b"]) == ["moved a/file to b"])
        #expect(try await reported(watched, by: ["move", "b", "other/file"]) == ["moved b to other/file"])
        #expect(try await reported(watched, by: ["copy", "other/file", "c"]) == ["created c"])
        #expect(try await reported(watched, by: ["copy", "a/b/c/x", "c"]) == ["modified c"])
        #expect(
            try await reported(watched, by: ["remove", "c"], ["mkdir", "d/e"]) == [
                "removed c", "created d", "created d/e",
            ])
        // The content is still known: the same bytes again are a touch.
        let again = try await watched.changes(inOneRoundBy: "printf 1 > other/file")
        #expect(again.map(\.summary) == ["touched other/file"])
    }
}
