// Imports nothing: no file, clock or process.

/// What a machine notes about itself in etcd, for the other machines: how far it has applied the log.
///
/// The bytes are `INDEX SECONDS HOST`: two decimal numbers and the name of the host, which may have spaces.
package struct MachineNote: Equatable, Sendable {
    /// The index of the last entry that the machine had applied.
    package var index: UInt64
    /// When the note was written, in seconds since 1970, by the clock of the machine that has written it.
    package var seconds: Int64
    /// The name of the machine, for people.
    package var host: String

    package init(index: UInt64, seconds: Int64, host: String) {
        self.index = index
        self.seconds = seconds
        self.host = host
    }

    private static let longestHost = 255
    /// Up to the year 9999, so that each time can be printed.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    package var bytes: [UInt8] {
        let seconds = min(max(seconds, Self.times.lowerBound), Self.times.upperBound)
        return Array("\(index) \(seconds) ".utf8) + Self.shortened(host).utf8
    }

    /// Reads a note; nil for bytes that are none.
    package init?(bytes: [UInt8]) {
        let words = bytes.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, let index = Self.number(words[0], UInt64.self),
            let seconds = Self.number(words[1], Int64.self), Self.times.contains(seconds),
            let host = Self.host(Array(words[2]))
        else { return nil }
        self.init(index: index, seconds: seconds, host: host)
    }

    /// Reads the name of a host, as an earlier version writes it; nil for bytes that are none.
    package static func host(_ bytes: [UInt8]) -> String? {
        if bytes.isEmpty || bytes.count > longestHost { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func number<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>, _: Number.Type) -> Number? {
        guard digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
        return Number(String(decoding: digits, as: UTF8.self))
    }

    private static func shortened(_ host: String) -> String {
        var host = host.isEmpty ? "-" : host
        while host.utf8.count > longestHost { host.removeLast() }
        return host
    }
}

/// When something may be done that is to be rare: soon after a time without it, and then in longer and longer
/// intervals.
package struct Rarely: Sendable {
    /// In nanoseconds.
    private static let intervals: ClosedRange<Int64> = 4_000_000_000...60_000_000_000
    private var interval: Int64 = 0
    private var next = Int64.min

    package init() {}

    /// Returns whether the work may be done now. If so, it counts as done.
    package mutating func isDue(at now: Int64) -> Bool {
        if now < next { return false }
        let isNew = interval == 0 || now - next > Self.intervals.upperBound
        interval = isNew ? Self.intervals.lowerBound : min(interval * 2, Self.intervals.upperBound)
        next = now + interval
        return true
    }
}
