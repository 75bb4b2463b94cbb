import CGroupInterface
import FoundationEssentials
import GroupContainer
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One block of memory: a C struct, and what it points to. One call of free(3) releases all of it.
@safe struct Block<Value: BitwiseCopyable>: ~Copyable {
    private let begin: UnsafeMutableRawPointer
    private let size: Int
    private var used: Int

    /// Allocates the block with room for what the struct points to, in bytes. Nil where there is no memory.
    init?(room: Int) {
        size = MemoryLayout<Value>.stride + room
        guard let begin = unsafe malloc(size) else { return nil }
        unsafe self.begin = unsafe begin
        used = MemoryLayout<Value>.stride
    }

    /// Returns a part of the block; nil where nothing is left, which is a fault of the one who has counted.
    private mutating func take(_ count: Int) -> UnsafeMutableRawPointer? {
        if count > size - used { return nil }
        defer { used += count }
        return unsafe begin + used
    }

    /// Takes an array, to be set by the caller. To be called before any other part, so that it is aligned.
    mutating func array<Element: BitwiseCopyable>(
        of type: Element.Type, count: Int
    ) -> UnsafeMutablePointer<Element>? {
        if count == 0 { return nil }
        return unsafe take(count * MemoryLayout<Element>.stride)?.bindMemory(to: type, capacity: count)
    }

    /// Copies a text, and adds a NUL.
    mutating func text(_ text: String?) -> UnsafePointer<CChar>? {
        unsafe path(text.map { Array($0.utf8) })
    }

    /// Copies a path, and adds a NUL.
    mutating func path(_ path: [UInt8]?) -> UnsafePointer<CChar>? {
        guard let path else { return nil }
        return unsafe bytes(path).map { unsafe UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
    }

    /// Copies bytes, and adds a NUL.
    mutating func bytes(_ bytes: [UInt8]?) -> UnsafePointer<UInt8>? {
        guard let bytes else { return nil }
        guard let part = unsafe take(bytes.count + 1) else { return nil }
        unsafe bytes.withUnsafeBytes { bytes in
            if let begin = bytes.baseAddress { unsafe part.copyMemory(from: begin, byteCount: bytes.count) }
        }
        unsafe part.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
        return unsafe UnsafePointer(part.assumingMemoryBound(to: UInt8.self))
    }

    /// Returns the struct, which the caller frees.
    consuming func finish(_ value: Value) -> UnsafeMutablePointer<Value> {
        let pointer = unsafe begin.bindMemory(to: Value.self, capacity: 1)
        unsafe pointer.initialize(to: value)
        return unsafe pointer
    }
}

/// Frees what `Block.finish` has returned.
func release<Value>(_ pointer: UnsafeMutablePointer<Value>?) { unsafe free(pointer) }

/// The error of a lack of memory.
func noMemory(_ operation: String) -> CoordinationError {
    CoordinationError(.limitReached, operation: operation, reason: "there is no memory")
}

/// Sets a result. Error: `invalidArgument` where the caller has no place for it
func set<Value>(_ place: UnsafeMutablePointer<Value>?, _ value: () throws -> Value) throws {
    guard let place = unsafe place else { throw invalid("return", nil, "the place for the result is NULL") }
    unsafe place.pointee = try value()
}

/// Returns the bytes of a C string. Error: `invalidArgument` for NULL
func bytes(_ text: UnsafePointer<CChar>?, _ operation: String, _ name: String) throws(CoordinationError) -> [UInt8] {
    guard let text = unsafe text else { throw invalid(operation, nil, "\(name) is NULL") }
    return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
}

/// Returns a C string as text; nil for NULL. Error: `invalidArgument` where it is not UTF-8
func text(_ text: UnsafePointer<CChar>?, _ operation: String, _ name: String) throws(CoordinationError) -> String? {
    guard let text = unsafe text else { return nil }
    guard let string = unsafe String(validatingCString: text) else {
        throw invalid(operation, nil, "\(name) is not UTF-8")
    }
    return string
}

/// Returns a C string as text. Error: `invalidArgument` for NULL, and where it is not UTF-8
func name(_ given: UnsafePointer<CChar>?, _ operation: String, _ name: String) throws(CoordinationError) -> String {
    guard let string = try unsafe text(given, operation, name) else { throw invalid(operation, nil, "\(name) is NULL") }
    return string
}

/// Returns an item's path. Error: `invalidArgument` for NULL
func itemPath(_ path: UnsafePointer<CChar>?, _ operation: String) throws(CoordinationError) -> ItemPath {
    ItemPath(bytes: try unsafe bytes(path, operation, "the path"))
}

/// Returns bytes of the caller. Error: `invalidArgument` for NULL with a length, and for a length that no memory has
func bytes(_ data: UnsafeRawPointer?, _ length: Int, _ operation: String) throws(CoordinationError) -> [UInt8] {
    if length < 0 { throw invalid(operation, nil, "the length is beyond 2⁶³") }
    guard let data = unsafe data else {
        if length == 0 { return [] }
        throw invalid(operation, nil, "the data is NULL, and its length is \(length)")
    }
    return unsafe Array(UnsafeRawBufferPointer(start: data, count: length))
}

/// Returns the texts of an array that ends with NULL; nil for NULL. Error: `invalidArgument` for more than 65,536
func list(
    _ texts: UnsafePointer<UnsafePointer<CChar>?>?, _ operation: String, _ name: String
) throws(CoordinationError) -> [[UInt8]]? {
    guard let texts = unsafe texts else { return nil }
    var all: [[UInt8]] = []
    while let text = unsafe texts[all.count] {
        if all.count == 65_536 { throw invalid(operation, nil, "\(name) have no NULL at their end") }
        all.append(try unsafe bytes(text, operation, name))
    }
    return all
}

/// Returns a text that the caller frees.
func copy(_ text: [UInt8], _ operation: String) throws(CoordinationError) -> UnsafeMutablePointer<CChar> {
    guard let copy = unsafe malloc(text.count + 1)?.bindMemory(to: CChar.self, capacity: text.count + 1) else {
        throw noMemory(operation)
    }
    for (index, byte) in text.enumerated() { unsafe copy[index] = CChar(bitPattern: byte) }
    unsafe copy[text.count] = 0
    return unsafe copy
}

@c @implementation package func group_free(_ text: UnsafeMutablePointer<CChar>?) { unsafe free(text) }

/// Returns a date in nanoseconds since 1970.
func nanoseconds(_ date: Date) -> Int64 { Int64(exactly: (date.timeIntervalSince1970 * 1e9).rounded()) ?? .max }

/// Returns a time limit of a C call; nil for none. Error: `invalidArgument` for a negative one but `GROUP_FOREVER`
func limit(_ milliseconds: Int64, _ operation: String) throws(CoordinationError) -> Duration? {
    if milliseconds == -1 { return nil }
    if milliseconds < 0 { throw invalid(operation, nil, "the timeout is negative, and not GROUP_FOREVER") }
    return .milliseconds(milliseconds)
}
