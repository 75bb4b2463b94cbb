import GroupBytes
import GroupSystemCalls

@testable import GroupContainer
@testable import GroupLocking

/// The bytes that a faulty member may have left in its slot, and in the first page.
extension Decoder {
    private static let slot = 3

    /// A member table whose file has been removed.
    private static let shared = Guarded<Result<MemberTable, any Error>>(
        Result {
            let directory = try ScratchDirectory()
            return try MemberTable(MemberTable.open(in: directory.descriptor, fileMode: 0o600), slot: slot, nonce: 9)
        })

    /// How many bytes of the slot, and of the page after its magic and version, the last input had.
    private static let written = Guarded((slot: 0, page: 0))

    private static var sample: [UInt8] {
        var writer = ByteWriter()
        for number in [7, 1_000] as [UInt32] { writer.write(number) }
        for number in [1_700_000_000_000_000_000, 9, 4_242] as [UInt64] { writer.write(number) }
        writer.write(raw: padded("todo-app", to: MemberTableLayout.purposeBytes))
        // A change in one range, and a change of every item.
        for range in [1 << 62 | 0x12800, .max] as [UInt64] {
            writer.write(range)
            writer.write(raw: [UInt8](repeating: 5, count: MemberTableLayout.inFlightBytes - 8))
        }
        writer.write(raw: [UInt8](repeating: 0, count: MemberTableLayout.published - writer.bytes.count))
        for (stage, mode) in [(1, 2), (2, 1), (3, 3)] as [(UInt32, UInt32)] {
            for number in [stage, mode] { writer.write(number) }
            for number in [1 << 62 | 0x12800, 2_048, 12, 5, 1, 0] as [UInt64] { writer.write(number) }
            writer.write(raw: padded("sync", to: MemberTableLayout.publishedPurposeBytes))
            writer.write(raw: padded("Library/todo.json", to: MemberTableLayout.publishedPathBytes))
        }
        return writer.bytes
    }

    private static func padded(_ text: String, to count: Int) -> [UInt8] {
        [UInt8](text) + [UInt8](repeating: 0, count: count - text.utf8.count)
    }

    static let memberTable = Decoder("members", ["member": sample]) { bytes in
        try shared.withLock { shared in
            let memberTable = try shared.get()
            fill(memberTable, with: bytes)
            guard let member = memberTable.member(at: slot) else { return false }
            try expect(member.mark.identifier != 0, "a member without a process")
            let accesses = memberTable.publishedLocks(of: member)
            let texts = [member.purpose] + accesses.flatMap { [$0.purpose, $0.path] }
            for text in texts where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                throw Broken("a control character is shown: \(text.debugDescription)")
            }
            try look(at: memberTable, accesses.map(\.claim))
            return true
        }
    }

    private static func fill(_ memberTable: MemberTable, with bytes: [UInt8]) {
        guard let map = memberTable.own?.map else { return }
        let (inSlot, inPage) = (bytes.prefix(MemberTableLayout.slotBytes), bytes.dropFirst(MemberTableLayout.slotBytes))
        written.withLock { last in
            let place = MemberTableLayout.slot(slot)
            map.write(inSlot + [UInt8](repeating: 0, count: max(0, last.slot - inSlot.count)), at: place)
            let room = MemberTableLayout.contended - MemberTableLayout.ticket
            let page = inPage.prefix(room)
            let rest = [UInt8](repeating: 0, count: max(0, last.page - page.count))
            map.write(page + rest, at: MemberTableLayout.ticket)
            last = (inSlot.count, page.count)
        }
    }

    /// Reads the table as errors, the search for deadlocks, and repairs do.
    private static func look(at memberTable: MemberTable, _ claims: [WaitGraph.Claim]) throws {
        let graph = WaitGraph(claims)
        for claim in claims {
            let range = claim.part.range
            try expect(range.length > 0 && range.last >= range.start, "a range of nothing")
            _ = (
                range.bucket, range.depth, range.enclosing,
                graph.outlook(of: .init(slot: slot, number: claim.owner), ticket: claim.ticket)
            )
            _ = memberTable.holders(inTheWayOf: LockPlan([claim.part]), besides: nil)
        }
        for change in memberTable.inFlight(of: slot) { try expect(change.operation.count == 16, "no operation") }
        for slot in memberTable.slotsWithInFlight() { _ = memberTable.inFlight(of: slot) }
    }
}
