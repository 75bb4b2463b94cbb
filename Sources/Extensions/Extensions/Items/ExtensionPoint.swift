// Imports nothing: no file, clock or process.

/// The place in other programs that an extension is for: one of the names below, or a reverse-DNS name of the author of
/// a host, such as `com.example.editor.filter`.
public struct ExtensionPoint: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The point's name, as manifests and the protocol have it.
    public let rawValue: String

    /// A view of an app's data, which `widget-host` shows. A widget has a protocol and a manifest of its own.
    public static let widget = ExtensionPoint(known: "widget")
    /// Takes items to share.
    public static let share = ExtensionPoint(known: "share")
    /// Changes or shows the content of another app.
    public static let action = ExtensionPoint(known: "action")
    /// Edits a picture.
    public static let editPhoto = ExtensionPoint(known: "edit-photo")
    /// Stores files, and hands them out.
    public static let provideFiles = ExtensionPoint(known: "provide-files")
    /// Provides keys for a user's input.
    public static let keyboard = ExtensionPoint(known: "keyboard")
    /// Has a script that a host runs in a page.
    public static let pageScript = ExtensionPoint(known: "page-script")

    /// The points that have a name of this package.
    public static let known = [widget, share, action, editPhoto, provideFiles, keyboard, pageScript]

    private init(known name: String) { rawValue = name }

    /// Checks a name. Returns nil unless it is one of the names above, or a reverse-DNS name: at least two labels of
    /// letters, digits and '-', with '.' between them, at most 253 bytes.
    public init?(rawValue: String) {
        let isKnown = Self.known.contains { $0.rawValue == rawValue }
        if !isKnown && !Self.isReverseDNS(rawValue) { return nil }
        self.rawValue = rawValue
    }

    /// The point's name.
    public var description: String { rawValue }

    private static func isReverseDNS(_ name: String) -> Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count > 1 && name.utf8.count <= 253 && labels.first?.first.map(isLetter) == true
            && labels.allSatisfy(isLabel)
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return !label.isEmpty && label.count <= 63 && label.first != hyphen && label.last != hyphen
            && label.allSatisfy {
                isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == hyphen
            }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
