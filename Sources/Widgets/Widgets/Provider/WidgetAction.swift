import GroupBytes

/// What a user has requested by pressing a button or a toggle of a view.
public struct WidgetAction: Codable, Hashable, Sendable {
    /// The identifier of the control.
    public var id: String
    /// What a toggle is to be; nil for a button.
    public var isOn: Bool?

    /// Creates an action.
    public init(id: String, isOn: Bool? = nil) {
        self.id = id
        self.isOn = isOn
    }
}

extension WidgetAction {
    /// The action as one word of a command line, without characters that a shell interprets: the identifier in the
    /// percent-encoding of RFC 3986 and, for a toggle, `=on` or `=off`.
    public var word: String {
        let plain = "-._~".utf8
        let encoded = id.utf8.map { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || plain.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte]).uppercased()
        }
        return encoded.joined() + (isOn.map { $0 ? "=on" : "=off" } ?? "")
    }

    /// Parses a word that `word` has returned; nil for another one.
    public init?(word: String) {
        let parts = word.split(separator: "=", omittingEmptySubsequences: false)
        var id: [UInt8] = []
        var rest = parts[0].utf8[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "%") {
                id.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            // Neither sign is a digit.
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16), !digits.contains("+"),
                !digits.contains("-")
            else { return nil }
            id.append(value)
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: id, as: UTF8.self), !text.isEmpty else { return nil }
        switch parts.dropFirst() {
        case []: self.init(id: text)
        case ["on"]: self.init(id: text, isOn: true)
        case ["off"]: self.init(id: text, isOn: false)
        default: return nil
        }
    }
}

/// Why a press was not performed, in words for the user. `WidgetProvider.perform(_:on:)` throws it where what was
/// pressed is not there any more, or can not be done.
public struct PressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    public let description: String

    /// Creates a refusal with its reason.
    public init(_ reason: String) { description = reason }
}
