import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.ownThreads, .timeLimit(.minutes(1)))
struct `Suite compaction` {
    /// Sets keys until the suite has this many segments; returns the last value.
    private static func fill(_ defaults: GroupDefaults, files: UInt64) throws -> Int {
        let store = try defaults.writableStore("set")
        var number = 0
        while try store.log.last().header.number < files {
            number += 1
            try defaults.set(number, forKey: "n\(number % 10)")
        }
        return number
    }

    private static func mark(of defaults: GroupDefaults) throws -> (segment: Segment, offset: Int) {
        let store = try defaults.writableStore("set")
        store.read { _ in }
        return store.mark
    }

    @Test func `compacting a full suite keeps every key and its generation`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set("kept", forKey: "first")
        try defaults.set("gone", forKey: "second")
        try defaults.removeValue(forKey: "second")
        let generation = try defaults.readVersion(forKey: "first").generation
        let last = try Self.fill(defaults, files: 5)
        let store = try defaults.writableStore("set")
        let expected = defaults.dictionaryRepresentation()
        #expect(expected["first"] == .string("kept") && expected["second"] == nil && expected.count == 11)
        #expect(expected["n\(last % 10)"] == .integer(last))
        // The oldest segments are gone, and a new reader gets the same state.
        #expect(try store.log.segmentNumbers().first != 1)
        let other = try #require(try SuiteStore.open(sample.container.opened, suite: "standard", creating: false))
        #expect(other.read { $0 } == store.read { $0 })
        #expect(other.read { $0.generation(of: "first") } == generation.rawValue)
        #expect(other.read { $0.generation } == UInt64(last) + 3)
    }

    @Test func `compacting a suite keeps records that only a newer version understands`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let store = try defaults.writableStore("set")
        _ = try store.log.append([99, 1, 2, 3])
        _ = try Self.fill(defaults, files: 4)
        let other = try #require(try SuiteStore.open(sample.container.opened, suite: "standard", creating: false))
        #expect(other.read { $0.unknown } == [[99, 1, 2, 3]])
    }

    @Test func `segments grow with their suite, so that a set keeps its cost`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        for number in 0..<20_000 { try defaults.set("value \(number)", forKey: "key \(number)") }
        let store = try defaults.writableStore("set")
        let file = try store.log.last()
        let number = file.header.number
        // Another 20,000 sets make three segments at most: each holds several times the suite's size.
        for key in 0..<20_000 { try defaults.set("other \(key)", forKey: "key \(key)") }
        #expect(try store.log.last().header.number <= number + 3)
        #expect(defaults.dictionaryRepresentation().count == 20_000)
    }

    @Test func `a slow follower of a compacted suite gets one rescan and the differences`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(0, forKey: "n1")
        try defaults.set("gone", forKey: "second")
        let store = try defaults.writableStore("set")
        // The late store acts as a process that was stopped: it has no segment mapped.
        let late = try #require(try SuiteStore.open(sample.container.opened, suite: "standard", creating: false))
        var reader = try KeyFeed(late, in: sample.container, keys: nil, since: .now)
        let cursor = reader.cursor
        try defaults.removeValue(forKey: "second")
        _ = try Self.fill(defaults, files: 9)
        late.log.forgetAll(last: try store.log.last().header.number)
        #expect(try store.log.segmentNumbers().first ?? 0 > 2)
        var changes: [DefaultsChange] = []
        while let change = try reader.next() { changes.append(change) }
        #expect(changes.first?.kind == .rescan && changes.filter { $0.kind == .rescan }.count == 1)
        #expect(changes.contains { $0.key == "second" && $0.kind == .removed && $0.oldValue == .string("gone") })
        let values = Dictionary(uniqueKeysWithValues: changes.filter { $0.kind == .set }.map { ($0.key, $0.newValue) })
        #expect(values == defaults.dictionaryRepresentation().mapValues { $0 })
        // A cursor from that time gives the same.
        var back = try KeyFeed(late, in: sample.container, keys: nil, since: .cursor(cursor))
        #expect(try back.next()?.kind == .rescan)
        #expect(try back.next()?.kind == .present)
    }

    // fault: flipped-bit
    @Test func `a suite's damaged record is skipped and reported`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "a")
        let before = try Self.mark(of: defaults)
        try defaults.set(2, forKey: "a")
        try defaults.set(3, forKey: "b")
        before.segment.writableMap?.store32(before.offset + 16, 0xffff_ffff)
        let diagnostics = sample.container.followDiagnostics()
        let other = try #require(try SuiteStore.open(sample.container.opened, suite: "standard", creating: false))
        #expect(other.read { $0.entries.mapValues(\.value) } == ["a": .integer(1), "b": .integer(3)])
        var feed = diagnostics
        #expect(feed.next(timeout: .zero)?.code == .defaultsDamaged)
        // A follower gets the damage once, and goes on.
        var reader = try KeyFeed(other, in: sample.container, keys: nil, since: .start)
        #expect(try reader.next()?.key == "a")
        #expect(try reader.next()?.key == "")
        #expect(try reader.next()?.key == "b")
        // The suite can still be set, changed and compacted.
        #expect(try defaults.update(.init("a", default: 0)) { $0 += 10 } > 10)
        _ = try Self.fill(defaults, files: 3)
        #expect(defaults.integer(forKey: "b") == 3)
    }

    // fault: flipped-bit
    @Test func `a suite with a broken record header ends there, and can be set again behind it`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "a")
        let before = try Self.mark(of: defaults)
        try defaults.set(2, forKey: "b")
        before.segment.writableMap?.store64(before.offset, 0x1234)
        let other = try #require(try SuiteStore.open(sample.container.opened, suite: "standard", creating: false))
        #expect(other.read { $0.entries.mapValues(\.value) } == ["a": .integer(1)])
        var attempt = AppendAttempt()
        #expect(try other.append([.set("c", .integer(3))], if: .init(), by: defaults.writer, &attempt) != nil)
        #expect(other.read { $0.entries.mapValues(\.value) } == ["a": .integer(1), "c": .integer(3)])
    }
}
