import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

/// The kernel gives the locks of a process that dies back one after the other, so its lock may be free while it still
/// seems to live.
@Suite(.timeLimit(.minutes(1)))
struct `A member whose lock is free before its life is over` {
    /// A slot that lives as long as the descriptor is open, with a change pending.
    private func member(
        in sample: SampleContainer, slot: Int, pending block: UInt64, holding path: ItemPath
    ) throws -> FileDescriptor {
        let memberTable = sample.container.member.memberTable
        let map = try #require(memberTable.seat).map
        let life = try FileDescriptor.open(
            path: Array("\(sample.container.path)/.group/members".utf8), .readingAndWriting)
        #expect(try life.tryLock(.exclusive, ByteRange(start: MemberTableLayout.lifeByte(slot), length: 1)))
        let base = MemberTableLayout.slot(slot)
        map.store32(base + MemberTableLayout.process, 1)
        map.store64(base + MemberTableLayout.pending, block)
        map.setBits64(MemberTableLayout.pendingMembers + slot / 64 * 8, 1 << UInt64(slot % 64))
        let range = try LockRange(path.location(for: "test"), key: sample.container.member.hashKey)
        let access = base + MemberTableLayout.accesses
        map.store32(access + MemberTableLayout.accessMode, 2)
        map.store64(access + MemberTableLayout.accessStart, UInt64(bitPattern: range.start))
        map.store64(access + MemberTableLayout.accessLength, UInt64(bitPattern: range.length))
        map.store32(access + MemberTableLayout.accessStage, 2)
        return life
    }

    @Test(arguments: [true, false])
    func `is waited for, then repaired`(concernsOneItem: Bool) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let block = try LockRange(ItemPath("a").location(for: "test"), key: sample.container.member.hashKey)
        let pending = concernsOneItem ? UInt64(bitPattern: block.start) : MemberTable.everyItem
        let life = try member(in: sample, slot: 9, pending: pending, holding: "a")
        #expect(code { try tester.write(bytes: [1], to: "a", timeout: .milliseconds(20)) } == .lockTimedOut)
        // It holds nothing else.
        #expect(try tester.write(bytes: [1], to: "b", timeout: .zero) == .written(1))
        let waiter = Side { try tester.write(bytes: [1], to: "a", timeout: patience) }
        #expect(try eventually { try sample.holding().contains { $0.path == "a" } })
        _ = consume life
        #expect(try waiter.answer() == .written(2))
        #expect(sample.container.member.memberTable.slotsWithPending().isEmpty)
        #expect(try sample.isQuiet())
    }
}
