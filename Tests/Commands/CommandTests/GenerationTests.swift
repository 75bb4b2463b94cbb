import Foundation
import TestSupport
import Testing

@Suite(.tags(.process, .root))
struct `Generations in groupctl` {
    @Test func `a generation is read with the content, and write --if-generation compares it`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", "--if-generation", "absent", input: "1")
        let file = container.directory + "/generation"
        #expect(try await container.done("read", "a", "--generation-file", file).text == "1")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "1\n")
        let json = try await container.done("write", "a", "--if-generation", "1", "--json", input: "2")
        #expect(json.text == #"{"path":"a","outcome":"written","generation":2}"# + "\n")
        let late = try await container.run("write", "a", "--if-generation", "1", input: "mine")
        #expect(late.status == 4 && late.output.isEmpty)
        #expect(
            late.errors
                == "groupctl: cannot write 'a' in '\(container.path)': the item is at generation 2, not 1; read it again\n"
        )
        let same = try await container.run("write", "a", "--if-generation", "1", "--exit-code", input: "2")
        #expect(same.status == 4, "the condition comes before the bytes")
        let unchanged = try await container.run("write", "a", "--if-generation", "2", "--exit-code", input: "2")
        #expect(unchanged.status == 3)
        #expect(try container.content("a") == "2")
    }

    @Test func `generations make concurrent read, edit and write in scripts lose nothing`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "n", input: "0\n")
        let script = """
            cd "$0" && i=0
            while [ $i -lt 5 ]; do
                n=$(groupctl read "$1" n --generation-file g.$2) || exit
                echo $((n + 1)) | groupctl write "$1" n --relaxed --quiet --if-generation "$(cat g.$2)" && i=$((i + 1))
            done
            """
        let runs = try ["x", "y", "z"].map { name in
            try container.start("sh", ["-c", script, container.directory, container.path, name])
        }
        for run in runs {
            let outcome = try await run.finish()
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        }
        #expect(try container.content("n") == "15\n")
        #expect(try await JSONStatus(of: container).journal.sequence == 16)
    }

    @Test func `a generation that does not match is a JSON error with the present one`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let error = try JSONError(try await container.run("write", "a", "--if-generation", "7", "--json", input: "2"))
        #expect(error.code == "conflict" && error.item == "a" && error.operation == "write" && error.generation == 1)
        let absent = try JSONError(
            try await container.run("write", "b", "--if-generation", "7", "--json", input: "2"))
        #expect(absent.code == "conflict" && absent.generation == nil)
        let quiet = try await container.run("write", "a", "--if-generation", "absent", "--quiet", input: "2")
        #expect(quiet.status == 4 && quiet.output.isEmpty && quiet.errors.isEmpty)
        #expect(try await container.done("list").lines == ["a"])
    }

    @Test(arguments: ["", "x", "-1", "+1", "1.0", " 1", "18446744073709551616", "Absent"])
    func `a malformed generation is wrong usage before standard input is read`(text: String) async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.run("write", "a", "--if-generation=\(text)", input: "1")
        #expect(outcome.status == 64 && outcome.errors.contains("--if-generation"), "\(outcome)")
        #expect(try await container.done("list").output.isEmpty)
    }

    @Test(arguments: [false, true])
    func `an external change increases the generation, with and without a leader`(isWatched: Bool) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "one")
        let watcher = isWatched ? try await container.watching("--json") : nil
        let file = container.directory + "/generation"
        let scripts = [
            "printf two > \"$1/a\"", "printf six > \"$1/b\"; touch -r \"$1/a\" \"$1/b\"; mv \"$1/b\" \"$1/a\"",
            "rm \"$1/a\"; printf six > \"$1/a\"",
        ]
        for script in scripts {
            try await container.done("read", "a", "--generation-file", file)
            let read = try String(contentsOfFile: file, encoding: .utf8).dropLast()
            #expect(try await container.shell(script).status == 0)
            let outcome = try await container.run("write", "a", "--if-generation", String(read), input: "mine")
            #expect(outcome.status == 4, "\(script): \(outcome)")
            #expect(try container.content("a") != "mine")
        }
        try await container.done("read", "a", "--generation-file", file)
        let read = try String(contentsOfFile: file, encoding: .utf8).dropLast()
        try await container.done("write", "a", "--if-generation", String(read), input: "mine")
        let changes = try await container.done("changes", "--since", "start", "--json").lines.map { try JSONChange($0) }
        #expect(changes.map(\.sequence) == Array(1...UInt64(changes.count)), "each once")
        #expect(changes.filter(\.coordinated).map(\.summary) == ["created a", "modified a"])
        if let watcher { #expect(try await watcher.readLines(changes.count - 1).count == changes.count - 1) }
    }

    @Test func `read writes no generation without content, and no content without a generation`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/generation"
        #expect(try await container.run("read", "a", "--generation-file", file).status == 66)
        #expect(!FileManager.default.fileExists(atPath: file))
        try await container.done("write", "a", input: "content")
        let unread = try await container.run("read", "a", "--generation-file", file, output: .closedPipe)
        #expect(unread.status == 0, "a closed pipe ends quietly")
        #expect(!FileManager.default.fileExists(atPath: file), "the content was not read")
        let nowhere = container.directory + "/missing/generation"
        let outcome = try await container.run("read", "a", "--generation-file", nowhere)
        #expect(outcome.status == 66 && outcome.text == "content")
        #expect(outcome.errors.contains("cannot keep the generation in '\(nowhere)'"), "\(outcome.errors)")
        try await container.done("read", "a", "--generation-file", file)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "1\n")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: container.directory).sorted() == [
                "container", "generation",
            ])
    }

    // fault: flipped-bit
    @Test func `a generation from a damaged journal ends with 65 and changes nothing`() async throws {
        let container = try TemporaryContainer()
        for name in ["first", "second"] { try await container.done("write", name, input: "x") }
        let script = "printf S | dd of=\"$1/.group/journal/1.log\" bs=1 conv=notrunc status=none seek=\"$2\""
        let content = try Data(contentsOf: URL(fileURLWithPath: container.path + "/.group/journal/1.log"))
        let place = try #require(content.range(of: Data("second".utf8)))
        #expect(try await container.shell(script, "\(place.lowerBound)").status == 0)
        let outcome = try await container.run("write", "second", "--if-generation", "2", input: "y")
        #expect(outcome.status == 65 && outcome.errors.contains(".group/journal"), "\(outcome)")
        #expect(
            try await container.run("read", "second", "--generation-file", container.directory + "/generation").status
                == 65)
        #expect(try container.content("second") == "x")
    }

    // fault: holder-killed
    @Test(.enabled(if: Strace.isThere, "needs strace(1) and the permission to trace"))
    func `the generation includes the change of a writer that was killed before its record`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        // The first fsync is for the content, the second for the directory.
        let words = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:signal=KILL:when=2"]
        let killed = try await container.start(
            "strace", words + ["groupctl", "write", container.path, "a", "--if-generation", "1"], input: "new"
        ).finish()
        #expect(killed.status == 128 + SIGKILL, "\(killed)")
        #expect(try container.content("a") == "new", "it was renamed")
        let outcome = try await container.run("write", "a", "--if-generation", "1", "--json", input: "mine")
        #expect(outcome.status == 4)
        #expect(try JSONError(outcome).generation == 2)
        let lines = try await container.done("changes", "--since", "start", "--json").lines
        #expect(try lines.map { try JSONChange($0) }.map(\.coordinated) == [true, true], "the change is the writer's")
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `the generation of an unreadable file follows its dates`() async throws {
        let container = try TemporaryContainer(creating: false)
        try await container.done("create", "--unix-group", "games")
        #expect(try await container.shell("chmod 711 \"$1/..\"").status == 0)
        try await container.done("write", "a", "--mode", "600", input: "old")
        let write = { (generation: String) in
            let words = [
                BuildDirectory.resolve("groupctl"), "write", container.path, "a", "--if-generation", generation,
            ]
            return try container.start("setpriv", nobody(groups: "60") + words, input: "new")
        }
        #expect(try await write("2").finish().status == 4)
        #expect(try await JSONStatus(of: container).journal.sequence == 1, "that it cannot be read is no change")
        let outcome = try await write("1").finish()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try container.content("a") == "new")
    }
}
