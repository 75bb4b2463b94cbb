import FoundationEssentials
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

private struct Item: Codable, Equatable, Sendable {
    var title: String
    var done = false
}

extension GroupDefaults.Key<Int> { fileprivate static let opened = Self("opened", default: 7) }
extension GroupDefaults.Key<[Item]> { fileprivate static let items = Self("items", default: []) }

@Suite(.timeLimit(.minutes(1)))
struct `Suites of defaults` {
    @Test func `a suite returns values of each type to every reader`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let values: [String: DefaultsValue] = [
            "bool": true.defaultsValue, "integer": .integer(.min), "double": .double(-0.5), "float": .float(12.34),
            "string": .string("ä\0\n"), "data": .data([0, 255]),
            "date": .date(Date(timeIntervalSinceReferenceDate: -1.5)), "url": .url("file:///a"),
            "array": .array([.integer(1), .array([]), .string("")]), "json": .json([123, 125]),
            "dictionary": .dictionary(["": .bool(false), "a": .dictionary([:])]), "empty": .data([]),
            "newer": .unknown(kind: 200, [1, 2]), "": .string("of the empty key"),
        ]
        for (key, value) in values { try defaults.set(value, forKey: key) }
        #expect(defaults.dictionaryRepresentation() == values)
        // The other reader reads the log from the file.
        let other = try SuiteStore.open(sample.container.opened, suite: "standard", creating: false)
        #expect(try #require(other).read { $0.entries.mapValues(\.value) } == values)
        try defaults.removeValue(forKey: "bool")
        #expect(defaults.value(forKey: "bool") == nil)
        try defaults.removeAll()
        #expect(defaults.dictionaryRepresentation().isEmpty)
        #expect(try #require(other).read { $0.entries.isEmpty && $0.size == 0 })
    }

    @Test func `reading a suite that does not exist does not create it`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container, suite: "a suite")
        #expect(defaults.integer(forKey: "n") == 0)
        #expect(try sample.container.opened.directory.existingDirectory("defaults/a suite") == nil)
        try defaults.set(1, forKey: "n")
        #expect(try sample.container.opened.directory.existingDirectory("defaults/a suite") != nil)
        #expect(defaults.integer(forKey: "n") == 1)
    }

    @Test(arguments: ["", "a/b", ".", "..", ".hidden", "a\0b", String(repeating: "x", count: 201)])
    func `a suite name that is no file name is refused`(name: String) throws {
        let sample = try SampleContainer()
        #expect(code { try GroupDefaults(sample.container, suite: name) } == .invalidArgument)
    }

    @Test func `an unset key has its registered value, or else its default`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        #expect(defaults[.opened] == 7)
        defaults.register(defaults: ["opened": .string("12")])
        #expect(defaults[.opened] == 12)
        #expect(defaults.integer(forKey: "opened") == 12)
        try defaults.set(3, for: .opened)
        #expect(defaults[.opened] == 3)
        try defaults.remove(.opened)
        #expect(defaults[.opened] == 12)
        #expect(defaults.dictionaryRepresentation().isEmpty)
    }

    @Test func `Codable values are kept as JSON, and decoded from arrays that others set`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let items = [Item(title: "Milk"), Item(title: "Ä", done: true)]
        try defaults.set(items, for: .items)
        #expect(defaults[.items] == items)
        #expect(defaults.array(forKey: "items")?.count == 2)
        try defaults.set(
            .array([.dictionary(["title": .string("Bread"), "done": .bool(false)])]), forKey: "items")
        #expect(defaults[.items] == [Item(title: "Bread")])
        try defaults.set("text", forKey: "items")
        #expect(defaults[.items] == [])
        #expect(code { try defaults.read(.items) } == .invalidContent)
        #expect(code { try defaults.update(.items) { $0 = [] } } == .invalidContent)
        #expect(defaults.string(forKey: "items") == "text")
    }

    @Test func `an update reads, changes and sets a key as one step`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        #expect(try defaults.update(.opened) { $0 += 1 } == 8)
        #expect(try defaults.update(.opened) { $0 += 1 } == 9)
        struct Stop: Error {}
        #expect(throws: Stop.self) { try defaults.update(.opened) { _ in throw Stop() } }
        #expect(defaults[.opened] == 9)
        // Another writer sets the key in between, once.
        var runs = 0
        try defaults.update(.opened) { value in
            runs += 1
            if runs == 1 { try GroupDefaults(sample.container).set(100, for: .opened) }
            value += 1
        }
        #expect(runs == 2 && defaults[.opened] == 101)
        // A change of another key does not repeat the update.
        runs = 0
        try defaults.update(.opened) { value in
            runs += 1
            try GroupDefaults(sample.container).set(runs, forKey: "other")
            value += 1
        }
        #expect(runs == 1 && defaults[.opened] == 102)
    }

    @Test func `a transaction sets several keys at once or none`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "a")
        var follower = try defaults.follow()
        try defaults.transaction { transaction in
            let a = transaction.value(forKey: "a")?.integerValue ?? 0
            transaction.set(.integer(a + 1), forKey: "a")
            transaction.set(.integer(a - 1), forKey: "b")
            #expect(transaction.value(forKey: "b") == .integer(0))
            #expect(transaction.dictionaryRepresentation().count == 2)
        }
        let changes = [try follower.next(timeout: .zero), try follower.next(timeout: .zero)].compactMap(\.self)
        #expect(changes.map(\.key) == ["a", "b"])
        #expect(
            changes.map(\.oldValue) == [.integer(1), nil] && changes.map(\.newValue) == [.integer(2), .integer(0)])
        #expect(Set(changes.map(\.generation)).count == 1 && changes.map(\.part) == [0, 1])
        // A transaction that only reads changes nothing.
        try defaults.transaction { _ = $0.value(forKey: "a") }
        #expect(try follower.next(timeout: .zero) == nil)
        try defaults.transaction {
            $0.removeAll()
            $0.set(.bool(true), forKey: "c")
        }
        #expect(defaults.dictionaryRepresentation() == ["c": .bool(true)])
    }

    @Test func `the generation of a suite is that of its last change, of any key`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        #expect(try defaults.readGeneration() == .unset)
        let first = try defaults.set(.string("x"), forKey: "k")
        #expect(try defaults.readGeneration() == first)
        let second = try GroupDefaults(sample.container).set(.string("x"), forKey: "other")
        #expect(try second > first && defaults.readGeneration() == second)
        #expect(try defaults.readVersion(forKey: "k").generation == first)
        try defaults.removeValue(forKey: "k")
        #expect(try defaults.readGeneration() > second)
    }

    @Test func `a conditional set compares the generation or the value`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let first = try defaults.set(.string("x"), forKey: "k", if: .generation(.unset))
        #expect(code { try defaults.set(.string("y"), forKey: "k", if: .generation(.unset)) } == .conflict)
        let conflict = #expect(throws: CoordinationError.self) {
            try defaults.set(.string("y"), forKey: "k", if: .generation(.unset))
        }
        #expect(conflict?.generation == first)
        #expect(try defaults.readVersion(forKey: "k").generation == first)
        let second = try defaults.set(.string("y"), forKey: "k", if: .generation(first))
        #expect(second > first)
        #expect(try defaults.compareAndSet(forKey: "k", from: .string("x"), to: .string("z")) == false)
        #expect(try defaults.compareAndSet(forKey: "k", from: .string("y"), to: nil))
        #expect(try defaults.compareAndSet(forKey: "k", from: nil, to: .integer(1)))
        #expect(defaults.integer(forKey: "k") == 1)
    }

    @Test func `a value that is to be absent is set once, and always however often`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let first = try defaults.set(.integer(1), forKey: "k", if: .absent)
        let conflict = #expect(throws: CoordinationError.self) {
            try defaults.set(.integer(1), forKey: "k", if: .absent)
        }
        #expect(conflict?.code == .conflict && conflict?.generation == first)
        #expect(try defaults.readVersion(forKey: "k") == Versioned(value: .integer(1), generation: first))
        let second = try defaults.set(.integer(2), forKey: "k", if: .always)
        #expect(try defaults.set(.integer(3), forKey: "other", if: .always) > second && second > first)
        try defaults.set(nil, forKey: "k", if: .always)
        #expect(try defaults.readVersion(forKey: "k") == Versioned(value: nil, generation: .unset))
        let again = try defaults.set(.integer(4), forKey: "k", if: .absent, durability: .durable)
        #expect(try defaults.readVersion(forKey: "k") == Versioned(value: .integer(4), generation: again))
        // A removal has a condition, too.
        #expect(code { try defaults.set(nil, forKey: "k", if: .absent) } == .conflict)
        #expect(defaults.integer(forKey: "k") == 4)
    }

    @Test func `a key, value or transaction that is too large is refused, and nothing is lost`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "n")
        #expect(code { try defaults.set(1, forKey: String(repeating: "k", count: 1_025)) } == .limitReached)
        let large = DefaultsValue.data([UInt8](repeating: 1, count: (16 << 20) + 1))
        #expect(code { try defaults.set(large, forKey: "n") } == .limitReached)
        var deep = DefaultsValue.integer(1)
        for _ in 0..<DefaultsValue.maximumDepth { deep = .array([deep]) }
        #expect(code { try defaults.set(deep, forKey: "n") } == .limitReached)
        let half = DefaultsValue.data([UInt8](repeating: 1, count: 13 << 20))
        let halves = code {
            try defaults.transaction { transaction in
                for key in ["a", "b"] { transaction.set(half, forKey: key) }
            }
        }
        #expect(halves == .limitReached)
        #expect(defaults.integer(forKey: "n") == 1)
        // The largest key and value fit, though the suite began small.
        let largest = DefaultsValue.data([UInt8](repeating: 1, count: (16 << 20) - 100))
        try defaults.set(largest, forKey: String(repeating: "k", count: 1_024))
        #expect(defaults.value(forKey: String(repeating: "k", count: 1_024)) == largest)
        #expect(defaults.integer(forKey: "n") == 1)
    }

    @Test func `a mark of a suite shows whether a key was set since`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        #expect(defaults.mark == nil)
        try defaults.set(1, forKey: "n")
        let mark = try #require(defaults.mark)
        #expect(!defaults.hasChanged(since: mark))
        try GroupDefaults(sample.container).set(1, forKey: "n")
        #expect(defaults.hasChanged(since: mark))
        #expect(!defaults.hasChanged(since: try #require(defaults.mark)))
    }

    @Test func `a durable set or a flush is on the disk when it returns`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "n", durability: .durable)
        let store = try #require(try defaults.store(creating: false))
        func isDurable() -> Bool {
            store.read { _ in }
            let (file, offset) = store.mark
            return file.map.load64(SegmentHeader.durableMark) == UInt64(offset)
        }
        #expect(isDurable())
        try defaults.set(2, forKey: "n")
        #expect(!isDurable())
        try defaults.flush()
        #expect(isDurable())
    }
}
