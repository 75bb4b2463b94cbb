#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calls `body` with a path as a C string, which ends with a NUL. Names are bytes: Linux does not interpret them as
/// characters.
func withCString<Answer>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Answer) -> Answer {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { room in
        for index in bytes.indices { unsafe room.initializeElement(at: index, to: CChar(bitPattern: bytes[index])) }
        unsafe room.initializeElement(at: bytes.count, to: 0)
        guard let base = room.baseAddress else { return unsafe "".withCString(body) }
        return unsafe body(base)
    }
}

/// read(2), for code in which another function has this name.
func readBytes(_ descriptor: Int32, _ room: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, room, count)
}

/// write(2), for code in which another function has this name.
func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
