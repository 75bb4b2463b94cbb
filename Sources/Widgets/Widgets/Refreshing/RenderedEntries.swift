import FoundationEssentials
import GroupProtocolLines

/// Encoding of a timeline's entries, without its policy, into bytes that are compared with the last ones and stored.
enum RenderedEntries {
    /// Encodes a timeline's entries; nil if they contain a number that JSON cannot hold.
    static func encoded<Snapshot>(_ timeline: Timeline<Snapshot>) -> [UInt8]? { ProtocolLine.encoded(timeline.entries) }

    /// Decodes entries; nil if they are of another type, or there are none.
    static func decoded<Snapshot>(_ type: Snapshot.Type, from bytes: [UInt8]) -> Timeline<Snapshot>? {
        guard let entries = ProtocolLine.decoded([Timeline<Snapshot>.Entry].self, from: bytes),
            let first = entries.first
        else { return nil }
        return Timeline(first: first, later: Array(entries.dropFirst()))
    }
}
