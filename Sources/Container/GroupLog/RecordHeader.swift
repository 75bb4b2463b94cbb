// Imports nothing: no file, clock or process.

/// The 64-bit word before each record of a mapped log. Every change of a record's state is a compare-and-swap of this
/// word, so a process that is stopped or killed at any moment leaves a state from which the others can go on.
///
///     empty ──▶ reserved ──▶ committed        empty ──▶ seal
///                    └─────▶ aborted (by any process, once it took too long)
package struct RecordHeader: Equatable, Sendable {
    package enum State: UInt64, Sendable {
        case reserved = 1
        case committed = 2
        case aborted = 3
        case seal = 4
    }

    package var state: State
    /// A record of the log's own bookkeeping: not counted, so the sequence that followers read has no gaps.
    var isControl: Bool
    /// The size of header, body and checksum, in units of eight bytes.
    var units: Int
    /// The number of the writer that began it.
    var writer: Int
    /// The number of times that this record of its writer was aborted before: each doubles the patience.
    var tries: Int

    var byteCount: Int { units * 8 }

    static func seal(by writer: Int) -> RecordHeader {
        RecordHeader(state: .seal, isControl: true, units: 1, writer: writer, tries: 0)
    }

    static let largestUnits = 1 << 22 - 1
    /// The number of writers that a log can have.
    package static let writerCount = 1_024

    /// The meaning of a word that was read from the segment.
    package enum Reading: Equatable, Sendable {
        case empty
        case record(RecordHeader)
        case damaged
    }

    /// Decodes a word. `offset` is its offset in the segment, `salt` is the segment's: a stale word of another segment,
    /// or one that was moved, is `damaged`.
    static func decode(_ word: UInt64, offset: Int, salt: UInt64) -> Reading {
        if word == 0 { return .empty }
        let fields = word & 0xffff_ffff_ffff
        guard word >> 48 == check(fields, offset: offset, salt: salt), let state = State(rawValue: fields & 7) else {
            return .damaged
        }
        let header = RecordHeader(
            state: state, isControl: fields >> 3 & 1 == 1, units: Int(fields >> 4 & 0x3f_ffff),
            writer: Int(fields >> 26 & 0x3ff),
            tries: Int(fields >> 36 & 15))
        return header.units == 0 ? .damaged : .record(header)
    }

    /// Adds the check that record headers have to a number below 2⁴⁸, for other words of the segment.
    static func checked(_ number: UInt64, offset: Int, salt: UInt64) -> UInt64 {
        number & 0xffff_ffff_ffff | check(number & 0xffff_ffff_ffff, offset: offset, salt: salt) << 48
    }

    func encoded(offset: Int, salt: UInt64) -> UInt64 {
        let fields =
            state.rawValue | (isControl ? 8 : 0) | UInt64(units & 0x3f_ffff) << 4 | UInt64(writer & 0x3ff) << 26
            | UInt64(min(tries, 15)) << 36
        return fields | Self.check(fields, offset: offset, salt: salt) << 48
    }

    private static func check(_ fields: UInt64, offset: Int, salt: UInt64) -> UInt64 {
        // The finalizer of MurmurHash3 (Appleby): every bit of the input affects the 16 bits that are kept.
        var mixed = fields ^ salt ^ UInt64(truncatingIfNeeded: offset) << 20
        mixed = (mixed ^ mixed >> 33) &* 0xff51_afd7_ed55_8ccd
        mixed = (mixed ^ mixed >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return (mixed ^ mixed >> 33) & 0xffff
    }

    /// The time for which other processes must leave a reservation alone, in nanoseconds.
    var patience: Int64 {
        let own = 2_000_000 + Int64(byteCount / 262_144) * 1_000_000
        return min(own << Int64(tries), max(own, 80_000_000))
    }
}
