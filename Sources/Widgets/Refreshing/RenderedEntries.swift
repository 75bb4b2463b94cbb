package import FoundationEssentials

/// What can be seen of a timeline, as bytes that are compared and kept: its entries, not when it asks for a refresh.
enum RenderedEntries {
    /// Nil: it holds a number that JSON cannot hold.
    static func encoded<Snapshot>(_ timeline: Timeline<Snapshot>) -> [UInt8]? { ProtocolLine.encoded(timeline.entries) }

    /// Nil: they are of another type.
    static func decoded<Snapshot>(_ type: Snapshot.Type, from bytes: [UInt8]) -> Timeline<Snapshot>? {
        guard let entries = ProtocolLine.decoded([Timeline<Snapshot>.Entry].self, from: bytes),
            let first = entries.first
        else { return nil }
        return Timeline(first: first, Array(entries.dropFirst()))
    }
}

extension Date {
    /// Since 1970.
    package init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

extension Int64 {
    /// Since 1970; the nearest that there is.
    package init(nanosecondsOf date: Date) {
        let time = date.timeIntervalSince1970 * 1e9
        self = time.isNaN ? .max : Int64(exactly: time.rounded()) ?? (time < 0 ? .min : .max)
    }
}
