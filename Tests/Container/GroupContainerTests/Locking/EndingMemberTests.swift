import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// The kernel frees the locks of a dying process one after the other, so an item's lock may be free while the process
/// still seems to live.
@Suite(.timeLimit(.minutes(1)))
struct `Dying members` {
    /// Makes a member slot that is alive as long as the descriptor is open, with an in-flight operation.
    private func member(
        in sample: SampleContainer, slot: Int, pending rangeStart: UInt64, holding path: ItemPath
    ) throws -> FileDescriptor {
        let memberTable = sample.container.opened.memberTable
        let map = try #require(memberTable.own).map
        let life = try FileDescriptor.open(
            path: Array("\(sample.container.path)/.group/members".utf8), .readingAndWriting)
        #expect(try life.tryLock(.exclusive, ByteRange(start: MemberTableLayout.lifeByte(slot), length: 1)))
        let base = MemberTableLayout.slot(slot)
        map.store32(base + MemberTableLayout.process, 1)
        map.store64(base + MemberTableLayout.inFlight, rangeStart)
        map.setBits64(MemberTableLayout.inFlightMembers + slot / 64 * 8, 1 << UInt64(slot % 64))
        let range = try LockRange(path.location(for: "test"), key: sample.container.opened.hashKey)
        let access = base + MemberTableLayout.published
        map.store32(access + MemberTableLayout.publishedMode, 2)
        map.store64(access + MemberTableLayout.publishedStart, UInt64(bitPattern: range.start))
        map.store64(access + MemberTableLayout.publishedLength, UInt64(bitPattern: range.length))
        map.store32(access + MemberTableLayout.publishedStage, 2)
        return life
    }

    @Test(arguments: [true, false])
    func `a dying member with an in-flight operation is waited for, and the operation is then repaired`(
        concernsOneItem: Bool
    ) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let range = try LockRange(ItemPath("a").location(for: "test"), key: sample.container.opened.hashKey)
        let pending = concernsOneItem ? UInt64(bitPattern: range.start) : MemberTable.everyItem
        let life = try member(in: sample, slot: 9, pending: pending, holding: "a")
        #expect(code { try tester.write(bytes: [1], to: "a", timeout: .milliseconds(20)) } == .lockTimedOut)
        // The dying member holds nothing else.
        #expect(try tester.write(bytes: [1], to: "b", timeout: .zero) == .written(1))
        let waiter = Side { try tester.write(bytes: [1], to: "a", timeout: patience) }
        #expect(try eventually { try sample.holding().contains { $0.path == "a" } })
        _ = consume life
        #expect(try waiter.answer() == .written(2))
        #expect(sample.container.opened.memberTable.slotsWithInFlight().isEmpty)
        #expect(try sample.isQuiet())
    }
}
