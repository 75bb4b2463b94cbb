import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// The first process to open a container after a boot recovers its logs, and may itself be killed meanwhile.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Containers of another boot` {
    /// Makes a container as a boot leaves it: the member table names another boot. With `isTorn`, there are bytes
    /// behind the end of its journal.
    private func container(withChanges count: Int, isTorn: Bool = false) throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        do {
            let coordinator = try container.open().coordinator(purpose: "test").blocking
            for number in 0..<count { try coordinator.write(bytes: Array("\(number)".utf8), to: "item") }
        }
        if isTorn {
            let file = try #require(FileHandle(forUpdatingAtPath: "\(container.path)/.group/journal/1.log"))
            try file.seek(toOffset: 1 << 20)
            try file.write(contentsOf: Data("of a page that came too late".utf8))
            try file.close()
        }
        try leaveAsAnotherBoot(container)
        return container
    }

    private func leaveAsAnotherBoot(_ container: TemporaryContainer) throws {
        let memberTable = try #require(FileHandle(forUpdatingAtPath: "\(container.path)/.group/members"))
        try memberTable.seek(toOffset: 32)
        try memberTable.write(contentsOf: Data("another boot, another boot, anot".utf8))
        try memberTable.close()
    }

    @Test(arguments: [false, true])
    func `a follower that recovers a container after a boot gets the old and the new changes`(isTorn: Bool) throws {
        let container = try container(withChanges: 2, isTorn: isTorn)
        let follower = try RunningProcess([
            "watch-group", "--since", "start", "--count", "3", "--timeout", "20", container.path,
        ])
        try follower.waitForText("modified")
        _ = try container.groupctl("write", "item", input: "new")
        #expect(try follower.finish().text == "created\titem\nmodified\titem\nmodified\titem\n")
        #expect(container.journalFiles == (isTorn ? ["1.log", "2.log"] : ["1.log"]))
    }

    // fault: hole-in-log
    @Test func `a suite with a hole after a boot has the keys before it, and none behind it comes back`() throws {
        let container = try container(withChanges: 1)
        // Set by processes that ended before that boot.
        let text = "set s1 1\nset s2 2\nset s3 3\n"
        for word in text.split(separator: "\n") {
            let words = word.split(separator: " ").map(String.init)
            #expect(try container.member("defaults-set", words[1], "1").finish().status == 0)
        }
        let log = "\(container.path)/.group/defaults/standard/1.log"
        let file = try #require(FileHandle(forUpdatingAtPath: log))
        try file.seek(toOffset: 4_096)
        let header = try #require(try file.read(upToCount: 8)).enumerated().reduce(UInt64(0)) {
            $0 | UInt64($1.element) << UInt64(8 * $1.offset)
        }
        let size = (header >> 4 & 0x3f_ffff) * 8
        try file.seek(toOffset: 4_096 + size)
        try file.write(contentsOf: Data(repeating: 0, count: Int(size)))
        try file.close()
        try leaveAsAnotherBoot(container)
        for _ in 0..<2 {
            let defaults = try GroupDefaults(container.open())
            #expect(defaults.dictionaryRepresentation().keys.filter { $0.hasPrefix("s") } == ["s1"])
            try defaults.set(true, forKey: "new")
            try leaveAsAnotherBoot(container)
        }
    }

    // fault: hole-in-log
    @Test func `a channel with a hole after a boot has the messages before it, and its listeners' places`() throws {
        let container = try TemporaryContainer()
        // The last process that has the channel open ends before that boot.
        let listener = try container.member("channel-listen", "news", "one", "2")
        try listener.waitForText("listening")
        #expect(try container.member("channel-post", "news", "p", "5").finish().status == 0)
        try listener.waitForText("got p 5 5")
        listener.kill()
        let log = "\(container.path)/.group/channels/news/1.log"
        let file = try #require(FileHandle(forUpdatingAtPath: log))
        // A record that another process has aborted, because its writer was slow, is not a message, either.
        func record(at place: UInt64) throws -> (isMessage: Bool, size: UInt64) {
            try file.seek(toOffset: place)
            let word = try #require(try file.read(upToCount: 8)).enumerated().reduce(UInt64(0)) {
                $0 | UInt64($1.element) << UInt64(8 * $1.offset)
            }
            return (word & 7 == 2 && word >> 3 & 1 == 0, (word >> 4 & 0x3f_ffff) * 8)
        }
        // Finds the fifth message.
        var (place, count) = (UInt64(4_096), 0)
        while true {
            let record = try record(at: place)
            try #require(record.size > 0)
            if record.isMessage { count += 1 }
            if count == 5 { break }
            place += record.size
        }
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data(repeating: 0, count: 64))
        try file.close()
        try leaveAsAnotherBoot(container)
        for number in 5...6 as ClosedRange<UInt64> {
            do {
                let channel = try GroupChannel(container.open(), name: "news")
                let listener = try channel.listener(named: "one")
                #expect(try channel.post(bytes: [UInt8(number)]) == number)
                var numbers: [UInt64] = []
                while let message = try listener.next(timeout: .zero) { numbers.append(message.number) }
                #expect(numbers.last == number && numbers == Array((numbers.first ?? 0)...number))
                // The listener has acknowledged the second and the fourth message, but perhaps behind the hole.
                #expect([1, 3, 5].contains(numbers.first))
            }
            try leaveAsAnotherBoot(container)
        }
    }

    @Test(.enabled(if: Strace.isThere, Strace.isMissing), arguments: [false, true])
    func `a container of another boot is recovered, though the first recovery was killed at any call`(isTorn: Bool)
        throws
    {
        let write = { (container: TemporaryContainer) in ["groupctl", "write", container.path, "item"] }
        let model = try container(withChanges: 1, isTorn: isTorn)
        let calls = try Strace.calls(of: write(model), input: "new", in: model)
        for call in runsLongTests ? calls : calls.filter({ $0.name != "close" && $0.number % 2 == 1 }) {
            let container = try container(withChanges: 1, isTorn: isTorn)
            _ = try Strace.run(write(container), input: "new", fault: .kill, at: call)
            let visible = container.content(of: "item") == "new"
            #expect(try container.groupctl("write", "item", input: "newer").status == 0, "killed at \(call)")
            #expect(try container.changes().count == (visible ? 3 : 2), "killed at \(call)")
            let files = isTorn ? ["1.log", "2.log"] : ["1.log"]
            #expect(container.journalFiles == files, "killed at \(call)")
            #expect(try Invariants.broken(in: container) == [], "killed at \(call)")
        }
    }
}
