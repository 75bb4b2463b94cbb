// Imports nothing: no file, clock or process.

/// Returns a name as text for a message. In a name with control characters or invalid UTF-8, all bytes but printable
/// ASCII are octal. `PipeText` is for output that a program reads.
package func printable(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        return text
    }
    let shown = bytes.flatMap { byte in (0x20..<0x7f).contains(byte) ? [byte] : octal(byte) }
    return String(decoding: shown, as: UTF8.self)
}

/// Returns a backslash and three octal digits.
private func octal(_ byte: UInt8) -> [UInt8] {
    [UInt8(ascii: "\\"), 0x30 + byte >> 6, 0x30 + (byte >> 3) & 7, 0x30 + byte & 7]
}

/// Byte strings as text for a field of a tab-separated line, or for a JSON string.
package enum PipeText {
    /// Returns the bytes with `\\ \t \n \r` escaped, and as three-digit octal `\ooo` every other control character (C0,
    /// DEL and C1, which some terminals obey) and every byte that is not part of valid UTF-8.
    ///
    /// Unambiguous: two different byte strings have different escapes.
    package static func escaped(_ bytes: [UInt8]) -> String {
        if isPlain(bytes) { return String(decoding: bytes, as: UTF8.self) }
        return rewritten(bytes) { scalar in
            switch scalar {
            case [UInt8(ascii: "\\")]: Array(#"\\"#.utf8)
            case [0x09]: Array(#"\t"#.utf8)
            case [0x0A]: Array(#"\n"#.utf8)
            case [0x0D]: Array(#"\r"#.utf8)
            case _ where isControl(scalar): scalar.flatMap(octal)
            default: Array(scalar)
            }
        }
    }

    /// Appends what `escaped` returns.
    package static func append(_ bytes: [UInt8], to line: inout [UInt8]) {
        if isPlain(bytes) { line += bytes } else { line += escaped(bytes).utf8 }
    }

    /// Whether the bytes need no escapes, as most names do.
    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }
    }

    /// Returns the bytes as text for a JSON string that has the exact bytes beside it; only bytes that are not valid
    /// UTF-8 are written as `\ooo`.
    package static func lossyString(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? rewritten(bytes) { Array($0) }
    }

    /// Returns the result of `write` for each well-formed scalar, and octal escapes for the bytes between them.
    private static func rewritten(_ bytes: [UInt8], _ write: (ArraySlice<UInt8>) -> [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var position = 0
        while position < bytes.count {
            let end: Int
            switch parser.parseScalar(from: &input) {
            case .valid(let scalar):
                end = position + scalar.count
                result += write(bytes[position..<end])
            case .error(let length):
                end = position + length
                result += bytes[position..<end].flatMap(octal)
            case .emptyInput:
                end = bytes.count
            }
            position = end
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isControl(_ scalar: ArraySlice<UInt8>) -> Bool {
        guard let first = scalar.first, let last = scalar.last else { return false }
        if scalar.count == 1 { return first < 0x20 || first == 0x7F }
        return scalar.count == 2 && first == 0xC2 && last < 0xA0
    }
}
