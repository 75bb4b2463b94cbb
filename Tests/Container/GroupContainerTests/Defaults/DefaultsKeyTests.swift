import FoundationEssentials
import TestSupport
import Testing

@testable import GroupContainer

private struct Reading: Codable, Equatable, Sendable { var value: Double }

/// A type that is kept as a number instead of JSON.
private struct Level: DefaultsRepresentable, Equatable, Sendable {
    var number: Int
    var defaultsValue: DefaultsValue { .integer(number) }

    init(_ number: Int) { self.number = number }

    init?(defaultsValue: DefaultsValue) {
        guard let number = defaultsValue.integerValue, number >= 0 else { return nil }
        self.number = number
    }
}

extension GroupDefaults.Key<Bool> { fileprivate static let dark = Self("dark", default: true) }
extension GroupDefaults.Key<Double> { fileprivate static let scale = Self("scale", default: 1.5) }
extension GroupDefaults.Key<Float> { fileprivate static let gain = Self("gain", default: 0.5) }
extension GroupDefaults.Key<Level> { fileprivate static let level = Self("level", default: Level(7)) }
extension GroupDefaults.Key<Reading> { fileprivate static let reading = Self("reading", default: Reading(value: 0)) }

@Suite(.timeLimit(.minutes(1)))
struct `Typed keys` {
    @Test func `a typed key has its default until it is set`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        #expect(defaults[.dark] == true)
        #expect(defaults[.scale] == 1.5)
        #expect(defaults[.gain] == 0.5)
        #expect(defaults[.level] == Level(7))
        try defaults.set(false, for: .dark)
        try defaults.set(2.5, for: .scale)
        try defaults.set(0.25, for: .gain)
        try defaults.set(Level(3), for: .level)
        #expect(defaults[.dark] == false)
        #expect(defaults[.scale] == 2.5)
        #expect(defaults[.gain] == 0.25)
        #expect(defaults[.level] == Level(3))
        #expect(try defaults.read(.dark) == false)
        #expect(try defaults.read(.scale) == 2.5)
        #expect(defaults.value(forKey: "dark") == .bool(false))
        #expect(defaults.value(forKey: "gain") == .float(0.25))
        #expect(defaults.value(forKey: "level") == .integer(3))
    }

    @Test func `a stored value of another type is an error on reading, and stays`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        for key in ["dark", "scale", "gain"] { try defaults.set(.data([1]), forKey: key) }
        try defaults.set(.integer(-1), forKey: "level")
        #expect(code { try defaults.read(.dark) } == .invalidContent)
        #expect(code { try defaults.read(.scale) } == .invalidContent)
        #expect(code { try defaults.read(.gain) } == .invalidContent)
        #expect(code { try defaults.read(.level) } == .invalidContent)
        #expect(defaults[.dark] == true)
        #expect(defaults[.scale] == 1.5)
        #expect(defaults[.level] == Level(7))
        #expect(code { try defaults.update(.level) { $0 = Level(1) } } == .invalidContent)
        #expect(defaults.value(forKey: "level") == .integer(-1))
        #expect(code { try defaults.set(Reading(value: .nan), for: .reading) } == .invalidContent)
        #expect(defaults.value(forKey: "reading") == nil)
    }

    @Test func `a typed key can be read and set in a transaction`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let generation = try defaults.set(2, for: .scale)
        try defaults.transaction { transaction in
            #expect(transaction[.scale] == 2)
            #expect(transaction[.level] == Level(7))
            #expect(transaction.generation(ofKey: "scale") == generation)
            #expect(transaction.generation(ofKey: "level") == 0)
            try transaction.set(Level(1), for: .level)
            #expect(transaction[.level] == Level(1))
        }
        #expect(defaults[.level] == Level(1))
        // Reading only a key's generation counts as reading the key.
        var runs = 0
        try defaults.transaction { transaction in
            runs += 1
            _ = transaction.generation(ofKey: "scale")
            if runs == 1 { try GroupDefaults(sample.container).set(3, for: .scale) }
            try transaction.set(Level(runs), for: .level)
        }
        #expect(runs == 2)
        #expect(defaults[.level] == Level(2))
    }
}
