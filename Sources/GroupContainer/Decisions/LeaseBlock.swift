/// The offsets of `.group/lock` that stand for one item. They nest: the upper bits come from the item's first, second
/// and third path component, then from the whole path, so that the offsets of everything below a folder lie side by
/// side and a folder can be locked as one range. Two items may meet in one block; then they only wait for each other.
///
///     62  ┌ 11 bits ┬ 11 bits ┬ 11 bits ┬─ 18 bits ──┬ 11 bits ┐ 0
///         │ 1st     │ 1st–2nd │ 1st–3rd │ whole path │ in block│
struct LeaseBlock: Hashable, Comparable, Sendable {
    let start: Int64

    static let length: Int64 = 1 << 11
    private static let base: Int64 = 1 << 62

    /// Below the blocks: what is locked for the container's own purposes.
    static let opening: Int64 = 0
    /// Candidates for the term after this one queue here; its steward holds it.
    static func stewardship(term: UInt64) -> Int64 { 4_096 + Int64(term % 1_024) }
    /// Held by the steward of a term and by nobody else, so it tells whether that one lives.
    static func office(term: UInt64) -> Int64 { 8_192 + Int64(term % 1_024) }

    init(_ item: ItemLocation, key: SipHash) {
        var value: Int64 = 0
        let slashes = item.bytes.indices.filter { item.bytes[$0] == UInt8(ascii: "/") } + [item.bytes.count]
        for depth in 0..<3 {
            value <<= 11
            // An absent component is 0, one that is there never: so the folder itself sorts before what is below it.
            if depth < slashes.count { value |= Int64(key.hash(item.bytes[..<slashes[depth]]) % 2_047) + 1 }
        }
        value = value << 18 | (Int64(key.hash(item.bytes) % 262_143) + 1)
        start = Self.base + value << 11
    }

    /// The turnstile: who must wait stands here, so that nobody overtakes.
    var turnstile: Int64 { start }
    /// The lock that readers share.
    var lock: Int64 { start + 1 }

    /// One of the 256 places in the roster where waiting writers announce themselves.
    var bucket: Int { Int(truncatingIfNeeded: (UInt64(bitPattern: start >> 11) &* 0x9e37_79b9_7f4a_7c15) >> 56) }

    static func < (left: LeaseBlock, right: LeaseBlock) -> Bool { left.start < right.start }
}
