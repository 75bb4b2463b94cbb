import GroupContainer

/// The patterns of one file `.groupignore`. They mean what they mean in a `.gitignore` (gitignore(5)): they match paths
/// relative to the file's directory, and the last pattern that matches decides.
///
/// A line that `IgnorePattern` refuses is not used. The file may contain any bytes.
package struct IgnoreRules: Equatable, Sendable {
    /// The size of the part of a file that is used, in bytes.
    package static let mostBytes = 64 << 10
    /// The number of patterns that are used. The number is limited because each new item is compared with all patterns.
    package static let mostPatterns = 1_000

    private var rules: [IgnorePattern] = []
    /// The reason why the file, or a part of it, is not used: the first one, if there are several.
    package private(set) var fault: String?

    /// Creates the rules of a directory without the file.
    package init() {}

    /// Creates the rules of a file that cannot be used.
    package init(fault: String) { self.fault = fault }

    package init(bytes: [UInt8]) {
        var bytes = bytes[...]
        if bytes.count > Self.mostBytes {
            fault = "it is larger than \(Self.mostBytes >> 10) KiB; the rest is not used"
            bytes = bytes.prefix(Self.mostBytes)
            // The limit may have cut the last line.
            if let end = bytes.lastIndex(of: UInt8(ascii: "\n")) {
                bytes = bytes[...end]
            } else {
                fault = "its first line is longer than \(Self.mostBytes >> 10) KiB; nothing of the file is used"
                bytes = []
            }
        }
        for (index, line) in IgnorePattern.lines(of: bytes).enumerated() {
            guard let rule = rule(of: line, index + 1) else { continue }
            if rules.count == Self.mostPatterns {
                if fault == nil { fault = "it has more than \(Self.mostPatterns) patterns; the rest is not used" }
                break
            }
            rules.append(rule)
        }
    }

    package var isEmpty: Bool { rules.isEmpty }

    /// Returns whether an item is ignored; nil if no pattern matches. `path` has the names from the file's directory
    /// on.
    package func ignores(_ path: [[UInt8]], isDirectory: Bool) -> Bool? {
        if rules.isEmpty { return nil }
        let names = path.map { $0[...] }[...]
        return rules.last { $0.matches(names, isDirectory: isDirectory) }?.ignores
    }

    /// Returns the pattern of a line; nil for an empty line, a comment, and a line that is no pattern. The fault of such
    /// a line is kept.
    private mutating func rule(of line: ArraySlice<UInt8>, _ number: Int) -> IgnorePattern? {
        guard let pattern = IgnorePattern.pattern(inLine: line) else { return nil }
        do throws(IgnorePattern.Fault) {
            return try IgnorePattern(pattern)
        } catch {
            if fault == nil { fault = "line \(number): \(error)" }
            return nil
        }
    }
}
