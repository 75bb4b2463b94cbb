import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `A file that a command writes for its user` {
    @Test func `a user's file is replaced with its mode, and no other file is changed`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let (file, beside) = ("\(container.directory)/seen", "\(container.directory)/seen.new")
        try "precious".write(toFile: beside, atomically: false, encoding: .utf8)
        try "old".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(unsafe chmod(file, 0o600) == 0)
        #expect(try await container.run("read", "a", "--generation-file", file).status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "1\n")
        #expect(try String(contentsOfFile: beside, encoding: .utf8) == "precious")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: container.directory)
        #expect(!names.contains { $0.hasPrefix(".seen") })
    }

    @Test(.enabled(if: Strace.isThere, "needs strace(1) and the permission to trace"))
    func `commands that are killed while they write a user's file leave one more file at most`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let kept = try TemporaryDirectory()
        let read = [
            BuildDirectory.resolve("groupctl"), "read", container.path, "a", "--generation-file", "\(kept.path)/seen",
        ]
        let fault = [
            "-f", "-qq", "-o", "/dev/null", "-P", kept.path, "-e", "trace=renameat", "-e",
            "inject=renameat:signal=KILL",
        ]
        for _ in 0..<3 {
            let killed = try await container.start("strace", fault + read).finish()
            #expect(killed.status == 128 + SIGKILL, "\(killed)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: kept.path).count == 1)
        #expect(try await container.run("read", "a", "--generation-file", "\(kept.path)/seen").status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: kept.path) == ["seen"])
    }

    @Test func `a user's file in place of another type of file is refused and unchanged`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let script = "cd \"$2\" && mkfifo fifo && mkdir dir && echo x >target && ln -s target link"
        #expect(try await container.shell(script, container.directory).status == 0)
        for name in ["fifo", "dir", "link"] {
            let outcome = try await container.run("read", "a", "--generation-file", "\(container.directory)/\(name)")
            #expect(outcome.status != 0 && outcome.errors.contains(name), "\(outcome)")
        }
        #expect(try await container.run("read", "a", "--generation-file", "").status != 0)
        let still =
            "cd \"$2\" && test -p fifo && test -d dir && test -L link && cat target && ls -A . | grep -c '^\\.' || true"
        #expect(try await container.shell(still, container.directory).text == "x\n0\n")
    }

    @Test func `a user's file inside a container is refused`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        try await container.done("write", "f/b", input: "precious")
        let lock = try Data(contentsOf: URL(filePath: container.path + "/.group/lock"))
        #expect(try await container.shell("ln -s container \"$1/../link\"").status == 0)
        for place in ["c", "f/b", "f/c", ".group/lock", ".group/c", "../link/f/b"] {
            let file = "\(container.path)/\(place)"
            for defaults in [[], ["--defaults", "s"]] {
                let words = defaults + ["--cursor-file", file, "--timeout", "0", container.path]
                let outcome = try await container.start("watch-group", words).finish()
                #expect(outcome.status == 64 && outcome.output.isEmpty, "\(place): \(outcome)")
                #expect(outcome.errors.contains("inside the container"), "\(place): \(outcome)")
            }
            let read = try await container.run("read", "a", "--generation-file", file)
            #expect(read.status == 64 && read.output.isEmpty, "\(place): \(read)")
            #expect(read.errors.contains("choose a path outside of the container"), "\(place): \(read)")
        }
        #expect(try container.content("f/b") == "precious")
        #expect(try Data(contentsOf: URL(filePath: container.path + "/.group/lock")) == lock)
        #expect(try await container.done("list").lines == ["a", "f/"])
    }

    @Test(arguments: ["/", "/dev/null", "/tmp", "fifo", "link"])
    func `a user's file that is not a regular file is refused before any output`(place: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        #expect(try await container.shell("cd \"$1/..\" && mkfifo fifo && >target && ln -s target link").status == 0)
        let file = place.hasPrefix("/") ? place : "\(container.directory)/\(place)"
        let outcomes = [
            try await container.watch("--cursor-file", file, "--since", "start", "--timeout", "0").finish(),
            try await container.run("read", "a", "--generation-file", file),
        ]
        for outcome in outcomes {
            #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
            #expect(outcome.errors.contains("'\(file)'") && outcome.errors.contains("not a regular file"), "\(outcome)")
            #expect(!outcome.errors.contains("remove the file"), "\(outcome)")
        }
    }
}
