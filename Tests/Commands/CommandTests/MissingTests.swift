import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `A missing group or item` {
    static let calls: [[String]] = [
        ["path"], ["list"], ["read", "p"], ["write", "p"], ["update", "p", "--", "cat"], ["status"],
        ["changes", "--since", "start"],
    ]

    @Test(arguments: calls) func `a missing group ends with 66 and the advice to create it`(call: [String]) async throws
    {
        let container = try TemporaryContainer(creating: false)
        let words = [call[0], container.path] + call.dropFirst()
        let outcome = try await container.start("groupctl", words).finish()
        #expect(outcome.status == 66, "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("'\(container.path)'") && outcome.errors.contains("groupctl create"))
        let error = try JSONError(try await container.start("groupctl", words.insertingJSON).finish())
        #expect(error.code == "notFound" && error.item == container.path, "\(error)")
        #expect(!FileManager.default.fileExists(atPath: container.path), "the call does not create it")
    }

    @Test func `watch-group of a missing group ends with 66`() async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await container.watch().finish()
        #expect(outcome.status == 66, "\(outcome)")
        #expect(outcome.errors.hasPrefix("watch-group: cannot open '\(container.path)': there is no container"))
    }

    @Test func `a group deleted with the directory around it is missing, not opened in staging`()
        async throws
    {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        let script = #"cd "$1/.." && mkdir -p .group/staging && mv container .group/staging/0123"#
        #expect(try await container.shell(script).status == 0)
        let outcome = try await watcher.finish()
        #expect(outcome.status == 66, "\(outcome)")
        #expect(
            outcome.errors.contains("the container was removed") && !outcome.errors.contains("staging"), "\(outcome)")
    }

    @Test func `a directory that is not a container ends with 66 and is unchanged`() async throws {
        let container = try TemporaryContainer(creating: false)
        try FileManager.default.createDirectory(atPath: container.path, withIntermediateDirectories: true)
        let outcome = try await container.run("write", "p", input: "x")
        #expect(outcome.status == 66, "\(outcome)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.path) == [])
    }

    @Test(arguments: [["read", "a/b"], ["list", "a"]])
    func `a missing item ends with 66 and is named`(call: [String]) async throws {
        let container = try TemporaryContainer()
        let words = [call[0], container.path, call[1]]
        let outcome = try await container.start("groupctl", words).finish()
        #expect(outcome.status == 66, "\(outcome)")
        #expect(
            outcome.errors.hasPrefix("groupctl: cannot \(call[0]) '\(call[1])' in '\(container.path)': "), "\(outcome)")
        let error = try JSONError(try await container.start("groupctl", words.insertingJSON).finish())
        #expect(error.code == "notFound" && error.item == call[1] && error.operation == call[0], "\(error)")
        #expect(error.holders == [])
    }

    @Test func `an item below a file is not missing, but of the wrong type`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "x")
        let outcome = try await container.run("read", "a/b")
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("'a/b'"))
    }

    @Test(arguments: ["read", "write", "update"])
    func `a directory is refused in place of a file`(subcommand: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a/b", input: "x")
        let command = subcommand == "update" ? ["--", "echo", "y"] : []
        let outcome = try await container.start(
            "groupctl", [subcommand, container.path, "a"] + command, input: "y"
        ).finish()
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("the item is a directory"))
        #expect(try container.content("a/b") == "x")
    }

    @Test(arguments: 0..<6)
    func `the removal of a group ends its leader, and all that only listen`(attempt: Int) async throws {
        let container = try TemporaryContainer()
        try await container.done("defaults set", "s", "key", "1")
        let leader = try await container.watching()
        let keys = try container.start("watch-group", ["--defaults", "s", "--verbose", container.path])
        #expect(try await keys.readLine(from: .errors)?.hasPrefix("watching") == true)
        let channel = try container.start("channels follow", "c", "--listener", "one", "--verbose")
        #expect(try await channel.readLine(from: .errors)?.hasPrefix("listening") == true)
        let presenter = try container.start("present", "a", "--verbose", "--", "true")
        #expect(try await presenter.readLine(from: .errors)?.hasPrefix("presenting") == true)
        #expect(try await container.shell(attempt % 2 == 0 ? "rm -rf \"$1\"" : "mv \"$1\" \"$1.other\"").status == 0)
        for process in [leader, keys, channel, presenter] {
            let outcome = try await process.finish(within: .seconds(15))
            #expect(outcome.status == 66, "\(outcome)")
        }
    }

    @Test func `the removal of a group ends its follower with 66`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        try FileManager.default.removeItem(atPath: container.path)
        let outcome = try await watcher.finish()
        #expect(outcome.status == 66, "\(outcome)")
        #expect(outcome.errors.contains("the container was removed"))
    }
}

extension [String] {
    /// The call with `--json`, before the words of a COMMAND, which follow `--`.
    var insertingJSON: [String] {
        var words = self
        words.insert("--json", at: 1)
        return words
    }
}
