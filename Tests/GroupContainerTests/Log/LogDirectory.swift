import GroupSystemCalls
import TestSupport

@testable import GroupContainer

/// The directory of a log, and the logs that members of one container open on it.
struct LogDirectory {
    let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    /// Each call is another member, with maps of its own. A new `incarnation` is a boot that no member saw.
    func open(incarnation: UInt8 = 1, container: UInt8 = 1, slot: Int? = 1, capacity: Int = 16_384) throws
        -> SegmentedLog
    {
        try SegmentedLog(
            name: "journal", directory: try temporary.open(".", [.reading, .directory]),
            SegmentedLog.Surroundings(
                container: [UInt8](repeating: container, count: 16),
                incarnation: [UInt8](repeating: incarnation, count: 16), slot: slot, fileMode: 0o600,
                capacity: capacity))
    }

    /// A file's bytes, as a program that knows nothing of logs sees them.
    func bytes(of number: Int) throws -> WritableMap {
        let file = try temporary.open("\(number).log")
        return try WritableMap(file, size: Int(file.status().size))
    }

    func flipBit(of number: Int, at place: Int) throws {
        let map = try bytes(of: number)
        map.write([map.bytes(place, count: 1)[0] ^ 4], at: place)
    }
}

extension SegmentedLog {
    /// Everything from a place on.
    func entries(behind start: LogPosition? = nil) throws(CoordinationError) -> [LogEntry] {
        var entries: [LogEntry] = []
        var place: LogPosition
        if let start { place = start } else { place = try self.start() }
        while let entry = try entry(behind: place) {
            entries.append(entry)
            place = entry.position
        }
        return entries
    }

    func texts(behind start: LogPosition? = nil) throws(CoordinationError) -> [String] {
        try entries(behind: start).map { String(decoding: $0.body, as: UTF8.self) }
    }

    @discardableResult
    func append(_ text: String) throws(CoordinationError) -> LogPosition { try append(Array(text.utf8)) }

    /// As a member that was stopped, or killed, in the middle of an append leaves it.
    func reserve(bodyCount: Int = 8, tries: Int = 0) throws(CoordinationError) -> (header: RecordHeader, offset: Int) {
        let file = try last()
        let offset = try file.findEnd().offset
        let header = RecordHeader(
            state: .reserved, isControl: false, units: Segment.byteCount(bodyCount: bodyCount) / 8, slot: 9,
            tries: tries)
        guard file.exchange(at: offset, nil, header) else { throw .damaged(name, operation: "reserve", "lost a race") }
        return (header, offset)
    }
}

extension RecordHeader {
    func becoming(_ state: State) -> RecordHeader {
        var header = self
        header.state = state
        return header
    }
}

extension SegmentedLog {
    /// The record behind a place, over what is missing; nil at the end.
    func entry(behind position: LogPosition) throws(CoordinationError) -> LogEntry? {
        var place = position
        while true {
            switch try step(behind: place) {
            case .entry(let entry): return entry
            case .gap(let next): place = next
            case .end: return nil
            case .lost: throw .damaged(name, operation: "read", "the place is lost")
            }
        }
    }
}
