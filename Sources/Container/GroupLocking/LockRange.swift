// Imports GroupBytes only: no file, clock or process.

package import GroupBytes

/// The range of offsets in `.group/lock` that stands for one item, or for a directory with everything below it.
///
/// Ranges nest. The upper bits of an item's range come from its path's first, second and third component, then from
/// the whole path, so that the ranges of everything below a directory lie side by side and the directory can be locked
/// as one range. Two items may share a range by chance; then requests for them wait for each other, and nothing else
/// happens.
///
///     62  ┌ 11 bits ┬ 11 bits ┬ 11 bits ┬─ 18 bits ──┬ 11 bits ┐ 0
///         │ 1st     │ 1st–2nd │ 1st–3rd │ whole path │ in range│
///
/// The first byte of a range is its turnstile, where waiters stand; readers share the second byte; a writer locks all.
package struct LockRange: Hashable, Sendable {
    package let start: Int64
    package let length: Int64

    package init(start: Int64, length: Int64) { (self.start, self.length) = (start, length) }

    /// The range of one item, without what is below it.
    package init(path: [UInt8], key: SipHash) {
        var value: Int64 = 0
        var depth = 0
        // An absent component is 0 and a present one is not: a directory itself sorts before what is below it.
        var hash = key.begin()
        for byte in path {
            if byte == UInt8(ascii: "/") && depth < Self.levels {
                value = value << 11 | (Int64(hash.finished() % 2_047) + 1)
                depth += 1
            }
            hash.add(byte)
        }
        let whole = hash.finished()
        if depth < Self.levels {
            value = value << 11 | (Int64(whole % 2_047) + 1)
            depth += 1
        }
        value <<= 11 * Int64(Self.levels - depth)
        // Never 0: the lowest range within a directory's range belongs to no item, so that its first byte can be the
        // directory's turnstile.
        value = value << 18 | (Int64(whole % 262_143) + 1)
        self.init(start: Self.base + value << 11, length: Self.itemLength)
    }

    /// The length of an item's range.
    static let itemLength: Int64 = 1 << 11
    private static let base: Int64 = 1 << 62

    /// The offsets of all items: the first one, and the last one.
    package static let all = (first: base, last: Int64.max)

    /// The number of path components that have bits of their own.
    static let levels = 3

    /// The last offset. (The offset after it may be greater than `Int64.max`.)
    var last: Int64 { start &+ (length &- 1) }

    package func overlaps(_ other: LockRange) -> Bool { start <= other.last && other.start <= last }
    package func contains(_ other: LockRange) -> Bool { start <= other.start && other.last <= last }

    /// The byte where waiters stand: one waiter holds it, the others wait for it in the kernel's queue.
    var turnstile: Int64 { start }
    /// The byte that readers of an item share.
    package var sharedByte: Int64 { start + 1 }

    /// The bucket of the member table, one of 256, in which waiters for this range announce themselves.
    var bucket: Int { Int(truncatingIfNeeded: (UInt64(bitPattern: start >> 11) &* 0x9e37_79b9_7f4a_7c15) >> 56) }

    /// The number of the item's components that have bits of their own in this range.
    var depth: Int {
        var depth = 1
        while depth < Self.levels && start >> Self.width(level: depth + 1) & 2_047 != 0 { depth += 1 }
        return depth
    }

    /// The range of the item, if it is a directory, with everything below it. A directory deeper than `levels` has no
    /// bits of its own; its subtree is that of the directory around it.
    package var subtree: LockRange { enclosing(level: depth) }

    /// The subtrees that this range lies in, the widest first. Requests for this range let their waiters go first.
    var enclosing: [LockRange] { (1...depth).map(enclosing(level:)).filter { $0.length > length } }

    /// Returns the subtree of the directory that the first `level` components name.
    private func enclosing(level: Int) -> LockRange {
        let width = Self.width(level: level)
        return LockRange(start: start & ~((1 << width) - 1), length: 1 << width)
    }

    private static func width(level: Int) -> Int64 { Int64(29 + 11 * (levels - level)) }
}
