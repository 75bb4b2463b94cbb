// Imports nothing: no file, clock or process.

/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). Swift's own `Hasher` is unsuitable:
/// its key differs in every process, and these hashes are kept in files. Linear in the number of bytes. (Public, and
/// inlinable: see `ByteWriter`.)
public struct SipHash: Sendable {
    @usableFromInline let key: (UInt64, UInt64)

    /// Makes a hash function with a key.
    @inlinable public init(key: (UInt64, UInt64)) { self.key = key }

    /// Returns the hash of bytes.
    @inlinable public func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var state = State(key)
        for byte in bytes { state.add(byte) }
        return state.finished()
    }

    /// Returns the hash of bytes.
    @inlinable public func hash(_ bytes: [UInt8]) -> UInt64 { hash(bytes.span) }

    /// Returns the hash of bytes.
    @inlinable public func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 { hash(bytes.span) }

    /// Returns the hash of bytes.
    @inlinable public func hash(_ bytes: Span<UInt8>) -> UInt64 {
        var state = State(key)
        var offset = 0
        while offset + 8 <= bytes.count {
            // Every bit pattern is a number; the load checks the bounds.
            state.take(
                unsafe UInt64(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        for index in offset..<bytes.count { state.add(bytes[index]) }
        return state.finished(count: bytes.count)
    }

    /// The form of `hash` that reads eight bytes at a time: `word` returns those from an offset on, little-endian. The
    /// bytes of the last word after `count` are ignored.
    @inlinable public func hash(count: Int, _ word: (_ offset: Int) -> UInt64) -> UInt64 {
        var state = State(key)
        var offset = 0
        while offset + 8 <= count {
            state.take(word(offset))
            offset += 8
        }
        if offset < count { state.add(word(offset), bytes: count - offset) }
        return state.finished(count: count)
    }

    /// The state of a hash: it can be finished at any point, and more bytes can be added after that.
    public struct State: Sendable {
        @usableFromInline var v0, v1, v2, v3: UInt64
        @usableFromInline var word: UInt64 = 0
        @usableFromInline var shift: UInt64 = 0
        @usableFromInline var count: UInt64 = 0

        @inlinable init(_ key: (UInt64, UInt64)) {
            v0 = key.0 ^ 0x736f_6d65_7073_6575
            v1 = key.1 ^ 0x646f_7261_6e64_6f6d
            v2 = key.0 ^ 0x6c79_6765_6e65_7261
            v3 = key.1 ^ 0x7465_6462_7974_6573
        }

        /// Adds a byte.
        @inlinable public mutating func add(_ byte: UInt8) {
            word |= UInt64(byte) << shift
            shift += 8
            count &+= 1
            if shift == 64 {
                take(word)
                (word, shift) = (0, 0)
            }
        }

        /// Adds the lower bytes of the last word; `bytes` is fewer than eight.
        @inlinable mutating func add(_ last: UInt64, bytes: Int) { word = last & (1 << UInt64(bytes * 8) - 1) }

        @inlinable func finished(count: Int) -> UInt64 {
            var last = self
            last.count = UInt64(count)
            return last.finished()
        }

        /// Returns the hash of the bytes added so far.
        @inlinable public func finished() -> UInt64 {
            var last = self
            last.take(word | count << 56)
            last.v2 ^= 0xff
            for _ in 0..<4 { last.round() }
            return last.v0 ^ last.v1 ^ last.v2 ^ last.v3
        }

        @inlinable mutating func take(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        @inlinable mutating func round() {
            v0 &+= v1
            v1 = (v1 << 13 | v1 >> 51) ^ v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = (v3 << 16 | v3 >> 48) ^ v2
            v0 &+= v3
            v3 = (v3 << 21 | v3 >> 43) ^ v0
            v2 &+= v1
            v1 = (v1 << 17 | v1 >> 47) ^ v2
            v2 = v2 << 32 | v2 >> 32
        }
    }

    /// Returns the state before the first byte.
    @inlinable public func begin() -> State { State(key) }
}
