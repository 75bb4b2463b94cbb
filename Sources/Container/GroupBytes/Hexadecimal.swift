// Imports nothing: no file, clock or process.

/// The coding of bytes as lower-case hexadecimal digits.
package enum Hexadecimal {
    /// Returns two digits for each byte.
    package static func encode(_ bytes: [UInt8]) -> String { String(decoding: digits(of: bytes), as: UTF8.self) }

    /// Returns two digits for each byte, in ASCII: a part of a file's name.
    package static func digits(of bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return digits
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// Returns the bytes; nil for a text of another form.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)) }

    private static func decode(_ digits: [UInt8]) -> [UInt8]? {
        if !digits.count.isMultiple(of: 2) { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
