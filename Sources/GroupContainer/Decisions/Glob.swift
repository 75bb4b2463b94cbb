/// A pattern over paths: `*` and `?` within a component, `[a-z]` and `[!a-z]` for one byte, `**` for any number of
/// components, `\` before a byte that is meant itself. `Library/**` is everything below Library. Bytes, without locale.
struct Glob: Hashable, Sendable {
    private enum Segment: Hashable, Sendable {
        case anyDirectories
        case component([UInt8])
    }

    private let segments: [Segment]

    init(_ pattern: [UInt8]) {
        var segments: [Segment] = pattern.split(separator: UInt8(ascii: "/")).map { part in
            part.elementsEqual("**".utf8) ? .anyDirectories : .component(Array(part))
        }
        // `a/**` means what is below `a`, not `a` itself.
        if segments.last == .anyDirectories { segments.append(.component([UInt8(ascii: "*")])) }
        self.segments = segments
    }

    /// Time at most the product of both lengths, however many stars there are.
    func matches(_ path: [UInt8]) -> Bool {
        var (pattern, path) = (segments[...], path.split(separator: UInt8(ascii: "/"))[...])
        var retry: (pattern: ArraySlice<Segment>, path: ArraySlice<ArraySlice<UInt8>>)?
        while true {
            switch pattern.first {
            case .anyDirectories:
                pattern = pattern.dropFirst()
                retry = (pattern, path)
                continue
            case .component(let component):
                if let name = path.first, Self.match(component[...], name) {
                    (pattern, path) = (pattern.dropFirst(), path.dropFirst())
                    continue
                }
            case nil:
                if path.isEmpty { return true }
            }
            // The last `**` takes one component more. Those before it need not: what it takes, they could have.
            guard let last = retry, !last.path.isEmpty else { return false }
            (pattern, path) = (last.pattern, last.path.dropFirst())
            retry = (pattern, path)
        }
    }

    /// Whether it might match something below a directory, whatever is in there.
    func couldMatchBelow(_ directory: [UInt8]) -> Bool {
        places(after: directory).contains { $0 < segments.count }
    }

    /// Whether it matches whatever could be below a directory.
    func matchesEverythingBelow(_ directory: [UInt8]) -> Bool {
        guard segments.last == .component([UInt8(ascii: "*")]), segments.dropLast().last == .anyDirectories else {
            return false
        }
        return places(after: directory).contains(segments.count - 2)
    }

    /// Whether it says nothing of the directories that an item is in.
    var dependsOnNameAlone: Bool { segments.count == 2 && segments.first == .anyDirectories }

    private func places(after directory: [UInt8]) -> Set<Int> {
        // Where in the pattern one may stand after each component, all at once.
        var places = standing(at: [0])
        for name in directory.split(separator: UInt8(ascii: "/")) {
            var next = Set<Int>()
            for place in places where place < segments.count {
                switch segments[place] {
                case .anyDirectories: next.insert(place)
                case .component(let component): if Self.match(component[...], name) { next.insert(place + 1) }
                }
            }
            places = standing(at: next)
        }
        return places
    }

    /// Two stars may also stand for no component at all.
    private func standing(at places: Set<Int>) -> Set<Int> {
        var all = places
        for place in segments.indices where all.contains(place) && segments[place] == .anyDirectories {
            all.insert(place + 1)
        }
        return all
    }

    private static func match(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        var (pattern, name) = (pattern, name)
        var retry: (pattern: ArraySlice<UInt8>, name: ArraySlice<UInt8>)?
        while true {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                retry = (pattern, name)
                continue
            }
            if let byte = name.first {
                if let rest = matchOne(pattern, byte) {
                    (pattern, name) = (rest, name.dropFirst())
                    continue
                }
            } else if pattern.isEmpty {
                return true
            }
            // The last star takes one byte more.
            guard let last = retry, !last.name.isEmpty else { return false }
            (pattern, name) = (last.pattern, last.name.dropFirst())
            retry = (pattern, name)
        }
    }

    /// What is left of the pattern after it has matched one byte; nil if it does not.
    private static func matchOne(_ pattern: ArraySlice<UInt8>, _ byte: UInt8) -> ArraySlice<UInt8>? {
        guard let first = pattern.first else { return nil }
        let rest = pattern.dropFirst()
        switch first {
        case UInt8(ascii: "?"): return rest
        case UInt8(ascii: "\\"): return rest.first == byte ? rest.dropFirst() : nil
        case UInt8(ascii: "["):
            guard let close = rest.dropFirst().firstIndex(of: UInt8(ascii: "]")) else {
                return byte == first ? rest : nil
            }
            var set = rest[..<close]
            let isNegated = set.first == UInt8(ascii: "!") && set.count > 1
            if isNegated { set = set.dropFirst() }
            return contains(set, byte) != isNegated ? pattern[(close + 1)...] : nil
        default: return first == byte ? rest : nil
        }
    }

    private static func contains(_ set: ArraySlice<UInt8>, _ byte: UInt8) -> Bool {
        var set = set
        while let low = set.first {
            if set.count >= 3 && set[set.startIndex + 1] == UInt8(ascii: "-") {
                let high = set[set.startIndex + 2]
                if low <= byte && byte <= high { return true }
                set = set.dropFirst(3)
            } else {
                if low == byte { return true }
                set = set.dropFirst()
            }
        }
        return false
    }
}
