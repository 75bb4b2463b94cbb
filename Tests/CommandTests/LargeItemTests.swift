import Foundation
import TestSupport
import Testing

/// In a constant amount of memory. What has no content is a hole, so that nothing here is large on the disk for long.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct `A large item` {
    /// Runs a command of the shell's with an upper limit on its address space, and prints how much memory it had at
    /// most, in KiB, as the last line of standard error.
    private static let limited = """
        limited() {
            python3 -c 'import resource, subprocess, sys
        limit = 64 << 20
        child = subprocess.run(sys.argv[1:], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
        sys.exit(child.returncode)' "$@"
        }

        """

    private func run(_ script: String, in container: TemporaryContainer) async throws -> String {
        let outcome = try await container.shell(Self.limited + script)
        #expect(outcome.status == 0, "\(outcome)")
        let memory = outcome.errors.split(separator: "\n").compactMap { Int($0) }
        #expect(!memory.isEmpty && memory.allSatisfy { $0 < 48 << 10 }, "\(outcome.errors)")
        return outcome.text
    }

    @Test func `is written, and found to be the same`() async throws {
        let container = try await TemporaryContainer()
        let text = try await run(
            """
            head -c 64M /dev/zero | limited groupctl write "$1" large
            stat -c %s "$1/large"
            head -c 64M /dev/zero | limited groupctl write "$1" large --exit-code || echo "same $?"
            """, in: container)
        #expect(text == "67108864\nsame 3\n", "\(text)")
    }

    @Test func `is read`() async throws {
        let container = try await TemporaryContainer()
        let text = try await run(
            """
            truncate -s 512M "$1/large"
            limited groupctl read "$1" large | wc -c
            limited groupctl read "$1" large --generation-file "$1/../generation" | wc -c
            cat "$1/../generation"
            """, in: container)
        #expect(text == "536870912\n536870912\n1\n", "\(text)")
    }

    @Test(arguments: ["copy \"$1\" large copy", "copy -r \"$1\" directory copy"])
    func `keeps its holes when it is copied`(words: String) async throws {
        let container = try await TemporaryContainer()
        let text = try await run(
            """
            mkdir "$1/directory"
            for name in large directory/large; do
                printf middle | dd of="$1/$name" bs=1M seek=300 2>/dev/null
                truncate -s 512M "$1/$name"
            done
            limited groupctl \(words)
            copy="$1/copy"
            [ ! -d "$copy" ] || copy="$copy/large"
            cmp "$1/large" "$copy"
            stat -c %s "$copy"
            [ $(stat -c %b "$copy") -lt 4096 ] || stat -c 'blocks: %b' "$copy"
            """, in: container)
        #expect(text == "536870912\n", "\(text)")
    }

    @Test(.ownThreads) func `that is half written goes when its writer is killed`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "large", input: "old")
        let writer = try RunningProcess(["groupctl", "write", container.path, "large"])
        // What has gone through the pipe was read, all but the 64 KiB that it holds.
        for _ in 0..<64 { try writer.send(String(repeating: "x", count: 65_535)) }
        #expect(!container.staging.isEmpty)
        writer.kill()
        #expect(try container.groupctl("read", "large").text == "old")
        #expect(container.staging.isEmpty)
    }

    @Test func `is not replaced by what could be read of an input that ended with an error`() async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let outcome = try await container.shell("groupctl write \"$1\" a <\"$1\"")
        #expect(outcome.status != 0 && outcome.errors.contains("standard input"), "\(outcome)")
        #expect(try container.content("a") == "old")
    }
}
