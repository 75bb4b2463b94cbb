import Foundation
import TestSupport
import Testing

/// Large items take a constant amount of memory. Here they consist of holes, so that they take little disk space.
@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `A large item` {
    /// Runs a shell command with an upper limit on its address space, and prints how much memory it had at
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

    @Test(.needs("python3")) func `a large item is written, and the same content is unchanged, in little memory`()
        async throws
    {
        let container = try TemporaryContainer()
        let text = try await run(
            """
            head -c 64M /dev/zero | limited groupctl write "$1" large
            stat -c %s "$1/large"
            head -c 64M /dev/zero | limited groupctl write "$1" large --exit-code || echo "same $?"
            """, in: container)
        #expect(text == "67108864\nsame 3\n", "\(text)")
    }

    @Test(.needs("python3")) func `a large item is read in little memory`() async throws {
        let container = try TemporaryContainer()
        let text = try await run(
            """
            truncate -s 512M "$1/large"
            limited groupctl read "$1" large | wc -c
            limited groupctl read "$1" large --generation-file "$1/../generation" | wc -c
            cat "$1/../generation"
            """, in: container)
        #expect(text == "536870912\n536870912\n1\n", "\(text)")
    }

    @Test func `an item that a program empties while it is read is not taken for read`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.shell(
            """
            truncate -s 30M "$1/big"; mkfifo "$1/../pipe"
            groupctl read "$1" big > "$1/../pipe" &
            exec 3< "$1/../pipe"; head -c 1 <&3 > "$1/../byte"; : > "$1/big"; cat <&3 > "$1/../rest"
            wait $!; echo $?
            """)
        #expect(outcome.lines == ["4"], "\(outcome)")
        #expect(outcome.errors.contains("changed it without coordination while it was read"), "\(outcome)")
    }

    @Test(.needs("python3")) func `a large item is the input of update's COMMAND in little memory`() async throws {
        let container = try TemporaryContainer()
        let text = try await run(
            """
            truncate -s 512M "$1/large"
            limited groupctl update "$1" large -- wc -c
            cat "$1/large"
            """, in: container)
        #expect(text == "536870912\n", "\(text)")
    }

    @Test(.needs("python3"), arguments: ["copy \"$1\" large copy", "copy -r \"$1\" directory copy"])
    func `a copy of a large item keeps its holes`(words: String) async throws {
        let container = try TemporaryContainer()
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

    @Test(.ownThreads) func `a half-written large item is removed after its writer was killed`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "large", input: "old")
        let writer = try RunningProcess(["groupctl", "write", container.path, "large"])
        // The bytes that went through the pipe were read, except the 64 KiB that it holds.
        for _ in 0..<64 { try writer.send(String(repeating: "x", count: 65_535)) }
        #expect(!container.staging.isEmpty)
        writer.kill()
        #expect(try container.groupctl("read", "large").text == "old")
        #expect(container.staging.isEmpty)
    }

    @Test func `a large item is not replaced if the input ends with an error`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let outcome = try await container.shell("groupctl write \"$1\" a <\"$1\"")
        #expect(outcome.status != 0 && outcome.errors.contains("standard input"), "\(outcome)")
        #expect(try container.content("a") == "old")
    }
}
