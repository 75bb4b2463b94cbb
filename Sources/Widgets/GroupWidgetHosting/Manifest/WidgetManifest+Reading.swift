import GroupBytes
package import GroupManifests

extension WidgetManifest: InstalledManifest {
    package static let directoryName = "widget-host/widgets"
    package static let nameField = "kind"
    package var name: String { kind }

    /// The version of the manifest's format.
    package static let version = 1

    /// Reads a manifest. `file` is for errors; `directory` is where a relative executable begins. `findings` gets
    /// likely mistakes that do not prevent showing the widget; none where the manifest is of a newer version, which may
    /// have fields of its own.
    package init(
        _ content: [UInt8], file: String, directory: String, _ findings: inout [ManifestError]
    ) throws(ManifestError) {
        let fields = try ManifestFields(content, file)
        try Self.checkPoint(fields)
        let kind = try fields.plainName("kind", "write the name of the widget's type")
        self.init(
            kind: kind, title: try fields.text("title"),
            executable: try fields.program(
                "executable", in: directory, "write the widget's program: \"next-todo\" or \"./next-todo\""),
            arguments: try fields.texts("arguments") ?? [], rooms: try Self.rooms(fields),
            interests: try Self.interests(fields), refreshing: try Self.refreshing(fields),
            memoryLimit: try fields.number("memoryLimit", 1 << 20...1 << 50).map { UInt64($0) },
            urlScheme: try Self.scheme(fields))
        if try fields.number("version", 1...Int(Int32.max)) ?? 1 <= Self.version { findings += fields.findings }
    }

    /// Refuses the manifest of an extension for another point, which is no widget.
    private static func checkPoint(_ fields: ManifestFields) throws(ManifestError) {
        guard let point = try fields.text("point"), point != "widget" else { return }
        throw fields.error(
            "point", "it is for '\(PipeText.escaped(Array(point.utf8)))', and only a widget is shown here",
            "move the file to a directory 'group-extensions', such as ~/.config/group-extensions")
    }

    private static func rooms(_ fields: ManifestFields) throws(ManifestError) -> [WidgetDisplayMode: Room] {
        guard let modes = try fields.object("displayModes") else { return [.compact: Room()] }
        var rooms: [WidgetDisplayMode: Room] = [.compact: Room()]
        for mode in WidgetDisplayMode.allCases {
            guard let room = try modes.object(mode.rawValue) else { continue }
            rooms[mode] = Room(maximum: try size(room, "maximum"), preferred: try size(room, "preferred"))
        }
        return rooms
    }

    private static func size(_ room: ManifestFields, _ name: String) throws(ManifestError) -> WidgetSize? {
        guard let size = try room.object(name) else { return nil }
        guard let columns = try size.number("columns", 1...1_000), let rows = try size.number("rows", 1...1_000) else {
            throw room.error(name, "columns or rows are missing", "{\"columns\": 40, \"rows\": 3}")
        }
        return WidgetSize(columns: columns, rows: rows)
    }

    private static func interests(_ fields: ManifestFields) throws(ManifestError) -> [WidgetInterest] {
        var interests: [WidgetInterest] = []
        for text in try fields.texts("interests") ?? [] {
            guard let interest = WidgetInterest(text: text) else {
                throw fields.error(
                    "interests", "'\(PipeText.escaped(Array(text.utf8)))' is not an interest",
                    "write a pattern for paths, metadata:PATTERN, defaults:SUITE or defaults:SUITE:KEY")
            }
            if let fault = interest.fault {
                throw fields.error(
                    "interests", "'\(PipeText.escaped(Array(text.utf8)))' matches nothing: \(fault)",
                    "write a pattern for paths, relative to the container")
            }
            interests.append(interest)
        }
        return interests
    }

    private static func refreshing(_ fields: ManifestFields) throws(ManifestError) -> Refreshing {
        var refreshing = Refreshing()
        guard let policy = try fields.object("refresh") else { return refreshing }
        refreshing.limit = RefreshLimit(
            perDay: try policy.number("perDay", 1...86_400) ?? refreshing.limit.perDay,
            atOnce: try policy.number("atOnce", 1...86_400) ?? refreshing.limit.atOnce)
        refreshing.deadline = try policy.time("deadline", 0.01...3_600) ?? refreshing.deadline
        refreshing.settle = try policy.time("settle", 0...60) ?? refreshing.settle
        return refreshing
    }

    private static func scheme(_ fields: ManifestFields) throws(ManifestError) -> String? {
        guard let scheme = try fields.text("urlScheme") else { return nil }
        let isScheme =
            scheme.first?.isLetter == true
            && scheme.utf8.allSatisfy { byte in
                byte < 0x80
                    && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
                        || "+-.".utf8.contains(byte))
            }
        // A click on any text would open URLs of these schemes.
        if !isScheme || ["file", "javascript", "data"].contains(scheme.lowercased()) {
            throw fields.error(
                "urlScheme", "'\(PipeText.escaped(Array(scheme.utf8)))' is not the scheme of an app",
                "write a scheme such as \"todo\"")
        }
        return scheme
    }
}
