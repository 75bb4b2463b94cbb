// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The path of an item, relative to the container's root. Paths are bytes, as in the kernel, without Unicode folding.
/// The bytes may be anything; a call with a path that does not name an item throws a typed error, before any I/O.
public struct ItemPath: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    CustomStringConvertible
{
    /// The bytes of the path, as the kernel has them.
    public let bytes: [UInt8]

    /// Makes a path from text, as UTF-8.
    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    /// Makes a path from any bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Makes a path from a literal.
    public init(stringLiteral text: String) { self.init(text) }

    /// The path as text; bytes that are not UTF-8, and control characters, as octal.
    public var description: String { printable(bytes) }

    /// Returns whether the left path's bytes come before the right path's, in the order of `Container.items(in:)`.
    public static func < (left: ItemPath, right: ItemPath) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }

    /// Returns whether the path leads to something in a directory, at any depth.
    package func isBelow(_ directory: ItemPath) -> Bool { isPath(bytes, below: directory.bytes) }

    func location(for operation: String) throws(CoordinationError) -> ItemLocation {
        do {
            return try ItemLocation(bytes)
        } catch {
            throw CoordinationError(error, operation: operation, path: bytes)
        }
    }
}

/// A path that was checked and can name an item: relative, below the root, without empty components, `.`, `..`, NUL, or
/// the mark of a container (`.group`, of this container or another one), and within the kernel's limits. Paths are
/// bytes, as in the kernel, without Unicode folding.
struct ItemLocation: Hashable, Sendable {
    let bytes: [UInt8]
    /// The digest of the bytes, so that a dictionary need not read them each time.
    private let digest: PathDigest

    enum Fault: Error, Equatable {
        case empty, absolute, leadsOut, reserved, malformed, nulByte, componentTooLong, tooLong
    }

    static let longestPath = 4_095
    static let longestComponent = 255
    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    init(_ bytes: [UInt8]) throws(Fault) {
        if bytes.isEmpty { throw .empty }
        if bytes.count > Self.longestPath { throw .tooLong }
        if bytes.contains(0) { throw .nulByte }
        if bytes.first == Self.slash { throw .absolute }
        var start = 0
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: Self.slash) ?? bytes.count
            try Self.check(bytes[start..<end])
            start = end + 1
        }
        self.init(trusted: bytes)
    }

    private static func check(_ component: ArraySlice<UInt8>) throws(Fault) {
        if component.count > longestComponent { throw .componentTooLong }
        if component.first == dot {
            if component.count == 1 { throw .malformed }
            if component.count == 2 && component.last == dot { throw .leadsOut }
            if ContainerMark.isOne(component) { throw .reserved }
        }
        if component.isEmpty { throw .malformed }
    }

    /// Makes a location of bytes that were checked before.
    init(trusted bytes: [UInt8]) {
        self.bytes = bytes
        var digest = PathDigest()
        digest.add(bytes[...])
        self.digest = digest
    }

    private init(_ bytes: [UInt8], _ digest: PathDigest) { (self.bytes, self.digest) = (bytes, digest) }

    static func == (left: ItemLocation, right: ItemLocation) -> Bool {
        left.digest == right.digest && left.bytes == right.bytes
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest.value) }

    /// Returns the location of one of the container's own files, below `.group`, which have locks of their own.
    static func inside(_ name: String) -> ItemLocation { ItemLocation(trusted: Array(".group/\(name)".utf8)) }

    var components: [ArraySlice<UInt8>] { bytes.split(separator: Self.slash) }

    /// Calls `body` with each name on the path, from the top, as long as it returns true. Returns whether it always
    /// did.
    func withNames(_ body: (Span<UInt8>) -> Bool) -> Bool {
        let bytes = bytes.span
        var start = 0
        for end in 0...bytes.count where end == bytes.count || bytes[end] == Self.slash {
            if !body(bytes.extracting(start..<end)) { return false }
            start = end + 1
        }
        return true
    }

    var name: [UInt8] {
        guard let slash = bytes.lastIndex(of: Self.slash) else { return bytes }
        return Array(bytes[(slash + 1)...])
    }

    /// The number of directories on the path above the item.
    var depth: Int { bytes.count { $0 == Self.slash } }

    /// Returns the location of an entry of a directory; nil is the root. Returns nil if the name is not that of an
    /// item.
    static func entry(_ name: [UInt8], of directory: ItemLocation?) -> ItemLocation? {
        guard let directory else { return name.contains(slash) ? nil : try? ItemLocation(name) }
        if name.contains(slash) || name.contains(0) || directory.bytes.count + 1 + name.count > longestPath {
            return nil
        }
        do { try check(name[...]) } catch { return nil }
        var bytes = directory.bytes
        bytes.reserveCapacity(bytes.count + 1 + name.count)
        bytes.append(slash)
        bytes.append(contentsOf: name)
        var digest = directory.digest
        digest.add(bytes[directory.bytes.count...])
        return ItemLocation(bytes, digest)
    }

    /// Returns whether the item is an entry of the directory; nil is the root.
    func isEntry(of directory: ItemLocation?) -> Bool {
        guard let directory else { return !bytes.contains(Self.slash) }
        return isBelow(directory) && !bytes[(directory.bytes.count + 1)...].contains(Self.slash)
    }

    /// The directory that contains the item; nil at the top.
    var parent: ItemLocation? {
        guard let slash = bytes.lastIndex(of: Self.slash) else { return nil }
        return ItemLocation(trusted: Array(bytes[..<slash]))
    }

    /// Returns whether the directory is the item's parent; nil is the root.
    func stands(in directory: ItemLocation?) -> Bool {
        guard let slash = bytes.lastIndex(of: Self.slash) else { return directory == nil }
        return directory.map { $0.bytes.count == slash && bytes.starts(with: $0.bytes) } ?? false
    }

    /// Every directory on the path above the item, the uppermost first.
    var ancestors: [ItemLocation] {
        bytes.indices.filter { bytes[$0] == Self.slash }.map { ItemLocation(trusted: Array(bytes[..<$0])) }
    }

    /// Returns whether the item is anywhere below the directory.
    func isBelow(_ directory: ItemLocation) -> Bool { isPath(bytes, below: directory.bytes) }

    /// Returns where a symbolic link at this location leads, from its text alone; `then` is the rest of a path that
    /// continues there.
    func following(link target: [UInt8], then rest: ArraySlice<UInt8> = []) throws(Fault) -> ItemLocation {
        if target.first == Self.slash { throw .absolute }
        var found = components.dropLast().map(Array.init)
        for component in target.split(separator: Self.slash) {
            if component.elementsEqual([Self.dot]) { continue }
            if component.elementsEqual([Self.dot, Self.dot]) {
                if found.popLast() == nil { throw .leadsOut }
            } else {
                found.append(Array(component))
            }
        }
        found += rest.split(separator: Self.slash).map(Array.init)
        return try ItemLocation(Array(found.joined(separator: [Self.slash])))
    }
}

/// FNV-1a (Fowler, Noll, Vo): short, and a longer path's digest continues from that of its beginning.
private struct PathDigest: Equatable, Sendable {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
