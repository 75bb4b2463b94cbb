import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `watch-group` {
    @Test func `--verbose prints the cursor from which every change is seen`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let watcher = try container.watch("--verbose", "--count", "1")
        let line = try #require(try await watcher.readLine(from: .errors))
        let cursor = try await JSONStatus(of: container).journal.cursor
        #expect(line == "watching \(container.path) at \(cursor)")
        try await container.done("write", "b", input: "1")
        let outcome = try await watcher.finish()
        #expect(outcome.lines == ["created\tb"] && outcome.status == 0, "\(outcome)")
        let rest = outcome.errors.split(separator: "\n").dropFirst()
        #expect(rest.allSatisfy { $0.hasPrefix("leadership") }, "what happens to it as a member: \(outcome.errors)")
    }

    @Test func `watch-group is ready long before its timeout for a leader`() async throws {
        let container = try TemporaryContainer()
        for _ in 0..<40 {
            let watcher = try container.watch("--verbose")
            #expect(try await watcher.readLine(from: .errors, within: .seconds(8))?.hasPrefix("watching") == true)
            watcher.signal(SIGKILL)
            _ = try await watcher.finish()
        }
    }

    @Test func `watch-group without --verbose writes nothing to standard error`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.watch("--timeout", "0").finish()
        #expect(outcome.errors == "" && outcome.output.isEmpty)
    }

    @Test func `watch-group begins at the oldest change, at a cursor, or now`() async throws {
        let container = try TemporaryContainer()
        for item in ["a", "b", "c"] { try await container.done("write", item, input: "1") }
        let all = try await container.watch("--since", "start", "--json", "-n", "3").finish()
        let changes = try all.lines.map { try JSONChange($0) }
        #expect(all.status == 0 && changes.map(\.path) == ["a", "b", "c"])
        let rest = try await container.watch("--since", changes[0].cursor, "--count=2").finish()
        #expect(rest.status == 0 && rest.lines == ["created\tb", "created\tc"])
        let none = try await container.watch("--since", changes[2].cursor, "--timeout", "100ms").finish()
        #expect(none.status == 2 && none.output.isEmpty)
        let now = try await container.watch("--since", "now", "--timeout", "0").finish()
        #expect(now.status == 2 && now.output.isEmpty)
    }

    @Test func `watch-group ends after --count lines, also with more changes`() async throws {
        let container = try TemporaryContainer()
        for item in ["a", "b", "c"] { try await container.done("write", item, input: "1") }
        let outcome = try await container.watch("--since", "start", "--count", "2").finish()
        #expect(outcome.status == 0 && outcome.lines == ["created\ta", "created\tb"])
    }

    @Test func `watch-group ends with 2 after its timeout`() async throws {
        let container = try TemporaryContainer()
        let start = ContinuousClock.now
        let outcome = try await container.watch("--timeout", "350ms").finish()
        #expect(outcome.status == 2 && outcome.output.isEmpty && outcome.errors == "", "\(outcome)")
        #expect(ContinuousClock.now - start >= .milliseconds(350))
    }

    @Test func `watch-group counts its timeout from the last line`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let outcome = try await container.watch("--since", "start", "--timeout", "200ms").finish()
        #expect(outcome.status == 2 && outcome.lines == ["created\ta"])
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func `a signal ends watch-group with the signal's status`(signal: Int32)
        async throws
    {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        watcher.signal(signal)
        let outcome = try await watcher.finish()
        #expect(outcome.status == 128 + signal, "\(outcome)")
    }

    @Test func `a stopped watch-group gets the changes later, and blocks no process`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--json", "--count", "20")
        try #require(watcher.stop())
        for number in 0..<20 { try await container.done("write", "a", "--relaxed", input: "\(number)") }
        watcher.signal(SIGCONT)
        let changes = try await watcher.finish().lines.map { try JSONChange($0) }
        #expect(changes.map(\.sequence) == Array(1...20))
    }

    /// Starts watch-group in a process that may open so many files.
    private func watching(_ container: TemporaryContainer, openFiles: Int) throws -> RunningProcess {
        try container.start(
            "sh",
            ["-c", "ulimit -S -n $0; exec watch-group \"$1\" --verbose --since start", "\(openFiles)", container.path])
    }

    @Test(.needs("prlimit")) func `watch-group says that it may open too few files, and watches when it may open more`()
        async throws
    {
        let container = try TemporaryContainer()
        // With fewer files, it cannot open the container.
        var count = 10
        var (watcher, line) = (try watching(container, openFiles: count), String?.none)
        while count < 40 {
            line = try await watcher.readLine()
            if line != nil { break }
            count += 1
            watcher = try watching(container, openFiles: count)
        }
        #expect(
            line?.hasPrefix("degraded\t") == true && line?.contains("'ulimit -n' is \(count)") == true,
            "\(line ?? "")")
        #expect(succeeds(["sh", "-c", "echo 1 > \"$0/x\"", container.path]))
        #expect(succeeds(["prlimit", "--pid", "\(watcher.identifier)", "--nofile=64"]))
        #expect(try await watcher.readLine() == "created\tx")
        watcher.signal(SIGTERM)
        #expect(try await watcher.end() == 128 + SIGTERM)
    }

    @Test func `watch-group reports all changes or says that it cannot, however few files it may open`() async throws {
        for count in 8...36 {
            let container = try TemporaryContainer()
            let watcher = try watching(container, openFiles: count)
            let script = "mkdir $0/d; for n in 1 2 3 4 5 6; do mkdir $0/d/$n; echo 1 > $0/d/$n/f; done; echo 1 > $0/end"
            #expect(succeeds(["sh", "-c", script, container.path]))
            var lines: [String] = []
            while lines.count < 14, let line = try await watcher.readLine() {
                lines.append(line)
                if line.hasPrefix("degraded") { break }
            }
            watcher.signal(SIGTERM)
            let outcome = try await watcher.finish()
            let isRefused = outcome.status == 1 && outcome.errors.contains("raise the limit of open files")
            let isTold = lines.last?.hasPrefix("degraded") == true || isRefused
            #expect(isTold || Set(lines).count == 14, "\(count): \(lines) \(outcome)")
        }
    }

    @Test(.needs("prlimit")) func `watch-group says that it may start no thread, and watches when it may`() async throws
    {
        let container = try TemporaryContainer()
        // With less memory, it cannot open the container; with more, there is some for the stack of a thread.
        var (size, line) = (28_000, String?.none)
        var words: [String] {
            ["-c", "ulimit -S -v $0; exec watch-group \"$1\" --since start", "\(size)", container.path]
        }
        var watcher = try container.start("sh", words)
        while size < 60_000 {
            line = try await watcher.readLine()
            if line != nil { break }
            #expect(try await [1, 127].contains(watcher.end()))
            size += 500
            watcher = try container.start("sh", words)
        }
        #expect(line?.hasPrefix("degraded\t") == true && line?.contains("no further thread") == true, "\(line ?? "")")
        #expect(succeeds(["sh", "-c", "echo 1 > \"$0/x\"", container.path]))
        #expect(succeeds(["prlimit", "--pid", "\(watcher.identifier)", "--as=unlimited"]))
        #expect(try await watcher.readLine() == "created\tx")
        watcher.signal(SIGTERM)
        #expect(try await watcher.end() == 128 + SIGTERM)
    }

    @Test func `watch-group with a slow reader loses no line and blocks no process`() async throws {
        let container = try TemporaryContainer()
        let name = String(repeating: "n", count: 250)
        // The pipe holds 64 KiB, and is not read until all is written.
        let watcher = try await container.watching("--count", "400")
        let requests = (1...400).map { #"{"id":\#($0),"do":"write","path":"\#(name)","text":"\#($0)"}"# + "\n" }
        #expect(try await container.run("serve", input: requests.joined()).status == 0)
        let lines = try await watcher.finish().lines
        #expect(lines == ["created\t\(name)"] + [String](repeating: "modified\t\(name)", count: 399))
    }
}
