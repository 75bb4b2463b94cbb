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
    /// Held by who makes the checkpoint and drops files of the journal, one at a time.
    static let keeping: Int64 = 2
    /// Held by who has the reserve: see `Member.keepReserve`.
    static let removing: Int64 = 3
    /// Candidates for the term after this one queue here; its leader holds it.
    static func election(term: UInt64) -> Int64 { 4_096 + Int64(term % 1_024) }
    /// Held by the leader of a term and by nobody else, so it tells whether that one lives.
    static func office(term: UInt64) -> Int64 { 8_192 + Int64(term % 1_024) }

    /// Held by who listens to a channel under a name: there is one of each. A collision refuses one that could be had,
    /// once in 2⁶¹.
    static func listening(to channel: String, as name: String, key: SipHash) -> Int64 {
        1 << 61 + Int64(key.hash("\(channel)/\(name)".utf8) >> 3)
    }

    /// Held, shared, by everybody of that name who is there.
    static func presence(of name: String, key: SipHash) -> Int64 {
        1 << 60 + Int64(key.hash("presence/\(name)".utf8) >> 4)
    }

    init(_ item: ItemLocation, key: SipHash) {
        var value: Int64 = 0
        var depth = 0
        // An absent component is 0, one that is there never: so the folder itself sorts before what is below it.
        var hash = key.begin()
        for byte in item.bytes {
            if byte == UInt8(ascii: "/") && depth < LeaseSpan.levels {
                value = value << 11 | (Int64(hash.finished() % 2_047) + 1)
                depth += 1
            }
            hash.add(byte)
        }
        let whole = hash.finished()
        if depth < LeaseSpan.levels {
            value = value << 11 | (Int64(whole % 2_047) + 1)
            depth += 1
        }
        value <<= 11 * Int64(LeaseSpan.levels - depth)
        // Never 0: the lowest block of a folder's interval is nobody's own, so that its first byte can be the turnstile
        // of the interval.
        value = value << 18 | (Int64(whole % 262_143) + 1)
        start = Self.base + value << 11
    }

    /// All blocks: their first offset, and their last.
    static let all = (first: base, last: Int64.max)

    /// The item alone.
    var span: LeaseSpan { LeaseSpan(start: start, length: Self.length) }

    /// The item, if it is a folder, with everything below it. One that lies deeper than the third folder has no bits of
    /// its own and is locked with that one.
    var interval: LeaseSpan { span.enclosing(level: span.depth) }

    static func < (left: LeaseBlock, right: LeaseBlock) -> Bool { left.start < right.start }
}

/// A range of the offsets: an item's block, or the interval of a folder.
struct LeaseSpan: Hashable, Sendable {
    var start: Int64
    var length: Int64

    /// How many path components have bits of their own.
    static let levels = 3

    /// Its last offset. (The one behind it may be beyond what a number can say.)
    var last: Int64 { start &+ (length &- 1) }

    func overlaps(_ other: LeaseSpan) -> Bool { start <= other.last && other.start <= last }
    func contains(_ other: LeaseSpan) -> Bool { start <= other.start && other.last <= last }

    /// Where those stand who must wait for it: one in front, the others in the kernel's queue behind it.
    var turnstile: Int64 { start }
    /// In a block: what readers share.
    var lock: Int64 { start + 1 }

    /// One of the 256 places in the member table where those who wait announce themselves.
    var bucket: Int { Int(truncatingIfNeeded: (UInt64(bitPattern: start >> 11) &* 0x9e37_79b9_7f4a_7c15) >> 56) }

    private static func width(level: Int) -> Int64 { Int64(29 + 11 * (levels - level)) }

    /// How many of the item's components have bits of their own here.
    var depth: Int {
        var depth = 1
        while depth < Self.levels && start >> Self.width(level: depth + 1) & 2_047 != 0 { depth += 1 }
        return depth
    }

    /// The interval of the folder that its first `level` components name.
    func enclosing(level: Int) -> LeaseSpan {
        let width = Self.width(level: level)
        return LeaseSpan(start: start & ~((1 << width) - 1), length: 1 << width)
    }

    /// The intervals that it lies in, the widest first: who wants one of those is let through first.
    var enclosing: [LeaseSpan] { (1...depth).map(enclosing(level:)).filter { $0.length > length } }
}
