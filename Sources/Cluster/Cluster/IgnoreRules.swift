import GroupContainer

/// The patterns of one file `.groupignore`. They mean what they mean in a `.gitignore` (gitignore(5)): they match paths
/// relative to the file's directory, and the last pattern that matches decides.
///
/// Classes such as `[[:alpha:]]`, and a `\` within `[…]`, are not supported. The file may contain any bytes.
package struct IgnoreRules: Equatable, Sendable {
    /// The size of the part of a file that is used, in bytes.
    package static let mostBytes = 64 << 10
    /// The number of patterns that are used. The number is limited because each new item is compared with all patterns.
    package static let mostPatterns = 1_000

    private struct Rule: Equatable, Sendable {
        var glob: Glob
        /// Whether the pattern is compared with the name alone, in whatever directory.
        var isForNames: Bool
        var isForDirectories: Bool
        var ignores: Bool
    }
    private var rules: [Rule] = []
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
            // The limit may have cut the last line.
            bytes = bytes.prefix(Self.mostBytes)
            bytes = bytes.prefix(through: bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.startIndex)
        }
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            guard let rule = rule(of: line, number + 1) else { continue }
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
        let whole = Array(path.joined(separator: [UInt8(ascii: "/")]))
        return rules.last { rule in
            (isDirectory || !rule.isForDirectories) && rule.glob.matches(rule.isForNames ? path.last ?? [] : whole)
        }?.ignores
    }

    /// Returns the rule of a line; nil for an empty line, a comment, and a line that is no pattern. The fault of such a
    /// line is kept.
    private mutating func rule(of line: ArraySlice<UInt8>, _ number: Int) -> Rule? {
        var line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        if line.first == UInt8(ascii: "#") { return nil }
        line = Self.withoutSpacesAtEnd(line)
        let isNegated = line.first == UInt8(ascii: "!")
        if isNegated { line = line.dropFirst() }
        let isForDirectories = line.last == UInt8(ascii: "/")
        if isForDirectories { line = line.dropLast() }
        let isForNames = !line.contains(UInt8(ascii: "/"))
        if line.first == UInt8(ascii: "/") { line = line.dropFirst() }
        if line.isEmpty { return nil }
        for part in line.split(separator: UInt8(ascii: "/")) {
            guard let reason = Glob.fault(of: part) else { continue }
            if fault == nil { fault = "line \(number): \(reason)" }
            return nil
        }
        return Rule(
            glob: Glob(Self.withNegatedClasses(line)), isForNames: isForNames, isForDirectories: isForDirectories,
            ignores: !isNegated)
    }

    /// Returns a line without the spaces at its end. A space after a `\` stays.
    private static func withoutSpacesAtEnd(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = line.startIndex
        var index = line.startIndex
        while index < line.endIndex {
            let isEscape = line[index] == UInt8(ascii: "\\") && index + 1 < line.endIndex
            let isSpace = line[index] == UInt8(ascii: " ")
            index += isEscape ? 2 : 1
            if !isSpace { end = index }
        }
        return line[..<end]
    }

    /// Returns a pattern with `[!` for `[^`, which means the same in git.
    private static func withNegatedClasses(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var pattern: [UInt8] = []
        var rest = line
        while let byte = rest.popFirst() {
            pattern.append(byte)
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { pattern.append(escaped) }
            if byte != UInt8(ascii: "[") { continue }
            if rest.first == UInt8(ascii: "^") {
                pattern.append(UInt8(ascii: "!"))
                rest = rest.dropFirst()
            }
            // A ']' at the beginning of a class is a byte of the class.
            let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "]")) ?? rest.endIndex
            pattern += rest[..<end]
            rest = rest[end...]
        }
        return pattern
    }
}
