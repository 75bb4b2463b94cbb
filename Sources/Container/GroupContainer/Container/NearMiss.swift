import GroupBytes
import GroupSystemCalls

extension Container {
    /// Says which item the beginning of a pattern does not name, but would if upper and lower case, or the ways to
    /// encode a letter with an accent, made no difference: "there is 'notes', …" for 'Notes/**'. Looks at the
    /// components before the first with a wildcard. Nil where these name an item, and where nothing is like them.
    /// System calls: openat2, statx and, for a component that is missing, getdents
    package func nearMiss(of pattern: [UInt8]) -> String? {
        var found: [[UInt8]] = []
        var difference: String?
        for part in Self.literalComponents(of: pattern) {
            let directory = try? ItemLocation(Array(found.joined(separator: [UInt8(ascii: "/")])))
            guard found.isEmpty || directory != nil, let open = try? opened.openDirectory(directory) else { break }
            if (try? open.statusIfPresent(of: Array(part))) ?? nil != nil {
                found.append(Array(part))
                continue
            }
            let wanted = String(decoding: part, as: UTF8.self)
            let names = (try? open.entryNames()) ?? []
            let alike = names.map { ($0, String(decoding: $0, as: UTF8.self)) }
                .first { !ContainerMark.isOne($0.0) && $0.1.lowercased() == wanted.lowercased() }
            guard let (name, text) = alike else { break }
            found.append(name)
            // Strings are equal if their letters are, however they are encoded.
            difference =
                text == wanted ? "whose letters are encoded in another way" : "which differs in upper and lower case"
        }
        let path = printable(Array(found.joined(separator: [UInt8(ascii: "/")])))
        return difference.map { "there is '\(path)', \($0)" }
    }

    /// Says why a pattern matches no item, or not what was probably meant: an item differs in upper and lower case, or a
    /// component is a symbolic link, and no other of the patterns names what it leads to. Nil if there is no reason to
    /// doubt it. System calls: those of `nearMiss`, readlinkat
    package func doubt(ofPattern pattern: [UInt8], among patterns: [[UInt8]]) -> String? {
        if let other = nearMiss(of: pattern) { return "no item matches '\(printable(pattern))' yet; \(other)" }
        do throws(CoordinationError) {
            try checkIsNoLink(Self.literalComponents(of: pattern), "follow")
            return nil
        } catch {
            if isNamed(targetOf: pattern, by: patterns) { return nil }
            return [error.reason, error.remedy?.text].compactMap(\.self).joined(separator: "; ")
        }
    }

    /// Whether one of the patterns names what a symbolic link leads to, or something below it.
    private func isNamed(targetOf link: [UInt8], by patterns: [[UInt8]]) -> Bool {
        guard let location = try? ItemLocation(link),
            let (real, links) = try? opened.followLinks(on: location, "follow")
        else { return false }
        var filter = ChangeFilter()
        let own = links.map(\.bytes)
        for other in patterns where other != link && !own.contains(other) { filter.include(bytes: other) }
        return patterns.contains { isPath($0, below: real.bytes) }
            || filter.concernsPaths && filter.matches(ItemPath(bytes: real.bytes))
    }

    /// Says that a suite has no keys, and which suites do; nil if it has some, or if no suite does yet. (A follower makes
    /// the suite that it follows, so that a suite that exists may still be none that anyone sets keys in.)
    package func doubt(ofSuite suite: String) -> String? {
        let existing = suiteNames().sorted()
        if existing.contains(suite) && hasKeys(suite: suite) { return nil }
        let names = existing.filter { $0 != suite && hasKeys(suite: $0) }
        if names.isEmpty && suite != groupIdentifier { return nil }
        let shown = printable(Array(suite.utf8))
        if suite == groupIdentifier {
            return "there is no suite '\(shown)'; the keys of UserDefaults(suiteName: \"\(shown)\") are in the suite "
                + "'standard'"
        }
        let others = names.prefix(5).map { "'\(printable(Array($0.utf8)))'" }.joined(separator: ", ")
        let what = existing.contains(suite) ? "the suite '\(shown)' has no keys" : "there is no suite '\(shown)' yet"
        return "\(what); there \(names.count == 1 ? "is" : "are") \(others)" + (names.count > 5 ? ", …" : "")
    }

    /// Returns whether a suite that exists has a key, or cannot be read.
    private func hasKeys(suite: String) -> Bool {
        (try? GroupDefaults(self, suite: suite).dictionaryRepresentation().isEmpty) != true
    }
}
