// Imports nothing: no file, clock or process.

/// A pattern as in a `.gitignore` (gitignore(5)), for paths relative to one directory.
///
/// Classes such as `[[:alpha:]]`, a `\` or a `/` within `[…]`, and `[!]…]` are refused. So is a pattern that git takes
/// and that matches no path, such as `a//b` or `./a`. The pattern may contain any bytes.
package struct IgnorePattern: Hashable, Sendable {
    /// The reason why a pattern cannot be used.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// The length of the longest pattern, in bytes.
    package static let longest = 4_096

    /// Whether a match means ignored; false for a pattern that begins with `!`.
    package let ignores: Bool
    /// Whether the pattern ends with `/`, so that it matches no item but a directory.
    let isForDirectories: Bool
    let glob: Glob

    /// Parses a pattern. `#` and spaces at the end stand for themselves: see `pattern(inLine:)`.
    package init(_ pattern: some Collection<UInt8>) throws(Fault) {
        var rest = Array(pattern)[...]
        if rest.count > Self.longest { throw Fault(description: "it is longer than \(Self.longest) bytes") }
        if rest.isEmpty { throw Fault(description: "the pattern is empty") }
        ignores = rest.first != UInt8(ascii: "!")
        if !ignores { rest = rest.dropFirst() }
        isForDirectories = rest.last == UInt8(ascii: "/")
        if isForDirectories { rest = rest.dropLast() }
        let isForNames = !rest.contains(UInt8(ascii: "/"))
        if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        if rest.isEmpty { throw Fault(description: "no name is in the pattern") }
        var components = isForNames ? ["**".utf8.map { $0 }] : []
        for part in rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            components.append(try Self.component(part))
        }
        glob = Glob(Array(components.joined(separator: [UInt8(ascii: "/")])))
    }

    /// Returns a component as `Glob` has it.
    private static func component(_ part: ArraySlice<UInt8>) throws(Fault) -> [UInt8] {
        if part.isEmpty { throw Fault(description: "the pattern has an empty component") }
        if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
            throw Fault(description: "no path has '.' or '..' in it")
        }
        if let reason = Glob.fault(of: part) { throw Fault(description: reason) }
        // git takes more than two stars for two.
        if part.count > 2 && part.allSatisfy({ $0 == UInt8(ascii: "*") }) { return Array("**".utf8) }
        return try withNegatedClasses(part)
    }

    /// Returns a component with `[!` for `[^`, which means the same in git.
    private static func withNegatedClasses(_ part: ArraySlice<UInt8>) throws(Fault) -> [UInt8] {
        var component: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            component.append(byte)
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { component.append(escaped) }
            if byte != UInt8(ascii: "[") { continue }
            if rest.first == UInt8(ascii: "^") || rest.first == UInt8(ascii: "!") {
                component.append(UInt8(ascii: "!"))
                rest = rest.dropFirst()
                if rest.first == UInt8(ascii: "]") {
                    throw Fault(description: "a ']' at the beginning of '[!…]' is not known")
                }
            }
            // A ']' at the beginning of a class is a byte of the class.
            let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "]")) ?? rest.endIndex
            component += rest[..<end]
            rest = rest[end...]
        }
        return component
    }

    /// Returns the lines of a file with patterns, without a byte order mark.
    package static func lines(of content: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let text = content.starts(with: [0xef, 0xbb, 0xbf]) ? content.dropFirst(3) : content
        return text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Returns the pattern in a line of a file; nil in an empty line and a comment.
    package static func pattern(inLine line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if line.first == UInt8(ascii: "#") { return nil }
        let pattern = withoutSpacesAtEnd(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        return pattern.isEmpty ? nil : pattern
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

    /// Returns whether the pattern matches the item at a path.
    package func matches(_ names: ArraySlice<ArraySlice<UInt8>>, isDirectory: Bool) -> Bool {
        (isDirectory || !isForDirectories) && glob.matches(names)
    }
}

/// Patterns as in a `.gitignore` at the root of a container, in their order.
struct IgnorePatterns: Hashable, Sendable {
    /// The number of patterns is limited because each path is compared with all of them.
    static let most = 1_000

    private(set) var patterns: [IgnorePattern] = []

    var isEmpty: Bool { patterns.isEmpty }

    mutating func append(_ pattern: [UInt8]) throws(IgnorePattern.Fault) {
        let new = try IgnorePattern(pattern)
        if patterns.count == Self.most {
            throw IgnorePattern.Fault(description: "there are more than \(Self.most) patterns")
        }
        patterns.append(new)
    }

    /// Returns whether an item is ignored: the last pattern that matches it decides, but what is below an ignored
    /// directory is ignored in any case.
    func ignores(_ path: [UInt8], isDirectory: Bool) -> Bool {
        if patterns.isEmpty { return false }
        let names = path.split(separator: UInt8(ascii: "/"))
        return names.indices.contains { last in
            patterns.last {
                $0.matches(names[...last], isDirectory: isDirectory || last + 1 < names.count)
            }?.ignores ?? false
        }
    }

    /// Returns whether an item is ignored or not depending on whether it is a directory.
    func dependOnType(_ path: [UInt8]) -> Bool {
        patterns.contains(where: \.isForDirectories)
            && ignores(path, isDirectory: true) != ignores(path, isDirectory: false)
    }

    /// Returns whether an item below a directory could be ignored that the directory itself does not decide.
    func couldIgnoreBelow(_ directory: [UInt8]) -> Bool {
        patterns.contains { $0.ignores && $0.glob.couldMatchBelow(directory) }
    }
}
