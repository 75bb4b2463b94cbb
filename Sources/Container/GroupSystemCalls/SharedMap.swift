public import CGroupLinux
#if canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

/// A file's bytes as read-only memory that is shared by every process which maps the file: the kernel refuses a store;
/// for stores there is `WritableMap`. Words are read atomically; a range is copied, never lent out. An access outside
/// the map is an error of the caller: a caller that takes an offset from the file itself checks it first. Guarded
/// against SIGBUS: see `isDamaged`. (Public, and inlinable for words: a log is read a word at a time, and a call costs
/// more than the load.)
@safe public class SharedMap: @unchecked Sendable {
    @usableFromInline final let base: UnsafeMutableRawPointer
    @usableFromInline final let guardSlot: Int32
    /// The size in bytes.
    public final let size: Int

    fileprivate init(_ descriptor: borrowing FileDescriptor, size: Int, protection: Int32) throws(Errno) {
        let mapped = unsafe mmap(nil, size, protection, MAP_SHARED, descriptor.number, 0)
        guard let mapped = unsafe mapped, unsafe mapped != UnsafeMutableRawPointer(bitPattern: -1) else {
            throw Errno.last
        }
        // Without this, read-around makes a small durable append write a megabyte.
        unsafe madvise(mapped, size, MADV_RANDOM)
        let slot = unsafe clinux_map_guard(mapped, size)
        if slot < 0 {
            unsafe munmap(mapped, size)
            throw Errno(EMFILE)
        }
        unsafe base = mapped
        guardSlot = slot
        self.size = size
    }

    /// System calls: mmap(2), madvise(2)
    package convenience init(_ descriptor: borrowing FileDescriptor, size: Int) throws(Errno) {
        try self.init(descriptor, size: size, protection: PROT_READ)
    }

    deinit {
        clinux_map_unguard(guardSlot)
        unsafe munmap(base, size)
    }

    /// Gives back the memory of the pages that were read or written. Their bytes are read from the file again when they
    /// are needed. System calls: madvise(2)
    package final func releasePages() { unsafe madvise(base, size, MADV_DONTNEED) }

    /// Whether zeros were read instead of content, because the file was truncated, or the disk was full when a page was
    /// first written.
    @inlinable public final var isDamaged: Bool { clinux_map_is_damaged(guardSlot) != 0 }

    @inlinable final func address(_ offset: Int, _ count: Int) -> UnsafeMutableRawPointer {
        precondition(offset >= 0 && count >= 0 && offset <= size - count, "outside the map")
        return unsafe base + offset
    }

    /// Loads a word atomically.
    @inlinable public final func load64(_ offset: Int) -> UInt64 { unsafe clinux_load64(address(offset, 8)) }

    /// Loads a word atomically.
    @inlinable public final func load32(_ offset: Int) -> UInt32 { unsafe clinux_load32(address(offset, 4)) }

    /// Reads eight bytes from any offset, little-endian; not atomically.
    @inlinable public final func word(at offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: address(offset, 8).loadUnaligned(as: UInt64.self))
    }

    /// Returns whether two ranges have the same bytes.
    @inlinable public final func isEqual(_ offset: Int, _ other: Int, count: Int) -> Bool {
        unsafe memcmp(address(offset, count), address(other, count), count) == 0
    }

    package final func bytes(_ offset: Int, count: Int) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: address(offset, count), count: count))
    }

    /// Returns whether any bit of a bitmap is set. `count` is in bytes, a multiple of 8.
    package final func hasBits(_ offset: Int, count: Int) -> Bool {
        let words = unsafe address(offset, count)
        for word in stride(from: 0, to: count, by: 8) where unsafe clinux_load64(words + word) != 0 { return true }
        return false
    }

    /// Returns the numbers of the bits that are set in a bitmap.
    package final func bits(_ offset: Int, count: Int) -> [Int] {
        if !hasBits(offset, count: count) { return [] }
        return (0..<count * 8).filter { load64(offset + $0 / 64 * 8) >> UInt64($0 % 64) & 1 == 1 }
    }

    /// Orders memory accesses: a reader that reads after its own fence sees everything that was written before this
    /// one.
    @inlinable public static func fence() { clinux_fence() }
}

