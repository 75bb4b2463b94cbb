// Imports nothing: no file, clock or process.

/// The lines that an extension writes for people: how many of them are passed on, and the last ones, for a failure.
struct LoggedLines: Hashable, Sendable {
    /// The most bytes that are passed on.
    static let largest = 1 << 20
    /// The most bytes of a line; the rest of it is dropped.
    static let longest = 4_096
    private static let kept = 10

    /// The last lines, at most ten.
    private(set) var last: [String] = []
    private var passed = 0

    /// Records a line. Returns the text to pass on; nil once there was too much. The last text that is passed on says so.
    mutating func add(_ line: some Sequence<UInt8>) -> String? {
        let text = String(decoding: Array(line.prefix(Self.longest)), as: UTF8.self)
        if last.count == Self.kept { last.removeFirst() }
        last.append(text)
        if passed > Self.largest { return nil }
        passed += text.utf8.count + 1
        return passed > Self.largest ? "further lines are dropped" : text
    }
}
