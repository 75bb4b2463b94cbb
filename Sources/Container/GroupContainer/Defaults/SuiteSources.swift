import GroupBytes
import GroupLog
import GroupSystemCalls

/// Where a change of a suite was made.
package enum Origin: Hashable, Sendable {
    /// By a process of this container, here.
    case here
    /// Elsewhere: this container has everything up to that number of the source.
    case source(UInt64)
}

/// Values that come from elsewhere.
extension GroupDefaults {
    /// Sets values that are what a source has up to a number, but for keys that a process has set since the change with
    /// the sequence number `sequence`. Returns those keys. `purpose` names who has set the values.
    package func setFromSource(
        _ values: [(key: String, value: DefaultsValue?)], purpose: String, number: UInt64,
        unlessSetSince sequence: SequenceNumber
    ) throws(CoordinationError) -> Set<String> {
        try container.opened.locating { () throws(CoordinationError) -> Set<String> in
            let store = try writableStore("set")
            let writer = SuiteRecord.prefix(processIdentifier: processIdentifier(), purpose: purpose)
            var attempt = AppendAttempt()
            defer { attempt.end() }
            while true {
                var reads = SuiteReads()
                reads.keys = try store.checkedRead { state in
                    Dictionary(values.map { ($0.key, state.generation(of: $0.key)) }) { first, _ in first }
                }
                let left = Set(reads.keys.filter { $0.value > sequence.rawValue }.keys)
                for key in left { reads.keys[key] = nil }
                if reads.keys.isEmpty { return left }
                let steps = values.filter { !left.contains($0.key) }.map { key, value in
                    value.map { SuiteRecord.Step.set(key, $0.canonical) } ?? .remove(key)
                }
                // Nil where a process has set one of them meanwhile.
                if try store.append([.source(number: number)] + steps, if: reads, by: writer, &attempt) != nil {
                    return left
                }
            }
        }
    }

    /// A position before all others, if the log has dropped its beginning already; nil where it is still there.
    package var firstPosition: Cursor? {
        get throws(CoordinationError) {
            let first = LogPosition(segment: 1, offset: 0, sequence: 0, checksum: 0)
            let cursor = Cursor(first, in: container.opened.journal.container)
            return try hasDropped(cursor) ? cursor : nil
        }
    }

    /// Returns whether the suite's log has dropped a position because so much was set since. All that was set since is
    /// among the values that are set now. False where the log ends before that position, as after a power cut.
    package func hasDropped(_ cursor: Cursor) throws(CoordinationError) -> Bool {
        try container.opened.locating { () throws(CoordinationError) -> Bool in
            guard let store = try store(creating: false),
                let position = cursor.position(in: container.opened.journal.container)
            else { return false }
            return try translating(store.log.start()).segment > position.segment
        }
    }

    /// The approximate size of all keys and values, in bytes.
    package var size: Int { (try? store(creating: false)).flatMap { $0 }?.read { $0.size } ?? 0 }

    /// Writes everything that was set so far to the disk. Errors: `notDurable`
    package func synchronizeAll() throws(CoordinationError) { try flush() }
}

extension DefaultsValue {
    /// The value as bytes, as in a record of a suite.
    package var recordBytes: [UInt8] {
        var writer = ByteWriter()
        encodeCounted(into: &writer)
        return writer.bytes
    }

    /// Reads a value from bytes that may be anything; nil for what is no value.
    package init?(recordBytes bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let count = try? reader.number(UInt32.self), Int(count) == reader.remaining,
            let value = try? DefaultsValue(from: &reader, count: Int(count)), reader.remaining == 0,
            value.depth <= DefaultsValue.maximumDepth
        else { return nil }
        self = value
    }
}

extension Container {
    /// Whether a suite or channel is this package's own, such as the channel of the links that an app opens.
    package static func isOwnName(_ name: String) -> Bool { name.hasPrefix("group-container.") }

    /// Returns the names of the suites that exist, without those of this package's own modules.
    package func suiteNames() -> [String] {
        opened.directory.storeNames(of: .suite).filter { !Self.isOwnName($0) }
    }

    /// Returns the names of the channels that exist, without those of this package's own modules.
    package func channelNames() -> [String] {
        opened.directory.storeNames(of: .channel).filter { !Self.isOwnName($0) }
    }

    /// The directories in which suites and channels appear.
    package var storeDirectories: [[UInt8]] {
        ["defaults", "channels"].map { path.bytes + Array("/.group/\($0)".utf8) }
    }
}
