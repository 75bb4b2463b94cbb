/// A path that has been found fit to name an item: relative, below the root, outside `.group`, without empty
/// components, `.`, `..` or NUL, and within the kernel's limits. Bytes, as in the kernel; no Unicode folding.
struct ItemLocation: Hashable, Sendable {
    let bytes: [UInt8]

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
        for (index, component) in bytes.split(separator: Self.slash, omittingEmptySubsequences: false).enumerated() {
            if component.count > Self.longestComponent { throw .componentTooLong }
            if component.elementsEqual([Self.dot, Self.dot]) { throw .leadsOut }
            if component.isEmpty || component.elementsEqual([Self.dot]) { throw .malformed }
            if index == 0 && component.elementsEqual(".group".utf8) { throw .reserved }
        }
        self.bytes = bytes
    }

    private init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// What belongs to the container itself, below `.group`; it has leases of its own.
    static func inside(_ name: String) -> ItemLocation { ItemLocation(trusted: Array(".group/\(name)".utf8)) }

    var components: [ArraySlice<UInt8>] { bytes.split(separator: Self.slash) }

    var name: [UInt8] {
        guard let slash = bytes.lastIndex(of: Self.slash) else { return bytes }
        return Array(bytes[(slash + 1)...])
    }

    /// How many folders it stands in.
    var depth: Int { bytes.count { $0 == Self.slash } }

    /// An entry of a folder, of the root for nil; nil for what is no name of an item.
    static func entry(_ name: [UInt8], of folder: ItemLocation?) -> ItemLocation? {
        try? ItemLocation((folder.map { $0.bytes + [slash] } ?? []) + name)
    }

    /// The folder it stands in; nil at the top.
    var parent: ItemLocation? {
        guard let slash = bytes.lastIndex(of: Self.slash) else { return nil }
        return ItemLocation(trusted: Array(bytes[..<slash]))
    }

    /// Every folder it stands in, the uppermost first.
    var ancestors: [ItemLocation] {
        bytes.indices.filter { bytes[$0] == Self.slash }.map { ItemLocation(trusted: Array(bytes[..<$0])) }
    }

    /// Whether it stands somewhere below that folder.
    func isBelow(_ folder: ItemLocation) -> Bool {
        bytes.count > folder.bytes.count && bytes[folder.bytes.count] == Self.slash && bytes.starts(with: folder.bytes)
    }

    /// Where a symbolic link that stands here leads, by its text alone.
    func following(link target: [UInt8]) throws(Fault) -> ItemLocation {
        if target.first == Self.slash { throw .leadsOut }
        var place = components.dropLast().map(Array.init)
        for component in target.split(separator: Self.slash) {
            if component.elementsEqual([Self.dot]) { continue }
            if component.elementsEqual([Self.dot, Self.dot]) {
                if place.popLast() == nil { throw .leadsOut }
            } else {
                place.append(Array(component))
            }
        }
        return try ItemLocation(Array(place.joined(separator: [Self.slash])))
    }
}
