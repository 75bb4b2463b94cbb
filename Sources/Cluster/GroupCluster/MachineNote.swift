// Imports nothing: no file, clock or process.

/// What a machine notes about itself in etcd, for the other machines: how far it has applied the log, and in what it
/// differs from them.
///
/// The bytes are the line `INDEX SECONDS HOST`: two decimal numbers and the name of the host, which may have spaces. If
/// the machine differs, the line `WITHHELD UNMIRRORED` with two numbers follows, and a line for each of the first
/// unmirrored items.
package struct MachineNote: Equatable, Sendable {
    /// In what a machine differs from the others, which lasts until a person does something.
    package struct Differences: Equatable, Sendable {
        /// The number of removals that it withholds.
        package var withheld = 0
        /// The number of items that it has and does not send.
        package var unmirrored = 0
        /// The first of these, each as text for people: the path, and the reason.
        package var items: [String] = []

        package init(withheld: Int = 0, unmirrored: Int = 0, items: [String] = []) {
            self.withheld = withheld
            self.unmirrored = unmirrored
            self.items = items.prefix(Self.most).map { MachineNote.shortened($0, to: Self.longest) }
        }

        package var isEmpty: Bool { withheld == 0 && unmirrored == 0 }

        /// The most items, and the most bytes of each, that a note has.
        package static let most = 20
        private static let longest = 300
    }

    /// The index of the last entry that the machine had applied.
    package var index: UInt64
    /// When the note was written, in seconds since 1970, by the clock of the machine that has written it.
    package var seconds: Int64
    /// The name of the machine, for people.
    package var host: String
    package var differences: Differences

    package init(index: UInt64, seconds: Int64, host: String, _ differences: Differences = .init()) {
        self.index = index
        self.seconds = seconds
        self.host = host
        self.differences = differences
    }

    private static let longestHost = 255
    /// Up to the year 9999, so that each time can be printed.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    package var bytes: [UInt8] {
        let seconds = min(max(seconds, Self.times.lowerBound), Self.times.upperBound)
        var text = "\(index) \(seconds) \(Self.shortened(host.isEmpty ? "-" : host, to: Self.longestHost))"
        if !differences.isEmpty {
            text += "\n\(differences.withheld) \(differences.unmirrored)"
            for item in differences.items { text += "\n\(item)" }
        }
        return Array(text.utf8)
    }

    /// Reads a note; nil for bytes that are none.
    package init?(bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let first = lines.first, let differences = Self.differences(lines.dropFirst()) else { return nil }
        let words = first.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, let index = Self.number(words[0], UInt64.self),
            let seconds = Self.number(words[1], Int64.self), Self.times.contains(seconds),
            let host = Self.host(Array(words[2]))
        else { return nil }
        self.init(index: index, seconds: seconds, host: host, differences)
    }

    /// Reads the lines about the differences; nil for lines that are none.
    private static func differences(_ lines: ArraySlice<ArraySlice<UInt8>>) -> Differences? {
        guard let first = lines.first else { return Differences() }
        let words = first.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 2, let withheld = number(words[0], Int.self), let unmirrored = number(words[1], Int.self),
            lines.count - 1 <= Differences.most
        else { return nil }
        let items = lines.dropFirst().compactMap { String(validating: $0, as: UTF8.self) }
        return items.count == lines.count - 1
            ? Differences(withheld: withheld, unmirrored: unmirrored, items: items) : nil
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

    private static func shortened(_ text: String, to most: Int) -> String {
        var text = text
        while text.utf8.count > most { text.removeLast() }
        return String(text.map { $0.isNewline ? " " : $0 })
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
