import GroupBytes
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// What a member that died, or a forger of one, leaves so that another member cannot finish it.
@Suite(.timeLimit(.minutes(1)))
struct `Refused repairs` {
    private static let slot = 7
    private static let nonce: UInt64 = 0x1122_3344_5566_7788
    private static let operation = Array(Hexadecimal.decode("88776655443322110100000000000000") ?? [])
    private static let hexOperation = "88776655443322110100000000000000"

    private let sample: SampleContainer
    private let tester: BlockingCoordinator

    init() throws {
        sample = try SampleContainer()
        tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
    }

    private var member: OpenContainer { sample.container.opened }
    private var isInFlight: Bool { member.memberTable.slotsWithInFlight().contains(Self.slot) }

    /// Writes a dead member into the member table, with an operation on every item in flight, in some entries.
    private func putDeadMember(slot: Int = Self.slot, entries: Int = 1) throws {
        let table = try WritableMap(sample.temporary.open(".group/members"), size: 69_632 + 1_024 * 4_096)
        let base = 69_632 + slot * 4_096
        table.store32(base, 999_999)
        table.store32(base + 4, effectiveUser())
        table.store64(base + 16, Self.nonce)
        table.write(Array("dead".utf8) + [0], at: base + 32)
        for entry in 0..<entries {
            table.write(Self.operation, at: base + 136 + entry * 32)
            table.store64(base + 128 + entry * 32, .max)
        }
        for bitmap in [128, 928] { table.store64(bitmap, table.load64(bitmap) | 1 << UInt64(slot)) }
    }

    private func state(of name: String) throws -> ItemState {
        ItemState(try sample.temporary.status(of: name), contentHash: nil)
    }

    /// Puts a manifest of a committed transaction that creates an item with "new" as its content.
    private func putManifest(creating path: String, segment: UInt64 = 1, offset: UInt64 = 4_096) throws {
        let staged = ".group/staging/\(Self.hexOperation).0"
        try sample.temporary.put("new", at: staged)
        let state = try state(of: staged)
        let manifest = TransactionManifest(
            isDurable: true, journalSegment: segment, journalOffset: offset,
            steps: [TransactionManifest.Step(number: 0, inode: state.inode, replaces: false)],
            record: ChangeRecord(
                transaction: [ChangePart(kind: .created, path: Array(path.utf8), state: state)],
                operation: Self.operation, processIdentifier: 999_999, purpose: Array("dead".utf8), time: 1))
        let file = try sample.temporary.open(
            ".group/staging/\(Self.hexOperation).manifest", [.writing, .creating, .exclusively])
        try file.writeAll(manifest.encoded())
    }

    @Test(arguments: [(1, 7), (1, 5_000), (99, 4_096), (0, 0), (UInt64.max, UInt64.max)] as [(UInt64, UInt64)])
    func `a place that is not in the journal means that all records are looked at`(segment: UInt64, offset: UInt64)
        throws
    {
        try putManifest(creating: "new", segment: segment, offset: offset)
        try putDeadMember()
        _ = try tester.write(bytes: [2], to: "a")
        #expect(!isInFlight)
        #expect(try sample.temporary.content(of: "new") == "new")
        #expect(try sample.history().contains("created new"))
    }

    @Test func `a manifest that is a symbolic link is put aside, and work goes on`() throws {
        try sample.temporary.run("ln", "-s", "/etc/passwd", ".group/staging/\(Self.hexOperation).manifest")
        try putDeadMember()
        _ = try tester.write(bytes: [2], to: "a")
        #expect(!isInFlight)
        #expect(try sample.temporary.staged() == [])
    }

    @Test(.enabled(if: effectiveUser() != 0, "root is refused nothing"))
    func `a transaction that this user may not finish stops nobody, and is finished by one who may`() throws {
        try sample.temporary.run("mkdir", "mine")
        try putManifest(creating: "mine/new")
        try sample.temporary.run("chmod", "0", "mine")
        try putDeadMember()
        for value in [2, 3] as [UInt8] { _ = try tester.write(bytes: [value], to: "a") }
        #expect(isInFlight, "nothing of it is lost")
        try sample.temporary.run("chmod", "700", "mine")
        try member.repair(slot: Self.slot, hasRight: false)
        #expect(!isInFlight)
        #expect(try sample.temporary.content(of: "mine/new") == "new")
        #expect(try sample.history().contains("created mine/new"))
    }

    @Test(.enabled(if: effectiveUser() != 0, "root is refused nothing"))
    func `a repair of the container ends such a transaction, and keeps its content`() throws {
        try sample.temporary.run("mkdir", "mine")
        try putManifest(creating: "mine/new")
        try sample.temporary.run("chmod", "0", "mine")
        try putDeadMember()
        try member.repair(slot: Self.slot, hasRight: false, puttingAside: true)
        try sample.temporary.run("chmod", "700", "mine")
        #expect(!isInFlight)
        #expect(try sample.temporary.content(of: ".group/damaged/\(Self.hexOperation).0") == "new")
        #expect(try sample.temporary.staged() == [])
    }

    @Test func `a check names the first items of an operation, once for all entries that name it`() throws {
        let count = 500
        let state = try state(of: "a")
        let manifest = TransactionManifest(
            isDurable: true, journalSegment: 1, journalOffset: 4_096,
            steps: (0..<count).map { TransactionManifest.Step(number: UInt32($0), inode: 1, replaces: false) },
            record: ChangeRecord(
                transaction: (0..<count).map {
                    ChangePart(kind: .created, path: Array("new \($0)".utf8), state: state)
                }, operation: Self.operation, processIdentifier: 999_999, purpose: Array("dead".utf8), time: 1))
        let file = try sample.temporary.open(
            ".group/staging/\(Self.hexOperation).manifest", [.writing, .creating, .exclusively])
        try file.writeAll(manifest.encoded())
        for slot in [7, 8] { try putDeadMember(slot: slot, entries: 8) }
        let found = try ContainerCheck(.path(Array(sample.temporary.path.utf8))).examine()
            .filter { $0.code == .deadMember }
        #expect(found.count == 2)
        let named = try #require(found.first { $0.what.contains("'new 0'") }).what
        #expect(named.contains("'new 7' and 492 more") && !named.contains("'new 8'"))
        #expect(found.allSatisfy { $0.what.utf8.count < 1_000 })
    }
}
