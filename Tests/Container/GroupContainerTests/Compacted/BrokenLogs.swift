import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

/// The only segment of a log, as a broken disk or program may leave it.
enum BrokenSegment {
    static func write(_ bytes: [UInt8], into directory: borrowing FileDescriptor) throws {
        let file = try FileDescriptor.open(
            Array("1.log".utf8), in: directory, [.readingAndWriting, .creating, .truncating], mode: 0o600)
        try file.writeAll(bytes)
    }

    /// Flips and overwrites bytes where something stands, mostly in headers; sometimes cuts the end off.
    static func broken(_ whole: [UInt8], end: Int, by random: inout SeededGenerator) -> [UInt8] {
        var bytes = whole
        for _ in 0...Int.random(in: 0..<6, using: &random) {
            let isPage = Int.random(in: 0..<8, using: &random) == 0
            var place = isPage ? Int.random(in: 0..<256, using: &random) : Int.random(in: 4_096..<end, using: &random)
            if Bool.random(using: &random) { place = place / 8 * 8 }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 2:
                let byte: UInt8 = Bool.random(using: &random) ? 0 : 0xff
                for index in place..<min(place + 8, bytes.count) { bytes[index] = byte }
            default:
                // Another record's bytes.
                let other = Int.random(in: 4_096..<end, using: &random)
                for index in 0..<min(24, bytes.count - max(place, other)) {
                    bytes[place + index] = whole[other + index]
                }
            }
        }
        if Int.random(in: 0..<20, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        }
        return bytes
    }
}

/// Logs of one segment each, broken at random, for ten minutes or a few seconds.
struct BrokenLogs {
    private static let duration: Int64 = runsLongTests ? 600_000_000_000 : 3_000_000_000

    /// "defaults" or "channels".
    let kind: String
    let member: OpenContainer

    /// Breaks copies of the segment of `model` again and again. `use` gets each copy under a name of its own, and
    /// counts the errors behind which it goes on. Any other error that it throws has to be one that a damaged log
    /// gives.
    func forEach(
        of model: SegmentedLog, _ use: (_ name: String, _ round: Int, _ errors: inout Int) throws -> Void
    ) throws {
        var random = SeededGenerator(seed: faultSeed)
        let file = try model.last()
        let whole = file.map.bytes(0, count: file.capacity)
        let end = try model.end().offset
        let stop = monotonicNanoseconds() + Self.duration
        var (round, errors) = (0, 0)
        while monotonicNanoseconds() < stop {
            round += 1
            let name = "fuzz \(round)"
            let directory = try member.directory.ownDirectory("\(kind)/\(name)")
            try BrokenSegment.write(BrokenSegment.broken(whole, end: end, by: &random), into: directory)
            do {
                try use(name, round, &errors)
            } catch let error as CoordinationError {
                errors += 1
                #expect([.damaged, .newerFormat, .limitReached].contains(error.code), "\(error)")
            }
            for name in try directory.entryNames() where name != [46] && name != [46, 46] { try directory.unlink(name) }
        }
        print("\(kind): \(round) broken logs, \(errors) errors")
    }
}
