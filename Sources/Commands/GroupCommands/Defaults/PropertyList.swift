import FoundationEssentials
import GroupBytes
package import GroupCommandLine
package import GroupContainer

/// Property lists in XML, version 1.0, as macOS and Python's plistlib write and read them.
///
/// Foundation's `PropertyListDecoder` and `JSONDecoder` are not used, because (as of Swift 6.3.1): `<real>1</real>` and
/// `1.0` decode as whole numbers, so the two types are not distinguished; of a duplicate name one value is dropped
/// silently; data that is not base64 decodes as empty, a real that is too large as infinite; an error in JSON comes
/// without a line number; and a property list of 20,000 nested arrays ends the process with a stack overflow.
package enum PropertyList {
    /// Returns whether XML 1.0 allows the character.
    static func canHold(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20
            ? scalar.value != 0xFFFE && scalar.value != 0xFFFF
            : scalar == "\t" || scalar == "\n" || scalar == "\r"
    }

    /// Returns the keys and values of the dictionary in a list. Linear in its size; values may nest as deep as defaults
    /// allow.
    package static func members(of text: [UInt8]) throws(TextFault) -> [String: DefaultsValue] {
        if text.starts(with: "bplist".utf8) {
            throw TextFault("this is a binary property list; only XML is supported", at: 0, of: text)
        }
        var reader = PropertyListReader(tokens: try XMLTokens(text))
        return try reader.root()
    }
}

private struct PropertyListReader {
    private var tokens: XMLTokens
    /// One level more than a value may have, for the dictionary around the values.
    private static let deepest = DefaultsValue.maximumDepth + 1

    init(tokens: XMLTokens) { self.tokens = tokens }

    private func fault(_ what: String) -> TextFault { tokens.fault(what) }

    mutating func root() throws(TextFault) -> [String: DefaultsValue] {
        guard case .start("plist", let attributes, false) = try meaningful() else {
            throw fault("a property list begins with <plist>")
        }
        if let version = attributes["version"], version != "1.0" {
            throw fault("the version is '\(PipeText.escaped(Array(version.utf8)))', not 1.0")
        }
        let token = try meaningful()
        guard case .start("dict", _, _) = token, case .dictionary(let members) = try value(token, depth: 1) else {
            throw fault("expected a <dict> with keys and values")
        }
        guard try meaningful() == .end("plist") else { throw fault("expected </plist>") }
        guard try meaningful() == .finish else { throw fault("unexpected text after </plist>") }
        return members
    }

    /// Returns the next token that is not only white space.
    private mutating func meaningful() throws(TextFault) -> XMLTokens.Token {
        while true {
            let token = try tokens.next()
            guard case .text(let text) = token else { return token }
            if !text.utf8.allSatisfy({ " \t\n\r".utf8.contains($0) }) {
                throw fault("unexpected text between elements")
            }
        }
    }

    /// Returns the value of an element whose start tag was read.
    private mutating func value(_ token: XMLTokens.Token, depth: Int) throws(TextFault) -> DefaultsValue {
        guard case .start(let name, let attributes, let isEmpty) = token else { throw fault("a value is missing") }
        if let attribute = attributes.keys.min() {
            throw fault("<\(shown(name))> has an unknown attribute '\(shown(attribute))'")
        }
        if depth > Self.deepest { throw fault("nested more than \(DefaultsValue.maximumDepth) levels deep") }
        switch name {
        case "dict": return .dictionary(isEmpty ? [:] : try members(depth))
        case "array": return .array(isEmpty ? [] : try elements(depth))
        case "true", "false":
            if !isEmpty, !(try content(of: name)).isEmpty { throw fault("<\(name)> must be empty") }
            return .bool(name == "true")
        case "string", "integer", "real", "date", "data":
            let text = isEmpty ? "" : try content(of: name)
            if let value = scalar(name, text) { return value }
            throw fault("'\(shown(String(text.prefix(100))))' is not a valid <\(name)>")
        default: throw fault("the element <\(shown(name))> is unknown")
        }
    }

    private func shown(_ text: String) -> String { PipeText.escaped(Array(text.utf8)) }

    private mutating func elements(_ depth: Int) throws(TextFault) -> [DefaultsValue] {
        var values: [DefaultsValue] = []
        while true {
            let token = try meaningful()
            if token == .end("array") { return values }
            values.append(try value(token, depth: depth + 1))
        }
    }

    private mutating func members(_ depth: Int) throws(TextFault) -> [String: DefaultsValue] {
        var values: [String: DefaultsValue] = [:]
        while true {
            let token = try meaningful()
            if token == .end("dict") { return values }
            guard case .start("key", _, let isEmpty) = token else { throw fault("expected a <key>") }
            let key = isEmpty ? "" : try content(of: "key")
            if values[key] != nil { throw fault("the key '\(shown(key))' appears twice") }
            values[key] = try value(try meaningful(), depth: depth + 1)
        }
    }

    /// Returns the text up to the element's end.
    private mutating func content(of name: String) throws(TextFault) -> String {
        var text = ""
        while true {
            switch try tokens.next() {
            case .text(let more): text += more
            case .end(name): return text
            case .end(let other): throw fault("</\(shown(other))> does not end <\(name)>")
            case .start(let inner, _, _): throw fault("<\(shown(inner))> is not allowed in <\(name)>")
            case .finish: throw fault("<\(name)> does not end")
            }
        }
    }

    private func scalar(_ name: String, _ text: String) -> DefaultsValue? {
        if name == "string" { return .string(text) }
        if name == "data" { return Base64.decoded(text.utf8).map { .data($0) } }
        let word = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        switch name {
        case "integer": return Self.integer(word).map { .integer($0) }
        case "real": return Double(word).map { .double($0) }
        default:
            // The last moment of the year 9999 would become the next year, which has no text.
            guard let seconds = DateText.seconds(of: word), DateText.text(of: seconds) != nil else { return nil }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }
    }

    private static func integer(_ word: String) -> Int? {
        let isNegative = word.hasPrefix("-")
        let number = word.hasPrefix("-") || word.hasPrefix("+") ? word.dropFirst() : word[...]
        guard number.hasPrefix("0x") || number.hasPrefix("0X") else { return Int(word) }
        return Int((isNegative ? "-" : "") + number.dropFirst(2), radix: 16)
    }
}
