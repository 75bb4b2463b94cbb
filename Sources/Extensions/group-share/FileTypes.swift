import Extensions
import GroupSystemCalls

/// The types of files: by the shared MIME database, else by the commonest suffixes, else by what is in them.
struct FileTypes {
    private var patterns = NamePatterns()

    /// Reads `mime/globs2` in `$XDG_DATA_HOME` (else `~/.local/share`) and in each of `$XDG_DATA_DIRS`. System calls:
    /// openat2(2), read(2)
    init() {
        var directories: [String] = []
        if let own = environmentValue("XDG_DATA_HOME"), own.hasPrefix("/") {
            directories.append(own)
        } else if let home = environmentValue("HOME"), home.hasPrefix("/") {
            directories.append(home + "/.local/share")
        }
        let shared =
            environmentValue("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        directories += shared.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        for directory in directories {
            guard
                let file = try? FileDescriptor.open(
                    path: Array("\(directory)/mime/globs2".utf8), [.reading, .nonBlocking]),
                let content = try? file.readAll(limit: 8 << 20)
            else { continue }
            patterns.add(lines: String(decoding: content, as: UTF8.self))
        }
        patterns.add(lines: Self.common)
    }

    /// The types that have a pattern, sorted.
    var known: [String] { patterns.types.sorted() }

    /// Returns the MIME type of a file: by its name, else text or not, by its first 4 KiB. System calls: openat2(2),
    /// read(2)
    func type(of name: String, _ file: AttachedFile) -> String {
        if let known = patterns.type(of: name) { return known }
        let path = Array("/proc/self/fd/\(file.descriptor)".utf8)
        var start = [UInt8](repeating: 0, count: 4_096)
        guard let own = try? FileDescriptor.open(path: path, .reading), let count = try? own.read(into: &start) else {
            return "application/octet-stream"
        }
        let isText = !start[..<count].contains(0) && Self.isText(start[..<count], isWhole: count < 4_096)
        return isText ? "text/plain" : "application/octet-stream"
    }

    /// The last character of a beginning may be cut.
    private static func isText(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> Bool {
        (0...(isWhole ? 0 : 3)).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }

    /// For systems without the database; what is in it counts more.
    private static let common = """
        1:text/plain:*.txt
        1:text/markdown:*.md
        1:text/html:*.html
        1:text/html:*.htm
        1:text/csv:*.csv
        1:application/json:*.json
        1:application/pdf:*.pdf
        1:application/zip:*.zip
        1:image/png:*.png
        1:image/jpeg:*.jpg
        1:image/jpeg:*.jpeg
        1:image/gif:*.gif
        1:image/webp:*.webp
        1:image/svg+xml:*.svg
        1:audio/mpeg:*.mp3
        1:audio/ogg:*.ogg
        1:audio/flac:*.flac
        1:video/mp4:*.mp4
        1:video/webm:*.webm
        1:video/x-matroska:*.mkv
        """
}
