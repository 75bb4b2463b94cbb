/// Bytes in a JSON string, as RFC 4648 §4 says it.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The bytes in base64, padded and on one line.
    package static func encoded(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            var letters: [UInt8] = []
            for _ in 0..<4 {
                letters.append(alphabet[bits & 63])
                bits >>= 6
            }
            result += letters.reversed().prefix(group.count + 1)
            result += repeatElement(UInt8(ascii: "="), count: 3 - group.count)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
