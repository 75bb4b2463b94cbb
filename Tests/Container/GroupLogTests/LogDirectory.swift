import GroupSystemCalls
import TestSupport

@testable import GroupLog

/// The directory of a log, and the logs that members of one container open in it.
struct LogDirectory {
    let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    /// Opens the log as another member, with maps of its own. A new `incarnation` is a boot that no member saw.
    func open(
        incarnation: UInt8 = 1, identity: UInt8 = 1, writer: Int? = 1, capacity: Int = 16_384,
        largestCapacity: Int = Int(UInt32.max),
        wakingReaders wakeReaders: @escaping @Sendable () -> Void = {}
    ) throws -> SegmentedLog {
        var configuration = LogConfiguration(
            identity: [UInt8](repeating: identity, count: 16),
            incarnation: [UInt8](repeating: incarnation, count: 16), writer: writer, fileMode: 0o600)
        (configuration.capacity, configuration.largestCapacity) = (capacity, largestCapacity)
        configuration.wakeFirstReader = wakeReaders
        let descriptor = try temporary.open(".", [.reading, .directory])
        return try SegmentedLog(name: "journal", directory: descriptor, configuration)
    }

    /// Maps a segment's bytes without any knowledge of logs.
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
    /// Returns all entries from a place on.
    func entries(behind start: LogPosition? = nil) throws(LogFailure) -> [LogEntry] {
        var entries: [LogEntry] = []
        var place: LogPosition
        if let start { place = start } else { place = try self.start() }
        while let entry = try entry(behind: place) {
            entries.append(entry)
            place = entry.position
        }
        return entries
    }

    func texts(behind start: LogPosition? = nil) throws(LogFailure) -> [String] {
        try entries(behind: start).map { String(decoding: $0.body, as: UTF8.self) }
    }

    @discardableResult
    func append(_ text: String) throws(LogFailure) -> LogPosition { try append(Array(text.utf8)) }

    /// Reserves a record, and leaves it as a member does that is stopped or killed in the middle of an append.
    func reserve(bodyCount: Int = 8, tries: Int = 0) throws(LogFailure) -> (header: RecordHeader, offset: Int) {
        let file = try last()
        let offset = try file.findEnd().offset
        let header = RecordHeader(
            state: .reserved, isControl: false, units: Segment.byteCount(bodyCount: bodyCount) / 8, writer: 9,
            tries: tries)
        guard file.exchange(at: offset, nil, header) else { throw .damaged(name, operation: "reserve", .missing) }
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
    /// Returns the record behind a place, across gaps; nil at the end.
    func entry(behind position: LogPosition) throws(LogFailure) -> LogEntry? {
        var place = position
        while true {
            switch try step(behind: place) {
            case .entry(let entry): return entry
            case .gap(let next): place = next
            case .end: return nil
            case .lost: throw .damaged(name, operation: "read", .missing)
            }
        }
    }
}
