import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// Member processes that request another lock while they hold one.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Deadlocks between members` {
    private func nest(
        _ outer: String, _ inner: String, in container: TemporaryContainer, _ mode: String = "nest"
    ) throws -> RunningProcess {
        let member = try container.member(mode, outer, inner)
        try member.waitForText("held\n")
        return member
    }

    // fault: opposite-order
    @Test(arguments: ["nest", "keep"], 2...5)
    func `a deadlock ends in an error for the member that closed it, and the others are granted`(
        mode: String, count: Int
    ) throws {
        let container = try TemporaryContainer()
        let watcher = try container.open()
        for round in 0..<5 {
            let members = try (0..<count).map { number in
                try nest("item\(number)", "item\((number + 1) % count)", in: container, mode)
            }
            // One after the other, so that the last member closes the cycle.
            let order = (0..<count).map { ($0 + round) % count }
            for (position, index) in order.dropLast().enumerated() {
                try members[index].send("go")
                try container.waitForWaiters(position + 1, in: watcher)
            }
            let last = members[order[count - 1]]
            try last.send("go")
            try last.waitForText("deadlock ")
            #expect(members.filter { $0.text.contains("deadlock") }.count == 1)
            last.closeInput()
            for index in order.reversed() {
                members[index].closeInput()
                let (status, text) = try members[index].finish()
                #expect(status == 0 && text.contains(members[index] === last ? "deadlock" : "written"), "\(text)")
            }
        }
        #expect(try watcher.status().members.flatMap(\.locks).isEmpty)
    }

    @Test func `a thread that waits for a lock that it keeps is in a deadlock with itself`() throws {
        let container = try TemporaryContainer()
        let member = try nest("a", "a", in: container, "keep")
        try member.send("go")
        try member.waitForText("deadlock ")
        member.closeInput()
        #expect(try member.finish().status == 0)
    }

    @Test func `a member that waits for a stopped or killed member is in no deadlock`() throws {
        let container = try TemporaryContainer()
        let watcher = try container.open()
        let (one, two) = (try nest("a", "b", in: container), try nest("b", "a", in: container))
        try one.send("go")
        try container.waitForWaiters(1, in: watcher)
        // The stopped member holds what is wanted, and requests nothing before it goes on.
        try #require(two.stop())
        let (status, text) = try container.groupctl("write", "a", "--timeout", "0", input: "x")
        #expect(status == 75 && text.contains("process \(one.identifier) (nester"), "\(text)")
        two.kill()
        try one.waitForText("written ")
        one.closeInput()
        #expect(try one.finish().status == 0)
        #expect(try watcher.status().members.flatMap(\.locks).isEmpty)
    }

    @Test func `a holder of an item in a directory that a member wants as a whole is in no deadlock`() throws {
        let container = try TemporaryContainer()
        let watcher = try container.open()
        try FileManager.default.createDirectory(atPath: "\(container.path)/f/g", withIntermediateDirectories: true)
        let (first, second) = (try container.holder(of: "f/g"), try container.holder(of: "f/g/h"))
        let third = try RunningProcess(["groupctl", "lock", container.path, "f", "f/g", "f/g/h", "--", "true"])
        try container.waitForAccess("f", waiting: false, in: watcher)
        let mover = try RunningProcess(["groupctl", "move", container.path, "f", "f2"])
        try container.waitForAccess("f", waiting: true, whole: true, in: watcher)
        // The third member gets what it waits for, and then waits for the next of its items: behind the second member,
        // not the mover.
        first.closeInput()
        #expect(try first.finish().status == 0)
        try container.waitForAccess("f/g/h", waiting: true, in: watcher)
        #expect(third.text.isEmpty)
        second.closeInput()
        #expect(try second.finish().status == 0)
        let (status, text) = try third.finish()
        #expect(status == 0, "\(text)")
        #expect(try mover.finish().status == 0)
        #expect(container.exists("f2/g") && !container.exists("f"))
    }

    @Test func `writers beside members that move and remove their directory are in no deadlock`() throws {
        let container = try TemporaryContainer()
        let item = "d/e/f"
        let script = """
            for i in $(seq 40); do
                "$1" write "$2" "$3" --purpose w </dev/null 2>&1 | grep -i deadlock
                "$1" lock "$2" d "$3" d/e/g -- true 2>&1 | grep -i deadlock
            done; echo ended
            """
        let directories = """
            for i in $(seq 40); do
                "$1" move "$2" d d2 2>&1 | grep -i deadlock
                "$1" move "$2" d2 d 2>&1 | grep -i deadlock
                "$1" remove "$2" -r d/e 2>&1 | grep -i deadlock
            done; echo ended
            """
        let groupctl = BuildDirectory.resolve("groupctl")
        let processes = try [script, script, script, directories, directories].map {
            try RunningProcess(["sh", "-c", $0, "sh", groupctl, container.path, item])
        }
        for process in processes { #expect(try process.finish(within: .seconds(120)).text == "ended\n") }
    }

    // fault: reused-process-number
    @Test func `a process that has the number of a dead holder is not blamed`() throws {
        let container = try TemporaryContainer()
        let dead = try nest("a", "b", in: container)
        dead.kill()
        // The dead member's slot is not repaired yet: its entries are still there, and belong to no process.
        let (status, text) = try container.groupctl("write", "a", "--timeout", "0", input: "x")
        #expect(status == 0, "\(text)")
        #expect(try !container.groupctl("status").text.contains("\(dead.identifier)"))
    }
}
