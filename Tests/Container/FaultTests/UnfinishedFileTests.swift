import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// A log's next segment has all its blocks before it has its name. A process that is killed in between leaves them.
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(3)), .tags(.process))
struct `Unfinished segments` {
    private static func compact(_ container: TemporaryContainer) -> [String] {
        ["test-member", "defaults-compact", container.path, "text", "relaxed"]
    }

    private static func names(_ container: TemporaryContainer, _ log: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(container.path)/.group/\(log)").sorted()
    }

    private static func unfinished(_ container: TemporaryContainer) throws -> [String] {
        try names(container, "defaults/standard").filter { $0.hasPrefix("new-") }
    }

    /// Returns what the container takes on the disk, in bytes.
    private static func size(of container: TemporaryContainer) throws -> Int {
        let files = try #require(FileManager.default.enumerator(atPath: "\(container.path)/.group"))
        return try files.compactMap { $0 as? String }.reduce(0) { sum, name in
            let file = try FileDescriptor.open(path: Array("\(container.path)/.group/\(name)".utf8), .pathOnly)
            return sum + Int(try file.status().allocated)
        }
    }

    private func kill(in container: TemporaryContainer) throws {
        let place = Strace.Call(name: "renameat2", number: 1)
        _ = try Strace.run(Self.compact(container), fault: .kill, at: place)
    }

    /// Makes the suite, so that what is renamed next is a segment of its log.
    private func setFirst(in container: TemporaryContainer) throws {
        let outcome = try RunningProcess(["groupctl", "defaults", "set", container.path, "standard", "kept", "old"])
        #expect(try outcome.finish().status == 0)
    }

    @Test func `killed processes leave one unfinished segment at most, however often that happens`() throws {
        let container = try TemporaryContainer()
        let member = try container.open()
        try setFirst(in: container)
        try kill(in: container)
        let (first, size) = (try Self.unfinished(container), try Self.size(of: container))
        #expect(first.count == 1)
        for _ in 0..<25 {
            try kill(in: container)
            #expect(try Self.unfinished(container).count == 1)
        }
        #expect(try Self.unfinished(container) != first)
        #expect(try Self.size(of: container) < size + 65_536)
        // The next process that makes its segment removes the unfinished one.
        #expect(try RunningProcess(Self.compact(container)).finish().status == 0)
        #expect(try Self.unfinished(container) == [])
        #expect(try GroupDefaults(member).string(forKey: "kept") == "old")
    }

    @Test func `the next process that opens the container removes an unfinished segment`() throws {
        let container = try TemporaryContainer()
        // The member has the slot that the next one takes, and leaves it in good order.
        var member: Container? = try container.open()
        try setFirst(in: container)
        try kill(in: container)
        #expect(try Self.unfinished(container).count == 1)
        #expect(try member?.status().members.count == 1)
        member = nil
        #expect(try container.groupctl("list").status == 0)
        #expect(try Self.unfinished(container) == [])
    }

    @Test func `the doctor finds and removes an unfinished segment whose slot is another member's by now`() throws {
        let container = try TemporaryContainer()
        let follower = try container.open()
        try setFirst(in: container)
        try kill(in: container)
        let left = try Self.unfinished(container)
        // The file is away for the time being: the slot's next member would sweep it.
        let kept = "\(container.directory)/kept"
        let suite = "\(container.path)/.group/defaults/standard"
        try FileManager.default.moveItem(atPath: "\(suite)/\(left[0])", toPath: kept)
        let next = try container.member("channel-listen", "news", "one", "2")
        try next.waitForText("listening")
        try FileManager.default.moveItem(atPath: kept, toPath: "\(suite)/\(left[0])")
        #expect(try container.groupctl("doctor").text.contains("one file or directory"))
        _ = try container.groupctl("doctor", "--repair")
        #expect(try Self.unfinished(container) == [])
        next.kill()
        _ = try next.finish()
        _ = follower
    }
}
