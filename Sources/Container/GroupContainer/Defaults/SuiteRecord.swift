// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// A change of a suite: one or several keys that were set or removed. Its bytes are the body of a record in the suite's
/// log.
struct SuiteRecord: Equatable, Sendable {
    /// A step of a change: usually what is done to one key.
    enum Step: Equatable, Sendable {
        case set(String, DefaultsValue)
        case remove(String)
        case removeAll
        /// A number was added to a key's number; the value after it.
        case added(String, Int64, DefaultsValue)
        /// The record has what was set elsewhere, up to that number of its source.
        case source(number: UInt64)
        /// A value as it was when the log was compacted, with the sequence number of the change that set it.
        case carried(String, DefaultsValue, generation: UInt64)
    }

    var processIdentifier: Int32
    /// Nanoseconds since 1970.
    var time: Int64
    var purpose: String
    var steps: [Step]

    private static let kind: UInt8 = 1

    private enum StepKind {
        static let set: UInt8 = 1
        static let remove: UInt8 = 2
        static let removeAll: UInt8 = 3
        static let carried: UInt8 = 4
        static let added: UInt8 = 5
        static let source: UInt8 = 6
    }

    /// Returns the bytes of a record before its time and steps, so that a writer makes them only once.
    static func prefix(processIdentifier: Int32, purpose: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(kind)
        writer.write(UInt8(0))
        writer.write(processIdentifier)
        writer.write(counted: Array(purpose.utf8))
        return writer.bytes
    }

    static func encode(_ steps: [Step], prefix: [UInt8], time: Int64) -> [UInt8] {
        var writer = ByteWriter(capacity: prefix.count + 64)
        writer.write(raw: prefix)
        writer.write(time)
        for step in steps { step.encode(into: &writer) }
        return writer.bytes
    }

    func encoded() -> [UInt8] {
        Self.encode(
            steps, prefix: Self.prefix(processIdentifier: processIdentifier, purpose: purpose), time: time)
    }

    /// Decodes a record. Throws where the bytes are no record, or one that only a newer version understands; the caller
    /// keeps the bytes in both cases.
    init(decoding bytes: [UInt8]) throws(ByteReader.TooShort) {
        var reader = ByteReader(bytes)
        guard try reader.number(UInt8.self) == Self.kind else { throw ByteReader.TooShort() }
        _ = try reader.number(UInt8.self)
        processIdentifier = try reader.number()
        let length = Int(try reader.number(UInt16.self))
        purpose = try reader.text(length)
        time = try reader.number()
        steps = try Self.steps(from: &reader)
    }

    /// Decodes the steps only, without the writer and the time.
    static func steps(in bytes: [UInt8]) throws(ByteReader.TooShort) -> [Step] {
        var reader = ByteReader(bytes)
        guard try reader.number(UInt8.self) == Self.kind else { throw ByteReader.TooShort() }
        try reader.skip(5)
        try reader.skip(Int(reader.number(UInt16.self)) + 8)
        return try steps(from: &reader)
    }

    /// Returns the range of the key in a body whose only step is to set a key. `word` returns the eight bytes from an
    /// offset on.
    static func soleKey(ofBody count: Int, _ word: (_ offset: Int) -> UInt64) -> Range<Int>? {
        // The layout: kind, zero, process and the length of the purpose; the purpose; the time; then the step.
        if count < 8 { return nil }
        let first = word(0)
        let step = 8 + Int(first >> 48) + 8
        guard UInt8(truncatingIfNeeded: first) == kind, step + 3 <= count else { return nil }
        let second = word(step)
        let key = step + 3
        let value = key + Int(second >> 8 & 0xffff)
        guard UInt8(truncatingIfNeeded: second) == StepKind.set, value + 4 <= count,
            value + 4 + Int(word(value) & 0xffff_ffff) == count
        else { return nil }
        return key..<value
    }

    private static func steps(from reader: inout ByteReader) throws(ByteReader.TooShort) -> [Step] {
        var steps: [Step] = []
        while reader.remaining > 0 { steps.append(try Step(from: &reader)) }
        return steps
    }

    init(processIdentifier: Int32, time: Int64, purpose: String, steps: [Step]) {
        self.processIdentifier = processIdentifier
        self.time = time
        self.purpose = purpose
        self.steps = steps
    }
}

extension SuiteRecord.Step {
    var key: String? {
        switch self {
        case .set(let key, _), .remove(let key), .added(let key, _, _), .carried(let key, _, _): key
        case .removeAll, .source: nil
        }
    }

    fileprivate func encode(into writer: inout ByteWriter) {
        switch self {
        case .set(let key, let value):
            writer.write(SuiteRecord.StepKind.set)
            writer.write(text: key)
            value.encodeCounted(into: &writer)
        case .remove(let key):
            writer.write(SuiteRecord.StepKind.remove)
            writer.write(text: key)
        case .removeAll: writer.write(SuiteRecord.StepKind.removeAll)
        case .added(let key, let number, let value):
            writer.write(SuiteRecord.StepKind.added)
            writer.write(text: key)
            writer.write(number)
            value.encodeCounted(into: &writer)
        case .source(let number):
            writer.write(SuiteRecord.StepKind.source)
            writer.write(number)
        case .carried(let key, let value, let generation):
            writer.write(SuiteRecord.StepKind.carried)
            writer.write(text: key)
            writer.write(generation)
            value.encodeCounted(into: &writer)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteReader.TooShort) {
        switch try reader.number(UInt8.self) {
        case SuiteRecord.StepKind.set:
            let key = try reader.countedText()
            self = .set(key, try Self.value(from: &reader))
        case SuiteRecord.StepKind.remove: self = .remove(try reader.countedText())
        case SuiteRecord.StepKind.removeAll: self = .removeAll
        case SuiteRecord.StepKind.added:
            let key = try reader.countedText()
            let number: Int64 = try reader.number()
            self = .added(key, number, try Self.value(from: &reader))
        case SuiteRecord.StepKind.source: self = .source(number: try reader.number())
        case SuiteRecord.StepKind.carried:
            let key = try reader.countedText()
            let generation: UInt64 = try reader.number()
            self = .carried(key, try Self.value(from: &reader), generation: generation)
        default: throw ByteReader.TooShort()
        }
    }

    private static func value(from reader: inout ByteReader) throws(ByteReader.TooShort) -> DefaultsValue {
        let count = Int(try reader.number(UInt32.self))
        return try DefaultsValue(from: &reader, count: count)
    }
}
