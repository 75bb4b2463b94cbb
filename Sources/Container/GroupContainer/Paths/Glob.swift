// Imports nothing: no file, clock or process.

/// A pattern for paths: `*` and `?` within a component, `[a-z]` and `[!a-z]` for one byte, `**` for any number of
/// components, `\` before a byte that stands for itself. `Library/**` is everything below Library. Compares bytes,
/// without a locale.
package struct Glob: Hashable, Sendable {
    private enum Component: Hashable, Sendable {
        case anyDirectories
        case component([UInt8])
    }

    private let components: [Component]

    package init(_ pattern: [UInt8]) {
        var components: [Component] = pattern.split(separator: UInt8(ascii: "/")).map { part in
            part.elementsEqual("**".utf8) ? .anyDirectories : .component(Array(part))
        }
        // `a/**` is everything below `a`, not `a` itself.
        if components.last == .anyDirectories { components.append(.component([UInt8(ascii: "*")])) }
        self.components = components
    }

    /// Returns whether the pattern matches a path. The time is at most the product of both lengths, however many stars
    /// there are.
    package func matches(_ path: [UInt8]) -> Bool { matches(path.split(separator: UInt8(ascii: "/"))[...]) }

    /// Returns whether the pattern matches the path of these names.
    func matches(_ names: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        var (pattern, path) = (components[...], names)
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
            // The last `**` takes one more component. Earlier ones need not: the last one can take whatever they could.
            guard let last = retry, !last.path.isEmpty else { return false }
            (pattern, path) = (last.pattern, last.path.dropFirst())
            retry = (pattern, path)
        }
    }

    /// Returns whether the pattern could match a path below a directory.
    func couldMatchBelow(_ directory: [UInt8]) -> Bool {
        positions(after: directory).contains { $0 < components.count }
    }

    /// Returns whether the pattern matches every possible path below a directory.
    func matchesEverythingBelow(_ directory: [UInt8]) -> Bool {
        guard components.last == .component([UInt8(ascii: "*")]), components.dropLast().last == .anyDirectories else {
            return false
        }
        return positions(after: directory).contains(components.count - 2)
    }

    /// Whether the pattern is independent of the directories that contain an item.
    var dependsOnNameAlone: Bool { components.count == 2 && components.first == .anyDirectories }

    private func positions(after directory: [UInt8]) -> Set<Int> {
        // All positions in the pattern that are possible after each component.
        var positions = reachable(from: [0])
        for name in directory.split(separator: UInt8(ascii: "/")) {
            var next = Set<Int>()
            for position in positions where position < components.count {
                switch components[position] {
                case .anyDirectories: next.insert(position)
                case .component(let component): if Self.match(component[...], name) { next.insert(position + 1) }
                }
            }
            positions = reachable(from: next)
        }
        return positions
    }

    /// Adds the positions that are possible because `**` may match no component.
    private func reachable(from positions: Set<Int>) -> Set<Int> {
        var all = positions
        for position in components.indices where all.contains(position) && components[position] == .anyDirectories {
            all.insert(position + 1)
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
            // The last star takes one more byte.
            guard let last = retry, !last.name.isEmpty else { return false }
            (pattern, name) = (last.pattern, last.name.dropFirst())
            retry = (pattern, name)
        }
    }

    /// Returns the rest of the pattern after it has matched one byte; nil if it does not match.
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
