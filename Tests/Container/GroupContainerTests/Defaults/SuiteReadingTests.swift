import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

struct `Reading suites` {
    /// Returns a record body: sets of few keys, in a row or not, and every other kind of record.
    private static func body(_ random: inout SeededGenerator) -> [UInt8] {
        func key() -> String { ["n", "n", "n", "m", "nn", "a longer key", ""].randomElement(using: &random) ?? "n" }
        func step() -> SuiteRecord.Step {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: .remove(key())
            case 1: .removeAll
            case 2: .set(key(), .string(String(repeating: "x", count: Int.random(in: 0..<20, using: &random))))
            default: .set(key(), .integer(Int.random(in: 0..<1_000, using: &random)))
            }
        }
        switch Int.random(in: 0..<30, using: &random) {
        case 0: return [99, UInt8.random(in: 0...9, using: &random)]
        case 1: return []
        case 2, 3:
            return SuiteRecord(processIdentifier: 1, time: 2, purpose: "", steps: [step(), step()]).encoded()
        default:
            let purpose = Bool.random(using: &random) ? "one" : "another purpose"
            return SuiteRecord(processIdentifier: 1, time: 2, purpose: purpose, steps: [step()]).encoded()
        }
    }

    @Test func `reading a suite's records all at once gives the same state as one by one`() throws {
        var random = SeededGenerator(seed: faultSeed)
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let log = try defaults.writableStore("set").log
        var expected = SuiteState()
        for round in 0..<100 {
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                let body = Self.body(&random)
                let isControl = Int.random(in: 0..<40, using: &random) == 0
                expected.apply(body, at: try log.append(body, isControl: isControl).sequence, isControl: isControl)
            }
            let other = try #require(try SuiteStore.open(sample.container.opened, suite: "standard", creating: false))
            #expect(other.read { $0 } == expected, "seed \(faultSeed), round \(round)")
            #expect(try defaults.writableStore("set").read { $0 } == expected, "seed \(faultSeed), round \(round)")
        }
    }

    // fault: flipped-bit
    @Test func `a suite's broken record is reported, also where a later record replaces it`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let store = try defaults.writableStore("set")
        try defaults.set(1, forKey: "n")
        store.read { _ in }
        let (file, offset) = store.mark
        for number in 2...4 { try defaults.set(number, forKey: "n") }
        file.writableMap?.store32(offset + 48, 0xffff_ffff)
        let diagnostics = sample.container.followDiagnostics()
        let other = try #require(try SuiteStore.open(sample.container.opened, suite: "standard", creating: false))
        #expect(other.read { $0.entries["n"]?.value } == .integer(4))
        var feed = diagnostics
        #expect(feed.next(timeout: .zero)?.code == .defaultsDamaged)
    }

    @Test func `the sole key of a record is found only where the record sets just one`() {
        func key(_ bytes: [UInt8]) -> [UInt8]? {
            let padded = bytes + [UInt8](repeating: 0xff, count: 16)
            let range = SuiteRecord.soleKey(ofBody: bytes.count) { offset in
                (0..<8).reduce(0) { $0 | UInt64(padded[offset + $1]) << UInt64($1 * 8) }
            }
            return range.map { Array(bytes[$0]) }
        }
        func body(_ steps: SuiteRecord.Step...) -> [UInt8] {
            SuiteRecord(processIdentifier: 7, time: 8, purpose: "who", steps: steps).encoded()
        }
        let one = body(.set("opened", .string("x")))
        #expect(key(one) == Array("opened".utf8))
        for count in 0..<one.count { #expect(key(Array(one[..<count])) == nil) }
        #expect(key(body(.set("opened", .data([])))) == Array("opened".utf8))
        #expect(key(body()) == nil && key(body(.remove("opened"))) == nil && key(body(.removeAll)) == nil)
        #expect(key(body(.carried("opened", .bool(true), generation: 3))) == nil)
        #expect(key(body(.set("a", .bool(true)), .set("a", .bool(true)))) == nil)
    }
}
