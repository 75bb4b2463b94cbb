import GroupBytes
import GroupCommandLine

/// The tokens of an XML text, as far as property lists need them: without namespaces, and with a document type that has
/// only a name, so that a text cannot declare, include or multiply anything.
struct XMLTokens {
    enum Token: Equatable {
        case start(String, attributes: [String: String], isEmpty: Bool)
        case end(String)
        /// A text with its references and CDATA sections resolved; a comment divides a text into two tokens.
        case text(String)
        case finish
    }

    private let text: [UInt8]
    private var offset = 0
    /// The offset of the last token.
    private(set) var tokenStart = 0
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(_ text: [UInt8]) throws(TextFault) {
        self.text = text
        if text.starts(with: Self.byteOrderMark) { offset = 3 }
        if text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) {
            throw fault("the text is UTF-16; only UTF-8 is supported")
        }
    }

    func fault(_ what: String) -> TextFault { TextFault(what, at: tokenStart, of: text) }

    private func isHere(_ word: String) -> Bool { text[offset...].starts(with: word.utf8) }

    mutating func next() throws(TextFault) -> Token {
        while true {
            tokenStart = offset
            if offset == text.count { return .finish }
            if text[offset] != UInt8(ascii: "<") { return .text(try characters()) }
            if isHere("<!--") {
                _ = try upTo("-->", behind: "<!--", "a comment")
            } else if isHere("<![CDATA[") {
                let content = try upTo("]]>", behind: "<![CDATA[", "a CDATA section")
                return .text(try checked(normalized(Array(content))))
            } else if isHere("<?") {
                try checkEncoding(Array(try upTo("?>", behind: "<?", "an instruction")))
            } else if isHere("<!DOCTYPE") {
                try skipDocumentType()
            } else {
                return try tag()
            }
        }
    }

    private mutating func upTo(
        _ end: String, behind start: String, _ what: String
    ) throws(TextFault) -> ArraySlice<UInt8> {
        let begin = offset + start.utf8.count
        var here = begin
        while here < text.count {
            if text[here...].starts(with: end.utf8) {
                offset = here + end.utf8.count
                return text[begin..<here]
            }
            here += 1
        }
        throw fault("\(what) does not end")
    }

    private func checkEncoding(_ instruction: [UInt8]) throws(TextFault) {
        let words = String(decoding: instruction, as: UTF8.self).lowercased()
        guard words.hasPrefix("xml"), let encoding = words.firstRange(of: "encoding") else { return }
        let name = words[encoding.upperBound...].split { " =\"'\t".contains($0) }.first ?? ""
        if !["utf-8", "us-ascii", "ascii"].contains(name) {
            throw fault("the encoding is \(name); only UTF-8 is supported")
        }
    }

    private mutating func skipDocumentType() throws(TextFault) {
        var quote: UInt8?
        while offset < text.count {
            let byte = text[offset]
            offset += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw fault("a document type with declarations is not supported")
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
        throw fault("the document type does not end")
    }

    private mutating func characters() throws(TextFault) -> String {
        var bytes: [UInt8] = []
        let begin = offset
        while offset < text.count, text[offset] != UInt8(ascii: "<") {
            if text[offset] == UInt8(ascii: "&") {
                bytes += try reference()
            } else {
                let start = offset
                while offset < text.count, text[offset] != UInt8(ascii: "<"), text[offset] != UInt8(ascii: "&") {
                    offset += 1
                }
                if contains("]]>", in: text[start..<offset]) {
                    throw fault("']]>' outside a CDATA section")
                }
                bytes += normalized(text[start..<offset])
            }
        }
        tokenStart = text[begin..<offset].firstIndex { !" \t\n\r".utf8.contains($0) } ?? begin
        return try checked(bytes)
    }

    private func contains(_ word: String, in bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.contains(UInt8(ascii: "]")) else { return false }
        return bytes.indices.contains { bytes[$0...].starts(with: word.utf8) }
    }

    /// Returns the bytes with all line ends as newlines; only a reference can stand for a carriage return.
    private func normalized(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var last: UInt8 = 0
        for byte in bytes {
            if !(byte == 0x0A && last == 0x0D) { result.append(byte == 0x0D ? 0x0A : byte) }
            last = byte
        }
        return result
    }

    private func checked(_ bytes: [UInt8]) throws(TextFault) -> String {
        guard let text = bytes.validText else { throw fault("a text is not UTF-8") }
        if let scalar = text.unicodeScalars.first(where: { !PropertyList.canHold($0) }) {
            throw fault("the character U+\(String(scalar.value, radix: 16, uppercase: true)) is not allowed in XML")
        }
        return text
    }

    private static let entities: [String: UInt8] = [
        "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "amp": UInt8(ascii: "&"), "quot": UInt8(ascii: "\""),
        "apos": UInt8(ascii: "'"),
    ]

    private mutating func reference() throws(TextFault) -> [UInt8] {
        tokenStart = offset
        let end = text[offset...].prefix(16).firstIndex(of: UInt8(ascii: ";"))
        guard let end else { throw fault("an '&' that begins no reference; write '&amp;'") }
        let name = String(decoding: text[(offset + 1)..<end], as: UTF8.self)
        offset = end + 1
        if let byte = Self.entities[name] { return [byte] }
        let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
        guard name.hasPrefix("#"), digits.allSatisfy(\.isHexDigit),
            let code = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10), let scalar = Unicode.Scalar(code)
        else { throw fault("the entity '&\(PipeText.escaped(Array(name.utf8)));' is unknown") }
        return Array(String(scalar).utf8)
    }

    private mutating func tag() throws(TextFault) -> Token {
        offset += 1
        let isEnd = offset < text.count && text[offset] == UInt8(ascii: "/")
        if isEnd { offset += 1 }
        let name = word()
        if name.isEmpty { throw fault("a '<' that begins no element; write '&lt;'") }
        var attributes: [String: String] = [:]
        while true {
            skipBlanks()
            if isHere(">") {
                offset += 1
                return isEnd ? .end(name) : .start(name, attributes: attributes, isEmpty: false)
            }
            if isHere("/>"), !isEnd {
                offset += 2
                return .start(name, attributes: attributes, isEmpty: true)
            }
            let attribute = word()
            skipBlanks()
            guard !isEnd, !attribute.isEmpty, isHere("=") else {
                throw fault("the tag of '\(shown(name))' does not end")
            }
            offset += 1
            skipBlanks()
            guard offset < text.count, text[offset] == UInt8(ascii: "\"") || text[offset] == UInt8(ascii: "'"),
                let end = text[(offset + 1)...].firstIndex(of: text[offset])
            else { throw fault("an attribute of '\(shown(name))' has no value in quotes") }
            attributes[attribute] = String(decoding: text[(offset + 1)..<end], as: UTF8.self)
            offset = end + 1
        }
    }

    private func shown(_ name: String) -> String { PipeText.escaped(Array(name.utf8)) }

    private mutating func word() -> String {
        let start = offset
        while offset < text.count, !" \t\n\r<>/=&\"'".utf8.contains(text[offset]) { offset += 1 }
        return String(decoding: text[start..<offset], as: UTF8.self)
    }

    private mutating func skipBlanks() {
        while offset < text.count, " \t\n\r".utf8.contains(text[offset]) { offset += 1 }
    }
}
