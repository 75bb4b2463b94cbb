// Imports nothing: no file, clock or process.

/// The patterns of file names by which a desktop knows the types of files: the files `globs2` of the shared MIME
/// database. The rules are those of the "Shared MIME-info Database" specification of freedesktop.org.
struct NamePatterns {
    private struct Pattern {
        var weight: Int
        var type: String
        var text: String
        var isCaseSensitive: Bool
    }

    /// The patterns without a wildcard, by their lowercased text; those of `*` and a suffix, by the lowercased suffix.
    private var names: [String: [Pattern]] = [:]
    private var suffixes: [String: [Pattern]] = [:]

    /// All types that have a pattern.
    var types: Set<String> { Set((Array(names.values) + Array(suffixes.values)).joined().map(\.type)) }

    /// Adds the lines of a file: `WEIGHT:TYPE:PATTERN[:FLAGS]`. Files that come first count more. A line that is none,
    /// and a pattern with a wildcard elsewhere, which few files have, is left out.
    mutating func add(lines: some StringProtocol) {
        for line in lines.split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count >= 3, let weight = Int(fields[0]) else { continue }
            var pattern = Pattern(
                weight: weight, type: String(fields[1]), text: String(fields[2]),
                isCaseSensitive: fields.count > 3 && fields[3].split(separator: ",").contains("cs"))
            if !Self.isPlain(pattern.text.drop { $0 == "*" }) { continue }
            if pattern.text.hasPrefix("*") {
                pattern.text.removeFirst()
                suffixes[pattern.text.lowercased(), default: []].append(pattern)
            } else {
                names[pattern.text.lowercased(), default: []].append(pattern)
            }
        }
    }

    private static func isPlain(_ text: some StringProtocol) -> Bool { !text.contains { "*?[".contains($0) } }

    /// Returns the type of a file by its name; nil if no pattern matches. Of several patterns, the one with the
    /// greatest weight counts, then the longest.
    func type(of name: String) -> String? {
        if let found = best(names[name.lowercased()] ?? [], name[...]) { return found.type }
        var (found, length): (Pattern?, Int) = (nil, 0)
        for start in name.indices {
            let suffix = name[start...]
            guard let pattern = best(suffixes[suffix.lowercased()] ?? [], suffix) else { continue }
            if (pattern.weight, pattern.text.count) > (found?.weight ?? -1, length) {
                (found, length) = (pattern, pattern.text.count)
            }
        }
        return found?.type
    }

    private func best(_ patterns: [Pattern], _ text: Substring) -> Pattern? {
        var found: Pattern?
        for pattern in patterns where !pattern.isCaseSensitive || pattern.text == text {
            if pattern.weight > found?.weight ?? -1 { found = pattern }
        }
        return found
    }
}
