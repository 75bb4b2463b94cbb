import GroupBytes
import TestSupport
import Testing

@testable import GroupContainer

@Suite
struct `Transaction steps` {
    private static func location(_ path: String) throws -> ItemLocation { try ItemLocation(Array(path.utf8)) }
    private static let file = TransactionSteps.PresentItem(inode: 7, isDirectory: false)
    private static let directory = TransactionSteps.PresentItem(inode: 8, isDirectory: true)

    private var steps = TransactionSteps()

    private mutating func place(
        _ path: String, _ kind: ChangeRecord.Kind = .created, isDirectory: Bool = false,
        replacing before: TransactionSteps.PresentItem? = nil
    ) throws -> Int {
        steps.put(at: try Self.location(path), kind, isDirectory: isDirectory, replacing: before, contentHash: nil)
    }

    private var lines: [String] {
        steps.inOrder.map { "\($0.number) \(printable($0.location.bytes)) \($0.effect == .removal ? "-" : "+")" }
    }

    @Test mutating func `transaction steps are in the order in which they were first made, one for each item`() throws {
        #expect(try place("new", isDirectory: true) == 0)
        #expect(try place("new/a") == 1)
        #expect(try place("b", .modified, replacing: Self.file) == 2)
        #expect(try place("new/a") == 1)
        #expect(try steps.remove(Self.location("c"), present: Self.file) == [])
        #expect(lines == ["0 new +", "1 new/a +", "2 b +", "3 c -"])
    }

    @Test mutating func `transaction steps hide what is on the disk`() throws {
        #expect(try steps.view(Self.location("a")) == .untouched)
        _ = try place("new", isDirectory: true)
        _ = try place("new/a")
        _ = try steps.remove(Self.location("d"), present: Self.directory)
        #expect(try steps.view(Self.location("new")) == .staged(number: 0, isDirectory: true))
        #expect(try steps.view(Self.location("new/a")) == .staged(number: 1, isDirectory: false))
        #expect(try steps.view(Self.location("new/b")) == .absent)
        #expect(try steps.view(Self.location("d")) == .absent)
        #expect(try steps.view(Self.location("d/x")) == .absent)
        #expect(try steps.view(Self.location("do")) == .untouched)
        #expect(try steps.isWithinNew(Self.location("d/x/y")) && !steps.isWithinNew(Self.location("d")))
    }

    @Test mutating func `removing what a transaction made leaves no step`() throws {
        _ = try place("new", isDirectory: true)
        _ = try place("new/a")
        #expect(try steps.hasSteps(below: Self.location("new")))
        #expect(try steps.remove(Self.location("new"), present: nil).sorted() == [0, 1])
        #expect(steps.isEmpty)
        #expect(try place("new") == 2)
    }

    @Test mutating func `removing what a transaction replaced is a step that removes the old item`() throws {
        let number = try place("a", .modified, replacing: Self.file)
        #expect(try steps.remove(Self.location("a"), present: Self.file) == [number])
        #expect(lines == ["0 a -"])
        #expect(try steps[Self.location("a")]?.before == Self.file)
        #expect(try place("a", .modified, replacing: Self.file) == 0)
        #expect(lines == ["0 a +"])
        try steps.forget(Self.location("a"))
        #expect(steps.isEmpty)
    }

    @Test mutating func `steps that empty a directory come before the step that removes it`() throws {
        _ = try steps.remove(Self.location("d/x"), present: Self.file)
        #expect(try !steps.hasSteps(below: Self.location("d")))
        _ = try steps.remove(Self.location("d"), present: Self.directory)
        #expect(lines == ["0 d/x -", "1 d -"])
    }
}

@Suite
struct `Transaction manifests` {
    static let manifest = TransactionManifest(
        isDurable: true, journalSegment: 3, journalOffset: .max,
        steps: (0..<5).map { TransactionManifest.Step(number: $0 * 2, inode: .max - UInt64($0), replaces: $0 == 3) },
        record: `Change records`.transaction)

    @Test(arguments: [true, false])
    func `a transaction's manifest comes back from its bytes`(isDurable: Bool) {
        var manifest = Self.manifest
        manifest.isDurable = isDurable
        #expect(TransactionManifest(decoding: manifest.encoded()) == manifest)
    }

    @Test func `a transaction's manifest that is cut short or changed is refused`() {
        let bytes = Self.manifest.encoded()
        for count in 0..<bytes.count { #expect(TransactionManifest(decoding: Array(bytes[..<count])) == nil) }
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<2_000 {
            var changed = bytes
            changed[Int.random(in: bytes.indices, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
            #expect(TransactionManifest(decoding: changed) == nil)
        }
    }

    @Test func `a transaction's manifest of any bytes with a right checksum is refused or consistent`() {
        let body = Array(Self.manifest.encoded().dropLast(8))
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<5_000 {
            let changed = mutated(body, using: &generator)
            var writer = ByteWriter()
            writer.write(raw: changed)
            writer.write(SipHash(key: (0, 0)).hash(changed))
            if let manifest = TransactionManifest(decoding: writer.bytes) {
                #expect(manifest.steps.count == manifest.record.parts.count)
            }
        }
    }

    @Test func `a transaction's manifest with more or fewer steps than its record has parts is refused`() {
        for steps in [Array(Self.manifest.steps.dropLast()), Self.manifest.steps + Self.manifest.steps.prefix(1)] {
            var manifest = Self.manifest
            manifest.steps = steps
            #expect(TransactionManifest(decoding: manifest.encoded()) == nil)
        }
    }
}
