import FoundationEssentials

/// Bytes as text, as in JSON and property lists: RFC 4648, section 4.
package enum Base64 {
    /// Returns the bytes in base64, padded and on one line.
    package static func encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns the bytes of padded base64; nil if the text is something else. White space is ignored.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        let letters = text.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        // `Data` decodes "aG=k" and "====", too.
        let padding = letters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        if padding > 2 || letters.dropLast(padding).contains(UInt8(ascii: "=")) { return nil }
        return Data(base64Encoded: Data(letters)).map(Array.init)
    }
}
