import FoundationEssentials
import GroupContainer

/// JSON content with a version, so that an older program does not take a newer program's file for damaged.
protocol VersionedContent: Codable {
    static var version: Int { get }
}

/// Reading and writing of the container's own JSON files. The caller holds the file's lock.
enum StoredFile {
    private struct Version: Decodable {
        var version: Int?
    }

    /// Reads a file; nil if there is none. Errors: `newerFormat`; `damaged`, once: the file is put aside.
    static func read<Content: VersionedContent>(
        _ type: Content.Type, _ file: PrivateFile
    ) throws(CoordinationError) -> Content? {
        guard let content = try file.read() else { return nil }
        switch decoded(type, content) {
        case .content(let stored): return stored
        case .newer(let version): throw .newerWidgetRecord(file, version)
        case .none: throw try damaged(file)
        }
    }

    /// What bytes are: content, content of a newer version, or neither.
    enum Decoded<Content> {
        case content(Content)
        case newer(version: Int)
        case none
    }

    static func decoded<Content: VersionedContent>(_ type: Content.Type, _ content: [UInt8]) -> Decoded<Content> {
        let data = Data(content)
        if let version = try? JSONDecoder().decode(Version.self, from: data).version, version > Content.version {
            return .newer(version: version)
        }
        return (try? JSONDecoder().decode(Content.self, from: data)).map { .content($0) } ?? .none
    }

    static func encoded(_ content: some VersionedContent) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(content)).map { Array($0) }
    }

    /// Puts a damaged file aside, and returns the error to throw.
    static func damaged(_ file: PrivateFile) throws(CoordinationError) -> CoordinationError {
        .damagedWidgetRecord(file, putAsideAs: try file.putAside())
    }

    static func write(_ content: some VersionedContent, _ file: PrivateFile) throws(CoordinationError) {
        guard let encoded = encoded(content) else { throw .unencodableWidgetRecord(file) }
        try file.replace(by: encoded)
    }
}
