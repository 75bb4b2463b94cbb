// Imports nothing: no file, clock or process.

/// A pattern over paths: `*` and `?` within a component, `[a-z]` and `[!a-z]` for one byte, `**` for any number of
/// components, `\` before a byte that is meant itself. `Library/**` is everything below Library. Bytes, without locale.
struct Glob: Hashable, Sendable {
    private enum Component: Hashable, Sendable {
        case anyDirectories
        case component([UInt8])
    }

    private let components: [Component]

    init(_ pattern: [UInt8]) {
        var components: [Component] = pattern.split(separator: UInt8(ascii: "/")).map { part in
            part.elementsEqual("**".utf8) ? .anyDirectories : .component(Array(part))
        }
        // `a/**` means what is below `a`, not `a` itself.
        if components.last == .anyDirectories { components.append(.component([UInt8(ascii: "*")])) }
        self.components = components
    }

    /// Time at most the product of both lengths, however many stars there are.
    func matches(_ path: [UInt8]) -> Bool {
        var (pattern, path) = (components[...], path.split(separator: UInt8(ascii: "/"))[...])
        var retry: (pattern: ArraySlice<Component>, path: ArraySlice<ArraySlice<UInt8>>)?
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
        places(after: directory).contains { $0 < components.count }
    }

    /// Whether it matches whatever could be below a directory.
    func matchesEverythingBelow(_ directory: [UInt8]) -> Bool {
        guard components.last == .component([UInt8(ascii: "*")]), components.dropLast().last == .anyDirectories else {
            return false
        }
        return places(after: directory).contains(components.count - 2)
    }

    /// Whether it says nothing of the directories that an item is in.
    var dependsOnNameAlone: Bool { components.count == 2 && components.first == .anyDirectories }

    private func places(after directory: [UInt8]) -> Set<Int> {
        // Where in the pattern one may stand after each component, all at once.
        var places = standing(at: [0])
        for name in directory.split(separator: UInt8(ascii: "/")) {
            var next = Set<Int>()
            for place in places where place < components.count {
                switch components[place] {
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
        for place in components.indices where all.contains(place) && components[place] == .anyDirectories {
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

extension ChangeFilter {
    /// Why no path can match a pattern, or not those that were meant, and how to write it; nil for one that is in
    /// order.
    package static func fault(ofPattern pattern: [UInt8]) -> String? {
        let slash = UInt8(ascii: "/")
        if pattern.isEmpty { return "the pattern is empty" }
        if pattern.starts(with: "./".utf8) { return "patterns are relative to the container, without './'" }
        if pattern.first == slash { return "patterns are relative to the container, without a '/' at the beginning" }
        if pattern.last == slash {
            return "a pattern has no '/' at the end: 'a' is a directory itself, 'a/**' what is below it"
        }
        for part in pattern.split(separator: slash, omittingEmptySubsequences: false) {
            if part.isEmpty { return "the pattern has an empty component" }
            if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
                return "no path has '.' or '..' in it: patterns are relative to the container"
            }
            if let fault = Glob.fault(of: part) { return fault }
        }
        return nil
    }
}

extension Glob {
    /// Of one component.
    static func fault(of part: ArraySlice<UInt8>) -> String? {
        var rest = part
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.popFirst() == nil { return "nothing stands behind the '\\' at the end" }
            if byte == UInt8(ascii: "[") {
                guard let close = rest.dropFirst().firstIndex(of: UInt8(ascii: "]")) else {
                    return "a '[' has no ']' behind it; write '\\[' for one that is meant itself"
                }
                rest = rest[(close + 1)...]
            }
        }
        return nil
    }
}
