import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLocking

/// What a dead member leaves in the member table: unfinished operations, contended flags, its slot.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Dead members` {
    // fault: writer-killed
    @Test(.enabled(if: Strace.isThere, Strace.isMissing), arguments: [true, false])
    func `the record of a member that died after its rename is made with the item's next lock`(isNew: Bool) throws {
        let container = try TemporaryContainer()
        if !isNew { _ = try container.groupctl("write", "item", input: "old") }
        // This member is alive before, so its slot is not the dead member's.
        let heir = try container.open()
        let locks = heir.coordinator(purpose: "heir").blocking
        let command = ["groupctl", "write", "--purpose", "deceased", container.path, "item"]
        let calls = try Strace.calls(
            of: isNew ? command.dropLast() + ["model"] : command, input: "newer", in: container)
        let rename = try #require(calls.firstIndex { $0.name.hasPrefix("rename") })
        let before = try container.changes(heir).count
        let (status, _) = try Strace.run(command, input: "new", fault: .kill, at: calls[rename + 1])
        #expect(status == 137)
        #expect(container.content(of: "item") == "new")
        #expect(!container.staging.isEmpty)

        _ = try? locks.readBytes("another")
        #expect(try container.changes(heir).count == before)
        #expect(try locks.readBytes("item") == Array("new".utf8))
        let change = try #require(try container.changes(heir).dropFirst(before).first)
        #expect(change.kind == (isNew ? .created : .modified) && change.path == "item" && change.size == 3)
        #expect(change.author?.purpose == "deceased")
        #expect(container.staging.isEmpty)
        // The record is made once: neither another lock nor the slot's next member makes it again.
        #expect(try container.groupctl("read", "item").text == "new")
        #expect(try container.changes(heir).count == before + 1)
    }

    @Test func `a dead member's contended flag delays no other request`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old")
        let reader = try container.open()
        let holder = try container.holder(of: "item")
        let wanting = try RunningProcess(["groupctl", "write", container.path, "item"], input: "new")
        try container.waitForWaiters(1, in: reader)
        wanting.kill()
        holder.closeInput()
        _ = try holder.finish()
        // Behind a contended flag, a request with a timeout of zero gets no lock.
        let locks = reader.coordinator(purpose: "reader").blocking
        #expect(try locks.readBytes("item", timeout: .zero) == Array("old".utf8))
        #expect(try container.groupctl("read", "item", "--timeout", "0").text == "old")
    }

    // fault: reused-process-number
    @Test func `members that died or left make room, however many come and go at once`() throws {
        let container = try TemporaryContainer()
        let watcher = try container.open()
        for round in 1...3 {
            let members = try (0..<50).map { try container.member("hold", "round\(round)-\($0)") }
            for member in members { try member.waitForText("held") }
            let slots = try Self.takenSlots(of: container)
            #expect(try watcher.status().members.count == 51)
            // The first members take the slots that were left; only then are those of the 25 that died free.
            #expect(slots.count == 51 && slots.allSatisfy { $0 < 76 }, "\(slots)")
            for (number, member) in members.enumerated() {
                if number.isMultiple(of: 2) { member.signal(SIGKILL) } else { member.closeInput() }
            }
            for (number, member) in members.enumerated() {
                #expect(member.reap() == (number.isMultiple(of: 2) ? 137 : 0))
            }
            #expect(try watcher.status().members.count == 1)
            #expect(try container.groupctl("list").status == 0)
            #expect(try Self.takenSlots(of: container) == [0])
        }
        let writers = try (0..<50).map { number in
            try RunningProcess(["groupctl", "write", container.path, "directory/\(number)"], input: "\(number)")
        }
        for writer in writers { #expect(try writer.finish().status == 0) }
        #expect(try container.changes(watcher).count == 51)
        #expect(try watcher.status().members.count == 1)
        #expect(container.staging.isEmpty)
    }

    @Test func `a new member takes a slot that was left, and repairs some of many dead members`() throws {
        let container = try TemporaryContainer()
        let watcher = try container.open()
        try Self.forgeDeadMembers(1..<201, in: container)
        let member = try container.member("hold", "item")
        try member.waitForText("held")
        #expect(try Self.takenSlots(of: container).contains(201))
        let left = try Self.takenSlots(of: container).count
        #expect(left > 150 && left < 202, "\(left)")
        for _ in 0..<8 { #expect(try container.groupctl("list").status == 0) }
        #expect(try Self.takenSlots(of: container) == [0, 201])
        member.closeInput()
        #expect(try member.finish().status == 0)
        #expect(try watcher.status().members.count == 1)
    }

    /// Writes slots as killed processes leave them.
    private static func forgeDeadMembers(_ slots: Range<Int>, in container: TemporaryContainer) throws {
        let file = try FileDescriptor.open(path: Array("\(container.path)/.group/members".utf8), .readingAndWriting)
        let map = try WritableMap(file, size: MemberTableLayout.size)
        for slot in slots {
            map.store64(MemberTableLayout.slot(slot) + MemberTableLayout.nonce, UInt64(slot) << 32)
            // No process has this number.
            map.store32(MemberTableLayout.slot(slot) + MemberTableLayout.process, 1 << 30)
            map.setBits64(MemberTableLayout.members + slot / 64 * 8, 1 << UInt64(slot % 64))
        }
    }

    /// Returns the slots that name a process in the file.
    private static func takenSlots(of container: TemporaryContainer) throws -> [Int] {
        let memberTable = try #require(FileManager.default.contents(atPath: "\(container.path)/.group/members"))
        let (start, size) = (69_632, 4_096)
        return (0..<1_024).filter { slot in
            memberTable[start + slot * size..<start + slot * size + 4].contains { $0 != 0 }
        }
    }
}
