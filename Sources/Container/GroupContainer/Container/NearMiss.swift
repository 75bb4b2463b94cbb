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
}
