import FoundationEssentials
import GroupContainer

/// JSON with a version, so that an older program does not take a newer one's file for damaged.
protocol VersionedContent: Codable {
    static var version: Int { get }
}

/// One JSON file of the container's own. Only with its lease.
enum StoredFile {
    private struct Version: Decodable {
        var version: Int?
    }

    /// Nil where there is none. Errors: `newerFormat`; `damaged`, once: the file is put aside.
    static func read<Content: VersionedContent>(
        _ type: Content.Type, _ file: PrivateFile
    ) throws(CoordinationError) -> Content? {
        guard let content = try file.read() else { return nil }
        let data = Data(content)
        if let version = try? JSONDecoder().decode(Version.self, from: data).version, version > Content.version {
            throw .newerWidgetRecord(file.label, version)
        }
        guard let stored = try? JSONDecoder().decode(Content.self, from: data) else { throw try damaged(file) }
        return stored
    }

    /// What is in it makes no sense: it is put aside.
    static func damaged(_ file: PrivateFile) throws(CoordinationError) -> CoordinationError {
        .damagedWidgetRecord(file.label, putAsideAs: try file.putAside())
    }

    static func write(_ content: some VersionedContent, _ file: PrivateFile) throws(CoordinationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let encoded = try? encoder.encode(content) else { throw .unencodableWidgetRecord(file.label) }
        try file.replace(by: Array(encoded))
    }
}
