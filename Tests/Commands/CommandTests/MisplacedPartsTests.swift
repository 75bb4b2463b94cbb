import Foundation
import TestSupport
import Testing

/// Something else is in place of one of the container's own files or directories: no process waits for it, the doctor
/// finds it, and `--repair` repairs it.
@Suite(.tags(.process)) struct `A misplaced part of a container` {
    private func container() async throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        try await container.done("write", "first", input: "x")
        try await container.done("defaults set", "s", "key", "value")
        try await container.done("channels post", "ch", "message")
        try await container.done("refresh", "kind")
        return container
    }

    private static let bound = Duration.seconds(20)

    private func doctor(_ container: TemporaryContainer, _ options: String...) async throws -> [JSONFinding] {
        let outcome = try await container.start("groupctl", ["doctor", "--json", container.path] + options)
            .finish(within: Self.bound)
        return try outcome.lines.map { try JSONFinding($0) }.filter { $0.severity != "note" }
    }

    /// Checks that everything works.
    private func isWhole(_ container: TemporaryContainer) async throws {
        #expect(try await doctor(container).isEmpty)
        for words in [
            ["write", container.path, "second"], ["defaults", "set", container.path, "s", "key", "other"],
            ["channels", "post", container.path, "ch", "again"], ["refresh", container.path, "kind"],
            ["remove", container.path, "first"],
        ] {
            let outcome = try await container.start("groupctl", words, input: "y").finish(within: Self.bound)
            #expect(outcome.status == 0, "\(words) \(outcome)")
        }
    }

    @Test(
        arguments: [
            "defaults/s/1.log", "channels/ch/1.log", "lock", "members", "format", "journal/1.log", "reserve",
            "widgets/kind/record.json",
        ], ["mkfifo \"$2\"", "mkdir \"$2\"", "mv \"$2\" \"$1.real\"; ln -s \"$1.real\" \"$2\""])
    func `something else in place of a container's file is found and repaired`(part: String, script: String)
        async throws
    {
        let container = try await container()
        let file = container.path + "/.group/" + part
        let remove = script.hasPrefix("mv") ? "" : "rm \"$2\"; "
        #expect(try await container.shell("set -e; \(remove)\(script)", file).status == 0)
        let found = try await doctor(container)
        #expect(found.contains { $0.severity == "error" && $0.repairable }, "\(found)")
        let repaired = try await doctor(container, "--repair")
        #expect(repaired.allSatisfy(\.repaired) && !repaired.isEmpty, "\(repaired)")
        try await isWhole(container)
    }

    @Test(arguments: ["journal", "defaults", "channels", "widgets", "widgets/kind", "staging"])
    func `something else in place of a container's directory is found and repaired`(part: String) async throws {
        let container = try await container()
        let file = container.path + "/.group/" + part
        #expect(try await container.shell("set -e; rm -r \"$2\"; echo x >\"$2\"", file).status == 0)
        let found = try await doctor(container)
        #expect(found.contains { $0.severity == "error" && $0.repairable }, "\(found)")
        let repaired = try await doctor(container, "--repair")
        #expect(repaired.allSatisfy(\.repaired) && !repaired.isEmpty, "\(repaired)")
        try await isWhole(container)
    }

    @Test func `a repair of a missing part does not report that it was put aside`() async throws {
        let container = try await container()
        _ = try await container.shell("rm \"$1/.group/format\"")
        let repaired = try await doctor(container, "--repair")
        #expect(repaired.map(\.code) == ["partDamaged"] && repaired.first?.repaired == true, "\(repaired)")
        #expect(repaired.first?.done == "the container has a new identity", "\(repaired)")
    }

    @Test func `a missing staging directory is damage for each process that opens the container`() async throws {
        let container = try await container()
        _ = try await container.shell("rmdir \"$1/.group/staging\"")
        let outcome = try await container.run("read", "first")
        #expect(outcome.status == 65 && outcome.errors.contains(".group/staging"), "\(outcome)")
        #expect(outcome.errors.contains("groupctl doctor"), "\(outcome)")
    }

    @Test func `doctor names the symbolic link in place of a part that leads to the container`() async throws {
        let container = try await container()
        _ = try await container.shell("ln -s . \"$1/self\"; mkdir \"$1/sub\"; ln -s .. \"$1/sub/up\"")
        for item in ["self", "sub/up"] {
            let outcome = try await container.run("read", item)
            #expect(outcome.status != 0 && !outcome.errors.contains("out of the container"), "\(outcome)")
            #expect(outcome.errors.contains("leads to the container itself"), "\(outcome)")
        }
    }

    @Test func `a failed creation of a suite or channel leaves no part behind`() async throws {
        let container = try await container()
        for (command, directory) in [
            ("defaults set \"$1\" s2 key value", "defaults/s2"), ("channels post \"$1\" ch2 message", "channels/ch2"),
        ] {
            let outcome = try await container.shell("trap '' XFSZ; ulimit -f 8; groupctl \(command)")
            #expect(outcome.status != 0, "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: container.path + "/.group/" + directory))
        }
        try await isWhole(container)
    }
}
