/// What opens a kind of URLs: a scheme, and the program that is started where none runs.
package struct AppLink: Codable, Hashable, Sendable {
    /// Words; the first one is looked up in PATH.
    package var launch: [String]

    package init(launch: [String]) { self.launch = launch }

    static func key(ofScheme scheme: String) -> String { "scheme/\(scheme)" }

    /// A URL that the app has looked at and does not take.
    struct Refusal: Codable, Hashable, Sendable {
        /// Of its message.
        var number: UInt64
        var reason: String
    }

    static func refusals(ofScheme scheme: String) -> String { "refused/\(scheme)" }

    /// So many are kept: the asker looks at once.
    static let keptRefusals = 64
    /// Of a reason, in characters.
    static let longestReason = 200

    /// The channel that an app's URLs come through.
    package static func channel(ofScheme scheme: String) -> String { "group-container.open.\(scheme)" }

    /// The listener's name: there is one app of a scheme at a time.
    package static let listener = "app"

    /// Of a URL, in bytes.
    package static let largestURL = 65_536

    /// In small letters; nil: it has none (RFC 3986, 3.1).
    package static func scheme(of url: String) -> String? {
        guard let end = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = url[..<end].lowercased()
        return isScheme(scheme) ? scheme : nil
    }

    package static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first, text.utf8.count <= 100 else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "+-.".utf8.contains(byte)
        }
    }
}