/// A file's bytes as shared memory for reading and writing; words are written atomically.
@safe public final class WritableMap: SharedMap, @unchecked Sendable {
    /// System calls: mmap(2), madvise(2)
    package init(_ descriptor: borrowing FileDescriptor, size: Int) throws(Errno) {
        try super.init(descriptor, size: size, protection: PROT_READ | PROT_WRITE)
    }

    /// Stores a word atomically.
    @inlinable public func store64(_ offset: Int, _ value: UInt64) { unsafe clinux_store64(address(offset, 8), value) }
    /// Compares and swaps a word. Returns true if it had the expected value.
    @inlinable public func exchange64(_ offset: Int, _ expected: UInt64, _ desired: UInt64) -> Bool {
        unsafe clinux_exchange64(address(offset, 8), expected, desired) != 0
    }
    package func setBits64(_ offset: Int, _ bits: UInt64) { _ = unsafe clinux_or64(address(offset, 8), bits) }
    package func clearBits64(_ offset: Int, _ bits: UInt64) { _ = unsafe clinux_and64(address(offset, 8), ~bits) }
    package func add64(_ offset: Int, _ value: UInt64) -> UInt64 { unsafe clinux_add64(address(offset, 8), value) }

    /// Stores a word atomically.
    @inlinable public func store32(_ offset: Int, _ value: UInt32) { unsafe clinux_store32(address(offset, 4), value) }
    package func exchange32(_ offset: Int, _ expected: UInt32, _ desired: UInt32) -> Bool {
        unsafe clinux_exchange32(address(offset, 4), expected, desired) != 0
    }
    package func add32(_ offset: Int, _ value: UInt32) -> UInt32 { unsafe clinux_add32(address(offset, 4), value) }

    package func write(_ content: [UInt8], at offset: Int) {
        let target = unsafe address(offset, content.count)
        unsafe content.withUnsafeBytes {
            if let source = $0.baseAddress { unsafe target.copyMemory(from: source, byteCount: $0.count) }
        }
    }

    /// Writes a text with a zero byte at its end, truncated so that both fit into `limit` bytes.
    package func write(_ text: [UInt8], at offset: Int, terminatedWithin limit: Int) {
        let target = unsafe address(offset, limit)
        let count = min(text.count, limit - 1)
        unsafe text.withUnsafeBytes {
            if let source = $0.baseAddress { unsafe target.copyMemory(from: source, byteCount: count) }
        }
        unsafe target.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    }

    /// Sleeps while the word is `expected`, for at most that time. System calls: futex(FUTEX_WAIT)
    package func wait(whileWord offset: Int, is expected: UInt32, nanoseconds: Int64) {
        _ = unsafe clinux_futex_wait(address(offset, 4), expected, nanoseconds)
    }

    /// Sleeps while each word has the value that was seen, and there was no `Interruption` since `seen`, for at most
    /// that time (nil: no limit). May return early. System calls: futex_waitv(2)
    package static func wait(
        while first: WatchedWord, _ second: WatchedWord? = nil, _ third: WatchedWord? = nil, since seen: Interruption,
        nanoseconds: Int64?
    ) {
        let none = unsafe clinux_word(address: nil, expected: 0)
        unsafe clinux_futex_wait_interruptibly(
            first.word, second?.word ?? none, third?.word ?? none, seen.count, nanoseconds ?? -1)
    }

    /// System calls: futex(FUTEX_WAKE)
    package func wakeAll(at offset: Int) { _ = unsafe clinux_futex_wake_all(address(offset, 4)) }

    /// System calls: futex(FUTEX_WAKE)
    package func wakeOne(at offset: Int) { _ = unsafe clinux_futex_wake_one(address(offset, 4)) }
}

/// A word of a map, with the value that a thread has seen: it sleeps until there is another value.
package struct WatchedWord: Sendable {
    fileprivate let map: WritableMap
    fileprivate let offset: Int
    fileprivate let value: UInt32

    /// Reads the word.
    package init(_ offset: Int, of map: WritableMap) { self.init(offset, of: map, seen: map.load32(offset)) }

    /// Makes a word of which a value was seen before.
    package init(_ offset: Int, of map: WritableMap, seen value: UInt32) {
        self.map = map
        self.offset = offset
        self.value = value
    }

    /// Whether the word has another value than the one that was seen.
    package var hasChanged: Bool { map.load32(offset) != value }

    fileprivate var word: clinux_word { unsafe clinux_word(address: map.address(offset, 4), expected: value) }
}
