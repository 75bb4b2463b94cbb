/// Base64 for bytes in a JSON string, as in RFC 4648 §4.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns the bytes in base64, padded and on one line.
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

    /// Returns the bytes of padded base64; nil if the text is something else. White space is ignored.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var (bytes, bits, letters, padding): ([UInt8], Int, Int, Int) = ([], 0, 0, 0)
        for letter in text where letter != 0x20 && !(0x09...0x0D).contains(letter) {
            letters += 1
            if letter == UInt8(ascii: "=") {
                padding += 1
            } else if let value = value(of: letter), padding == 0 {
                bits = (bits << 6 | value) & 0xFFFFFF
                if letters.isMultiple(of: 4) {
                    bytes += [UInt8(bits >> 16), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
                }
            } else {
                return nil
            }
        }
        guard letters.isMultiple(of: 4), padding <= 2 else { return nil }
        if padding == 1 { bytes += [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)] }
        if padding == 2 { bytes.append(UInt8(bits >> 4 & 255)) }
        return bytes
    }

    private static func value(of letter: UInt8) -> Int? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(letter) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(letter) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(letter) - 48 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
