import Glibc

/// Calls `body` with a path as a C string, which ends with a NUL. Names are bytes: Linux does not interpret them as
/// characters.
func withCString<Answer>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Answer) -> Answer {
    var terminated = bytes
    terminated.append(0)
    return unsafe terminated.withUnsafeBytes { buffer in
        unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
            guard let base = characters.baseAddress else { return unsafe "".withCString(body) }
            return unsafe body(base)
        }
    }
}
