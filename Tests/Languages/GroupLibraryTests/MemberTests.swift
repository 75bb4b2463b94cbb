import CGroupInterface
import Foundation
import GroupContainer
import GroupLibrary
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(3))) struct `Programs in C` {
    private let temporary: TemporaryContainer

    init() throws { temporary = try TemporaryContainer() }

    private func member(_ words: String...) throws -> RunningProcess {
        try RunningProcess(["library-member", words[0], temporary.path] + words.dropFirst())
    }

    @Test func `increments of programs in C and Swift are exact, though some are killed`() throws {
        let container = try Container(path: temporary.path)
        let defaults = try GroupDefaults(container)
        let coordinator = container.coordinator(purpose: "in Swift").blocking
        var (keys, files, unsure) = (0, 0, 0)
        for round in 0..<3 {
            let members = try (0..<4).map { _ in try member("increment", "150") }
            for _ in 0..<100 {
                try defaults.increment("n")
                try coordinator.updateBytes("n", durability: .relaxed) { content in
                    let number = content.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                    return Array("\(number + 1)".utf8)
                }
                (keys, files) = (keys + 1, files + 1)
            }
            if round > 0 {
                for member in members.prefix(2) { member.kill() }
                unsure += 2
            }
            for (index, member) in members.enumerated() {
                let lines = (try member.finish().text).split(separator: "\n")
                keys += lines.count { $0 == "key" }
                files += lines.count { $0 == "file" }
                if round == 0 || index >= 2 { #expect(lines.count == 300) }
            }
        }
        // A killed program may have made one change that it has not printed.
        let key = defaults.integer(forKey: "n")
        #expect(keys...keys + unsure ~= key)
        let file = try #require(Int(coordinator.readText("n")))
        #expect(files...files + unsure ~= file)
    }

    @Test func `a program in C that is killed holds its lock no more`() throws {
        let holder = try member("hold", "a")
        try holder.waitForText("held")
        let coordinator = try Container(path: temporary.path).coordinator(purpose: "other").blocking
        #expect(holder.stop())
        let refused = #expect(throws: CoordinationError.self) {
            try coordinator.write(bytes: [1], to: "a", timeout: .milliseconds(20))
        }
        #expect(refused?.holders.first?.processIdentifier == holder.identifier)
        #expect(refused?.holders.first?.purpose == "in C" && refused?.holders.first?.condition == .stopped)
        holder.kill()
        try coordinator.write(bytes: [1], to: "a")
    }

    @Test func `a child can not use its parent's handles, and can open the container anew`() throws {
        let (status, text) = try member("fork").finish()
        #expect(status == 0)
        #expect(text == "read forked\nunlock forked\nwrite lockTimedOut 1\nwrite ok\nparent ok\n")
    }

    @Test func `a follower's descriptor wakes a program in C for changes of others`() throws {
        let follower = try member("follow", "2")
        try follower.waitForText("following")
        try FileManager.default.createDirectory(atPath: temporary.path + "/outside", withIntermediateDirectories: false)
        let coordinator = try Container(path: temporary.path).coordinator(purpose: "other").blocking
        try follower.waitForText("1 outside")
        try coordinator.write(bytes: [1], to: "a")
        let (status, text) = try follower.finish()
        #expect(status == 0 && text == "following\n1 outside\n1 a\n")
    }
}
