import Extensions
import GroupBytes
import GroupCommandLine
package import GroupManifests

extension ExtensionManifest: InstalledManifest {
    package static let directoryName = "group-extensions"
    package static let nameField = "identifier"
    package var name: String { identifier }

    /// The version of the manifest's format.
    package static let version = 1

    private static let largestCount = 1_000_000

    /// Reads a manifest. `file` is for errors; `directory` is where a relative executable begins. An unknown field is
    /// an error, also of a newer version: it may restrict what the extension takes.
    package init(
        _ content: [UInt8], file: String, directory: String, _ findings: inout [ManifestError]
    ) throws(ManifestError) {
        let fields = try ManifestFields(content, file)
        if let version = try fields.number("version", 1...Int(Int32.max)), version > Self.version {
            throw fields.error("version", "it is newer than \(Self.version), the newest that this host can read")
        }
        self.init(
            point: try Self.point(fields),
            identifier: try fields.plainName(
                "identifier", "write the extension's name, such as com.example.todo.share"),
            title: try fields.text("title"), icon: try fields.text("icon"), rule: try Self.rule(fields),
            executable: try fields.program(
                "executable", in: directory, "write the extension's program: \"todo-share\" or \"./todo-share\""),
            arguments: try fields.texts("arguments") ?? [], group: try fields.text("group"),
            attributes: try Self.attributes(fields))
        self.directory = directory
        if let unknown = fields.findings.first { throw unknown }
    }

    private static func point(_ fields: ManifestFields) throws(ManifestError) -> ExtensionPoint {
        let names = ExtensionPoint.known.filter { $0 != .widget }.map(\.rawValue).joined(separator: ", ")
        let advice = "write one of \(names), or a reverse-DNS name"
        guard let text = try fields.text("point") else { throw fields.error("point", "it is missing", advice) }
        guard let point = ExtensionPoint(rawValue: text) else {
            throw fields.error("point", "'\(PipeText.escaped(Array(text.utf8)))' is not an extension point", advice)
        }
        if point == .widget {
            throw fields.error(
                "point", "a widget is no extension that runs for a request",
                "move the file to a directory 'widget-host/widgets', such as ~/.config/widget-host/widgets")
        }
        return point
    }

    private static func rule(_ fields: ManifestFields) throws(ManifestError) -> ActivationRule {
        guard let types = try fields.object("types") else { return ActivationRule([]) }
        var entries: [ActivationRule.Entry] = []
        for name in types.names {
            // An author's own field; a MIME type may begin like one.
            if (name.hasPrefix("x-") || name.hasPrefix("$")) && !name.contains("/") { continue }
            guard let maximum = try types.number(name, 1...largestCount) else { continue }
            guard let pattern = ActivationRule.Pattern(name) else {
                throw types.error(
                    name, "it is not a type",
                    "write a MIME type such as image/png, image/*, */*, url, text or property-list")
            }
            if entries.contains(where: { $0.pattern == pattern }) {
                throw types.error(name, "the type is there twice, as '\(pattern)'")
            }
            entries.append(ActivationRule.Entry(pattern, maximum: maximum))
        }
        return ActivationRule(entries)
    }

    private static func attributes(_ fields: ManifestFields) throws(ManifestError) -> [UInt8] {
        switch fields.value("attributes") {
        case nil: return Array("{}".utf8)
        case .object(let members)?: return Array(JSONValue.object(members).encoded().utf8)
        default: throw fields.error("attributes", "it must be an object: {…}")
        }
    }
}
