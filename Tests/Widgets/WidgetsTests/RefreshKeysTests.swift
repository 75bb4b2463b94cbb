import Foundation
import TestSupport
import Testing

/// A refresh of a widget that keys of the group defaults concern.
@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `groupctl refresh of keys` {
    private let container: TemporaryContainer

    init() async throws { container = try TemporaryContainer() }

    /// Runs a refresh whose COMMAND appends a line to a file, and prints the number of lines.
    private func refresh(_ interests: String...) async throws -> [String] {
        let words = ["refresh", container.path, "w"] + interests.flatMap { ["--interest", $0] }
        let command = ["--", "sh", "-c", #"echo run >> "$0/../runs"; wc -l < "$0/../runs""#, container.path]
        return try await container.start("groupctl", words + command).finish().lines
    }

    private func defaults(_ suite: String, _ words: String...) async throws {
        let outcome = try await container.start(
            "groupctl", ["defaults", words[0], container.path, suite] + words.dropFirst()
        ).finish()
        #expect(outcome.status == 0, "\(outcome)")
    }

    private var record: String { container.path + "/.group/widgets/w/record.json" }

    @Test func `a refresh runs COMMAND only for a key that concerns the widget`() async throws {
        try await defaults("s", "set", "k", "1")
        #expect(try await refresh("defaults:s:k") == ["1", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
        try await defaults("s", "set", "other", "1")
        try await defaults("t", "set", "k", "1")
        try await container.done("write", "item", input: "x")
        #expect(try await refresh("defaults:s:k") == ["noData"])
        try await defaults("s", "set", "k", "2")
        #expect(try await refresh("defaults:s:k") == ["2", "newData"])
        try await defaults("s", "set", "k", "2")
        #expect(try await refresh("defaults:s:k") == ["noData"], "the value is the same")
        try await defaults("s", "delete", "k")
        #expect(try await refresh("defaults:s:k") == ["3", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
    }

    @Test func `a refresh takes interests in a whole suite and in paths`() async throws {
        let interests = ["defaults:s", "notes/*", "defaults:t:k"]
        func refresh() async throws -> [String] { try await self.refresh(interests[0], interests[1], interests[2]) }
        #expect(try await refresh() == ["1", "newData"])
        try await defaults("s", "set", "any", "1")
        #expect(try await refresh() == ["2", "newData"])
        try await container.done("write", "notes/a", input: "x")
        #expect(try await refresh() == ["3", "newData"])
        try await defaults("t", "set", "other", "1")
        try await container.done("write", "else", input: "x")
        #expect(try await refresh() == ["noData"])
        try await defaults("s", "clear")
        #expect(try await refresh() == ["4", "newData"])
        #expect(try await refresh() == ["noData"])
    }

    @Test func `every key of every suite concerns a refresh without interests`() async throws {
        #expect(try await refresh() == ["1", "newData"])
        #expect(try await refresh() == ["noData"])
        // The suite is new.
        try await defaults("s", "set", "k", "1")
        #expect(try await refresh() == ["2", "newData"])
        #expect(try await refresh() == ["noData"])
        try await defaults("s", "set", "other", "1")
        #expect(try await refresh() == ["3", "newData"])
        try await defaults("t", "set", "k", "1")
        try await container.done("write", "item", input: "x")
        #expect(try await refresh() == ["4", "newData"])
        #expect(try await refresh() == ["noData"])
    }

    @Test func `a refresh of an absent suite does not create it, and detects its creation`() async throws {
        #expect(try await refresh("defaults:s:k") == ["1", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
        #expect(!FileManager.default.fileExists(atPath: container.path + "/.group/defaults"))
        try await defaults("s", "set", "other", "1")
        #expect(try await refresh("defaults:s:k") == ["noData"])
        try await defaults("s", "set", "k", "1")
        #expect(try await refresh("defaults:s:k") == ["2", "newData"])
    }

    @Test func `a suite that was created between two refreshes is detected`() async throws {
        #expect(try await refresh("defaults:s:k") == ["1", "newData"])
        try await defaults("s", "set", "k", "1")
        try await defaults("s", "set", "other", "1")
        #expect(try await refresh("defaults:s:k") == ["2", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
    }

    @Test func `an interest in a suite that is new since the last refresh renders`() async throws {
        try await defaults("s", "set", "k", "1")
        #expect(try await refresh() == ["1", "newData"])
        #expect(try await refresh("defaults:s:k") == ["2", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
    }

    @Test func `a refresh renders after its suite was removed or replaced`() async throws {
        try await defaults("s", "set", "k", "1")
        #expect(try await refresh("defaults:s:k") == ["1", "newData"])
        let suite = container.path + "/.group/defaults/s"
        try FileManager.default.moveItem(atPath: suite, toPath: container.directory + "/s")
        #expect(try await refresh("defaults:s:k") == ["2", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
        try FileManager.default.moveItem(atPath: container.directory + "/s", toPath: suite)
        #expect(try await refresh("defaults:s:k") == ["3", "newData"])
    }

    @Test func `a refresh misses no key after many compactions of the log`() async throws {
        try await defaults("s", "set", "k", "1")
        #expect(try await refresh("defaults:s:k") == ["1", "newData"])
        let batch = (0..<3_000).map { "set other \($0)\(String(repeating: "x", count: 500))\n" }.joined()
        try await container.done("defaults batch", "s", input: batch)
        try await defaults("s", "set", "k", "2")
        #expect(try await refresh("defaults:s:k") == ["2", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
    }

    // fault: flipped-bit
    @Test func `a damaged record of a suite renders once, and the refresh goes on after it`() async throws {
        try await defaults("s", "set", "k", "first")
        #expect(try await refresh("defaults:s:k") == ["1", "newData"])
        try await defaults("s", "set", "k", "second")
        let damaging = try await container.shell(
            """
            cd "$1/.group/defaults/s"; place=$(grep -abo second 1.log | cut -d: -f1)
            printf S | dd of=1.log bs=1 seek="$place" conv=notrunc
            """)
        #expect(damaging.status == 0, "\(damaging)")
        #expect(try await refresh("defaults:s:k") == ["2", "newData"])
        #expect(try await refresh("defaults:s:k") == ["noData"])
        try await defaults("s", "set", "k", "third")
        #expect(try await refresh("defaults:s:k") == ["3", "newData"])
    }

    @Test func `a widget's record without suites is read`() async throws {
        try await defaults("s", "set", "k", "1")
        #expect(try await refresh("defaults:s:k") == ["1", "newData"])
        let present = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: record))) as? [String: Any])
        #expect(Set(present.keys) == ["version", "cursor", "suites", "snapshot", "renderedAt", "interests"])
        let old = present.filter { ["cursor", "snapshot"].contains($0.key) }
        try JSONSerialization.data(withJSONObject: old).write(to: URL(fileURLWithPath: record))
        #expect(try await refresh() == ["2", "newData"])
        try JSONSerialization.data(withJSONObject: old).write(to: URL(fileURLWithPath: record))
        #expect(try await refresh("defaults:s:k") == ["3", "newData"])
    }

    @Test(arguments: ["name", "size"])
    func `a record that no refresh has written is put aside`(fault: String) async throws {
        #expect(try await refresh() == ["1", "newData"])
        if fault == "name" {
            var forged = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: record))) as? [String: Any]
            )
            forged["suites"] = ["../../x": ""]
            try JSONSerialization.data(withJSONObject: forged).write(to: URL(fileURLWithPath: record))
        } else {
            // Reading it would take all memory.
            #expect(try await container.shell("truncate -s 100G \"$1/.group/widgets/w/record.json\"").status == 0)
        }
        let refused = try await container.start("groupctl", ["refresh", container.path, "w"]).finish()
        #expect(refused.status == 65 && refused.errors.contains("widgets/w/record.json.damaged"), "\(refused)")
        #expect(try await refresh() == ["2", "newData"])
    }

    @Test func `a refresh writes a record of its own, and not to a file that another member has linked there`()
        async throws
    {
        #expect(try await refresh() == ["1", "newData"])
        let other = container.directory + "/other"
        try Data("other".utf8).write(to: URL(fileURLWithPath: other))
        #expect(unsafe chmod(other, 0o640) == 0 && link(other, record + ".new") == 0)
        try await container.done("write", "item", input: "x")
        #expect(try await refresh() == ["2", "newData"])
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
        let mode = try FileManager.default.attributesOfItem(atPath: other)[.posixPermissions] as? Int
        #expect(mode == 0o640)
    }

    @Test(arguments: ["defaults:", "defaults::k", "defaults:s:", "defaults:.s", "defaults:a/b"])
    func `a malformed interest in keys is wrong usage`(interest: String) async throws {
        let outcome = try await container.start("groupctl", ["refresh", container.path, "w", "--interest", interest])
            .finish()
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: record))
    }
}
