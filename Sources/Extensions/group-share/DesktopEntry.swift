import ExtensionHosting
import Extensions
import GroupCommandLine

/// A desktop entry for an extension: file managers offer it under "Open with". An entry has no place for how many files
/// an extension takes: if there are too many, group-share says so.
struct DesktopEntry {
    let text: String

    /// `directory` is that of the manifests; nil for the usual ones.
    init(of manifest: ExtensionManifest, _ types: FileTypes, directory: String?) {
        let mimeTypes = manifest.rule.entries.flatMap { Self.types($0.pattern, types) }
        let extensions = directory.map { "--extensions \(Self.quoted($0)) " } ?? ""
        // A menu has entries of many programs: none may look like another one.
        let title = TerminalText.visible(manifest.title)
        var lines = [
            "[Desktop Entry]", "Type=Application", "Name=\(Self.escaped(title))",
            "Exec=group-share \(extensions)--with \(manifest.identifier) %U", "NoDisplay=true", "Terminal=false",
            "MimeType=\(mimeTypes.map { $0 + ";" }.joined())",
        ]
        if let icon = manifest.icon { lines.insert("Icon=\(Self.escaped(icon))", at: 3) }
        text = lines.map { $0 + "\n" }.joined()
    }

    /// An entry knows single types only: a family is all of it that the shared MIME database knows.
    private static func types(_ pattern: ActivationRule.Pattern, _ types: FileTypes) -> [String] {
        switch pattern {
        case .type(.url): ["x-scheme-handler/http", "x-scheme-handler/https"]
        case .type(.text): ["text/plain"]
        case .type(.propertyList): []
        case .type(let type): [type.rawValue]
        case .family(let name): types.known.filter { $0.hasPrefix("\(name)/") }
        case .anyMIME: types.known
        }
    }

    /// Returns an argument of `Exec`: in quotes, with '%' twice, and what the quotes do not cover after a backslash.
    private static func quoted(_ argument: String) -> String {
        let inner = argument.map { "\"`$\\".contains($0) ? "\\\($0)" : $0 == "%" ? "%%" : "\($0)" }.joined()
        return escaped("\"\(inner)\"")
    }

    /// Control characters would begin another line.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
            .map { $0 == "\\" ? "\\\\" : "\($0)" }.joined()
    }
}
