// Imports nothing: no file, clock or process.

/// The type of an attachment's content: a MIME type in small letters, such as `image/png`, or `url`, `text` or
/// `property-list`.
public struct ContentType: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The type's text, as manifests and the protocol have it.
    public let rawValue: String

    /// An absolute URL.
    public static let url = ContentType(known: "url")
    /// Text without a MIME type.
    public static let text = ContentType(known: "text")
    /// A property list: what a key of the group defaults can hold.
    public static let propertyList = ContentType(known: "property-list")
    /// Text of the MIME type `text/plain`.
    public static let plainText = ContentType(known: "text/plain")
    /// A picture of the MIME type `image/png`.
    public static let png = ContentType(known: "image/png")
    /// Bytes of any kind: `application/octet-stream`.
    public static let bytes = ContentType(known: "application/octet-stream")

    private init(known text: String) { rawValue = text }

    /// Checks a text; capital letters become small. Returns nil unless the text is `url`, `text`, `property-list`, or
    /// two names with a '/' between them (RFC 6838). Parameters (`; charset=…`) and wildcards are no part of a type.
    public init?(rawValue: String) {
        let text = rawValue.lowercased()
        if !["url", "text", "property-list"].contains(text) {
            let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            guard names.count == 2, names.allSatisfy(Self.isName) else { return nil }
        }
        self.rawValue = text
    }

    /// Checks a text; see `init(rawValue:)`.
    public init?(_ text: String) { self.init(rawValue: text) }

    /// The type's text.
    public var description: String { rawValue }

    /// Returns whether bytes are a "restricted name" of RFC 6838.
    private static func isName(_ name: Substring.UTF8View) -> Bool {
        guard let first = name.first, name.count <= 127, isLetterOrDigit(first) else { return false }
        return name.allSatisfy { isLetterOrDigit($0) || "!#$&-^_.+".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
