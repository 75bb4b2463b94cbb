package import GroupContainer

/// The app of a URL scheme: the program to start where the app does not run.
package struct AppLink: Codable, Hashable, Sendable {
    /// The program and its arguments; the program is looked up in PATH.
    package var launch: [String]

    package init(launch: [String]) { self.launch = launch }

    static func key(ofScheme scheme: String) -> String { "scheme/\(scheme)" }

    /// A URL that the app has read and refused.
    struct Refusal: Codable, Hashable, Sendable {
        /// The number of the URL's message.
        var number: UInt64
        var reason: String
    }

    static func refusals(ofScheme scheme: String) -> String { "refused/\(scheme)" }

    /// The number of refusals that are kept: a caller of `open` reads them at once.
    static let keptRefusals = 64
    /// The longest reason, in characters.
    static let longestReason = 200

    /// Returns the name of the channel for an app's URLs.
    package static func channel(ofScheme scheme: String) -> String { "group-container.open.\(scheme)" }

    /// The listener's name. There is one app of a scheme at a time.
    package static let listener = "app"

    /// The largest size of a URL, in bytes.
    package static let largestURL = 65_536

    /// Returns a URL's scheme in lower case; nil if it has none (RFC 3986, 3.1).
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

extension CoordinationError {
    /// Returns the error for opening a text that is not a URL.
    static func malformedURL(_ url: String, longest: Int) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: "open", item: String(url.prefix(200)),
            reason: "a URL begins with a scheme and ':', and has no control characters and at most \(longest) bytes")
    }

    /// Returns the error for a registration that has no valid scheme, or names no program.
    package static func malformedAppLink(_ scheme: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: "register a scheme", item: scheme,
            reason:
                "a scheme has up to 100 letters, digits, '+', '-' and '.', and begins with a letter; the program to "
                + "start is a path and its arguments")
    }

    /// Returns the error for an app that is not started, as another user may have registered its command.
    static func unchosenApp(_ program: String, scheme: String) -> CoordinationError {
        CoordinationError(
            .notPermitted, operation: "start the app of '\(scheme)'", item: program,
            reason: "it does not run, and another user of the container may have registered this command",
            remedy: Remedy(Remedy.Code(rawValue: "startApp"), "start the app yourself; it gets the URL then"))
    }

    /// Returns the error for the app of a scheme that cannot be started.
    static func unstartableApp(_ program: String, scheme: String, cause: any Error) -> CoordinationError {
        CoordinationError(
            .notFound, operation: "start the app of '\(scheme)'", item: program, reason: "\(cause)",
            remedy: Remedy(
                Remedy.Code(rawValue: "startApp"), "start the app once, which registers its present location"),
            cause: cause)
    }
}
