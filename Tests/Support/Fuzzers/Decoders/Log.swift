import GroupBytes
import GroupSystemCalls

@testable import GroupLog

/// The only segment of a log. The bytes describe its records one after the other: their states, and what is wrong with
/// them. A reader gets exactly the whole records, up to the first record that is not whole.
extension Decoder {
    private static let salt: UInt64 = 0x1234_5678_9abc_def0
    private static let capacity = 8_192
    private static let identity = [UInt8](repeating: 3, count: 16)

    /// The kind of a piece, in its first byte; the next byte is its length.
    private enum Piece: UInt8, CaseIterable {
        case committed, control, aborted, reserved, seal, wrongChecksum, wrongLength, wrongHeader
    }

    private struct Content {
        var bytes = [UInt8](repeating: 0, count: capacity)
        var end = SegmentHeader.size
        /// The records before the first damaged one, or before the log's end.
        var expected: [[UInt8]] = []
        var isBroken = false
        var isOver = false

        mutating func put(_ words: [UInt8], at place: Int) {
            bytes.replaceSubrange(place..<place + words.count, with: words)
        }

        mutating func put(_ word: UInt64, at place: Int) {
            var writer = ByteWriter()
            writer.write(word)
            put(writer.bytes, at: place)
        }

        /// Returns false if there is no room.
        mutating func append(_ piece: Piece, _ body: [UInt8]) -> Bool {
            let count = Segment.byteCount(bodyCount: body.count)
            if end + count > capacity - 8 { return false }
            let states: [Piece: RecordHeader.State] = [.aborted: .aborted, .reserved: .reserved, .seal: .seal]
            let header = RecordHeader(
                state: states[piece] ?? .committed, isControl: piece == .control || piece == .seal, units: count / 8,
                writer: 1, tries: 0)
            let word = header.encoded(offset: end, salt: salt)
            put(piece == .wrongHeader ? word ^ 1 << (48 + UInt64((body.first ?? 0) % 16)) : word, at: end)
            var writer = ByteWriter()
            writer.write(UInt32(piece == .wrongLength ? body.count + 8 : body.count))
            writer.write(raw: body)
            put(writer.bytes, at: end + 8)
            let hash = SipHash(key: (salt, UInt64(end))).hash(body)
            put(piece == .wrongChecksum ? hash ^ 1 : hash, at: end + count - 8)
            end += count
            if !isBroken && !isOver {
                switch piece {
                case .committed, .control: expected.append(body)
                case .aborted: break
                case .reserved, .seal: isOver = true
                case .wrongChecksum, .wrongLength, .wrongHeader: isBroken = true
                }
            }
            return true
        }
    }

    private static func content(_ input: [UInt8]) -> Content {
        var content = Content()
        content.put(
            SegmentHeader(
                salt: salt, number: 1, base: 0, previousEnd: 0, capacity: UInt64(capacity), identity: identity,
                incarnation: identity, created: 9
            ).encoded(), at: 0)
        var rest = input[...]
        while let kind = rest.popFirst() {
            let count = Int(rest.popFirst() ?? 0)
            let body = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            let piece = Piece.allCases[Int(kind) % Piece.allCases.count]
            if !content.append(piece, body) { break }
        }
        return content
    }

    static let log = Decoder(
        "log",
        [
            "whole": [0, 3, 1, 2, 3, 1, 1, 9, 2, 4, 0, 0, 0, 0, 0, 0], "sealed": [0, 1, 7, 4],
            "reserved": [3, 2, 1, 1],
        ]
    ) { input in
        let content = content(input)
        // A directory for each input: a directory that stays for the next input would never be removed.
        let directory = try ScratchDirectory()
        return try withExtendedLifetime(directory) {
            try directory.write(content.bytes, as: "1.log")
            try expectRead(content, try open(directory, writer: nil))
            try expectAppend(content, try open(directory, writer: 1))
            return true
        }
    }

    private static func open(_ directory: ScratchDirectory, writer: Int?) throws -> SegmentedLog {
        var configuration = LogConfiguration(
            identity: identity, incarnation: identity, writer: writer, fileMode: 0o600)
        configuration.capacity = capacity
        let descriptor = try FileDescriptor.open([46], in: directory.descriptor, [.reading, .directory])
        return try SegmentedLog(name: "journal", directory: descriptor, configuration)
    }

    private static func bodies(_ log: SegmentedLog, behind start: LogPosition) throws -> (
        bodies: [[UInt8]], isBroken: Bool
    ) {
        var (place, bodies): (LogPosition, [[UInt8]]) = (start, [])
        while true {
            do {
                switch try log.step(behind: place) {
                case .entry(let entry):
                    bodies.append(entry.body)
                    place = entry.position
                case .gap(let next): place = next
                case .end: return (bodies, false)
                case .lost: throw Broken("the place is lost")
                }
            } catch let error as LogFailure {
                try expect(error.damage != nil, "\(error)")
                return (bodies, true)
            }
        }
    }

    private static func expectRead(_ content: Content, _ log: SegmentedLog) throws {
        let (bodies, isBroken) = try bodies(log, behind: try log.start())
        try expect(bodies == content.expected, "\(bodies), and not \(content.expected)")
        try expect(isBroken == content.isBroken, "broken: \(isBroken), and not \(content.isBroken)")
    }

    /// Checks that a record that is appended to the segment is read after the whole records.
    private static func expectAppend(_ content: Content, _ log: SegmentedLog) throws {
        let place = try log.append([1, 2, 3])
        try expect(try log.contains(place), "what was appended has no place")
        let later = try log.append([4])
        guard case .entry(let entry) = try log.step(behind: place), entry.position == later, entry.body == [4] else {
            throw Broken("what comes behind it is something else")
        }
    }
}
