import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.tags(.process))
struct `Invariants of concurrent processes` {
    @Test func `additions of eight processes are all kept, and each is one change`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--json", "--count", "200")
        let script = """
            i=0; while [ $i -lt 25 ]; do
                groupctl update "$1" n --relaxed --purpose "adder $2" -- awk '{n = $1} END {print n + 1}' || exit
                i=$((i + 1))
            done
            """
        let adders = try (0..<8).map { try container.start("sh", ["-c", script, "sh", container.path, "\($0)"]) }
        for adder in adders {
            let outcome = try await adder.finish(within: .seconds(120))
            #expect(outcome.status == 0, "\(outcome)")
        }
        #expect(try container.content("n") == "200\n")

        let seen = try await watcher.finish().lines.map { try JSONChange($0) }
        let kept = try await container.done("changes", "--since", "start", "--json").lines.map { try JSONChange($0) }
        #expect(seen == kept)
        #expect(kept.map(\.sequence) == Array(1...200))
        #expect(kept.map(\.kind) == ["created"] + [String](repeating: "modified", count: 199))
        for number in 0..<8 { #expect(kept.filter { $0.by?.purpose == "adder \(number)" }.count == 25) }
        #expect(Set(kept.map { $0.by?.pid }).count == 200, "each by its own process")
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
        #expect(try await JSONStatus(of: container).members.count == 1)
    }

    @Test func `a follower that is killed and resumes has missed no change`() async throws {
        let linesPerRun = runsLongTests ? 100 : 20
        let container = try TemporaryContainer()
        // It writes as long as the follower is killed, however slow this test is.
        let script = """
            i=0; until [ -e "$2" ]; do
                i=$((i + 1)); echo $i | groupctl write "$1" "item-$((i % 7))" --relaxed || exit
            done
            echo $i
            """
        let file = container.directory + "/seen"
        let words = ["--json", "--cursor-file", file, container.path]
        var follower = try await container.watching("--json", "--cursor-file", file)
        let end = container.directory + "/end"
        let writer = try container.start("sh", ["-c", script, "sh", container.path, end])
        var seen: [UInt64] = []
        // The follower is killed several times, each time after it has printed some lines.
        for _ in 0..<5 {
            #expect(try await follower.readLines(linesPerRun).count == linesPerRun)
            follower.signal(SIGKILL)
            let run = try await follower.finish()
            #expect(run.status == 128 + SIGKILL)
            // The last line may have been cut by the kill.
            seen = try check(run.text.split(separator: "\n").map(String.init).filter { $0.hasSuffix("}") }, after: seen)
            follower = try container.start("watch-group", words)
        }
        try Data().write(to: URL(filePath: end))
        let written = try await writer.finish(within: .seconds(300))
        #expect(written.status == 0)
        let count = try #require(written.lines.last.flatMap { UInt64($0) })
        while seen.last ?? 0 < count, let line = try await follower.readLine() {
            if try JSONChange(line).sequence == count { break }
        }
        follower.signal(SIGTERM)
        let last = try await follower.finish()
        #expect(last.status == 128 + SIGTERM)
        seen = try check(last.lines, after: seen)
        #expect(Set(seen) == Set(1...count))
    }

    /// Within one run each sequence follows the last one; the run's first may repeat earlier sequences, and skips none.
    private func check(_ lines: [String], after seen: [UInt64]) throws -> [UInt64] {
        let run = try lines.map { try JSONChange($0).sequence }
        guard let first = run.first, let last = run.last else { return seen }
        #expect(run == Array(first...last), "once, in order, without a gap")
        #expect(first <= (seen.last ?? 0) + 1, "nothing is skipped across the kill")
        return seen + run
    }

    @Test func `a reader without coordination sees a whole old or new file`() async throws {
        let container = try TemporaryContainer()
        let (writes, reads) = runsLongTests ? (2_000, 200_000) : (200, 1_000)
        let script = """
            i=0; while [ $i -lt \(writes) ] || [ ! -e "$1/../enough" ]; do
                i=$((i + 1))
                head -c \(PlainReads.size) /dev/zero | tr '\\0' "\\\\$(printf %03o $((97 + i % 26)))" |
                    groupctl write "$1" a --relaxed || exit
            done
            """
        try await container.done("write", "a", input: [UInt8](repeating: UInt8(ascii: "z"), count: PlainReads.size))
        let end = container.directory + "/end"
        let writer = try container.start("sh", ["-c", script, "sh", container.path, end])
        var plain = PlainReads(file: container.path + "/a")
        while !writer.hasEnded {
            plain = await plain.continued(by: 100)
            if plain.count >= reads {
                _ = FileManager.default.createFile(atPath: container.directory + "/enough", contents: nil)
            }
        }
        let outcome = try await writer.finish()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(plain.torn == 0, "of \(plain.count)")
        #expect(plain.count >= reads && plain.letters.count > 20, "it read while it was written")
        #expect(try await JSONStatus(of: container).journal.sequence > writes)
    }
}

/// Reads of a file, as by cat(1), and their results.
private struct PlainReads: Sendable {
    static let size = 200_000

    let file: String
    var count = 0
    /// Contents of another length, or with more than one letter.
    var torn = 0
    var letters = Set<UInt8>()

    init(file: String) { self.file = file }

    /// Reads on a thread of its own, because the cooperative pool is for tasks that wait.
    func continued(by count: Int) async -> PlainReads {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var reads = self
                var content = [UInt8](repeating: 0, count: Self.size + 1)
                for _ in 0..<count { reads.readOnce(into: &content) }
                continuation.resume(returning: reads)
            }
        }
    }

    private mutating func readOnce(into content: inout [UInt8]) {
        let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var length = 0
        let isWhole = unsafe content.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            while length < bytes.count {
                let got = unsafe read(descriptor, start + length, min(65_536, bytes.count - length))
                if got <= 0 { break }
                length += got
            }
            // Each byte equals the byte before it.
            return unsafe length == Self.size && memcmp(start, start + 1, length - 1) == 0
        }
        count += 1
        if !isWhole { torn += 1 }
        letters.insert(content[0])
    }
}
