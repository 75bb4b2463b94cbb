import Foundation
import GroupContainer
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 5)), .tags(.process))
struct `Large containers` {
    private static let (directories, files, records) =
        runsLongTests ? (10_000, 10, 1_000_000) : (300, 10, 30_000)

    private static func container(directories: Int, records: Int) throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        if records > 0 {
            #expect(try container.member("append", "\(records)", "record").finish().status == 0)
        }
        for directory in 0..<directories {
            let path = "\(container.path)/directory \(directory)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for file in 0..<Self.files {
                #expect(FileManager.default.createFile(atPath: "\(path)/\(file)", contents: nil))
            }
        }
        return container
    }

    /// Returns the memory in KiB that a follower which is not the leader has for itself, once it has reported a change.
    private func memory(of container: TemporaryContainer) throws -> Int {
        let leader = try RunningProcess(["watch-group", "--verbose", container.path])
        try leader.waitForText("leadershipTaken")
        let follower = try RunningProcess(["watch-group", "--verbose", container.path])
        defer { for process in [leader, follower] { process.kill() } }
        try follower.waitForText("watching ")
        _ = try container.groupctl("write", "last item", input: "1")
        try follower.waitForText("last item")
        let status = try String(contentsOfFile: "/proc/\(follower.identifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(Int(line.split(separator: " ").dropFirst().first ?? ""))
    }

    // fault: many-items
    @Test func `a follower of a large container needs no more memory than one of a small container`() throws {
        let small = try memory(of: Self.container(directories: 1, records: 0))
        let large = try memory(of: Self.container(directories: Self.directories, records: Self.records))
        // A tree index of 3,000 items would be more than that, and so would the journal.
        #expect(large - small < 512, "\(large) KiB, and \(small) KiB of a small one")
        print(
            "a follower of \(Self.directories * (Self.files + 1)) items and \(Self.records) records: \(large) KiB; small: \(small)"
        )
    }
}
