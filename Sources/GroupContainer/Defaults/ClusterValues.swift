import GroupBytes
import GroupLog
import GroupSystemCalls

/// What a container's cluster sets in its suites.
extension GroupDefaults {
    /// Sets values that are what the cluster has, if the suite's last change still has that number. Returns the place after
    /// the record, or nil where another process has changed the suite since. `index` is that of the cluster's last entry.
    package func setFromCluster(
        _ values: [(key: String, value: DefaultsValue?)], index: UInt64, ifLastIs sequence: SequenceNumber
    ) throws(CoordinationError) -> SequenceNumber? {
        try container.opened.locating { () throws(CoordinationError) -> SequenceNumber? in
            let store = try writableStore("set")
            var attempt = AppendAttempt()
            defer { attempt.end() }
            var reads = SuiteReads()
            reads.suite = sequence.rawValue
            let steps = values.map { key, value in value.map { SuiteRecord.Step.set(key, $0) } ?? .remove(key) }
            let place = try store.append(
                [.fromCluster(index: index)] + steps, if: reads, by: writer, &attempt)
            return place.map { SequenceNumber(rawValue: $0.sequence) }
        }
    }

    /// Writes everything that was set so far to the disk. Errors: `notDurable`
    package func synchronizeAll() throws(CoordinationError) { try flush() }
}

extension DefaultsValue {
    /// The value as bytes, as in a record of a suite.
    package var clusterBytes: [UInt8] {
        var writer = ByteWriter()
        encodeCounted(into: &writer)
        return writer.bytes
    }

    /// Reads a value from bytes that may be anything; nil for what is no value.
    package init?(clusterBytes bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let count = try? reader.number(UInt32.self), Int(count) == reader.remaining,
            let value = try? DefaultsValue(from: &reader, count: Int(count)), reader.remaining == 0,
            value.depth <= DefaultsValue.maximumDepth
        else { return nil }
        self = value
    }
}

extension Container {
    /// Returns the names of the suites that exist, without those of this package's own modules.
    package func suiteNames() -> [String] {
        opened.directory.storeNames(of: .suite).filter { !$0.hasPrefix("group-container.") }
    }

    /// Returns the names of the channels that exist.
    package func channelNames() -> [String] { opened.directory.storeNames(of: .channel) }

    /// The directories in which suites and channels appear.
    package var storeDirectories: [[UInt8]] {
        ["defaults", "channels"].map { path.bytes + Array("/.group/\($0)".utf8) }
    }
}
