import GroupSystemCalls

/// The manifests that are installed: `*.json` in some folders. Of one kind the first counts.
package struct ManifestFolders: Sendable {
    private let folders: [String]

    /// What a look at the folders found.
    package struct Found: Sendable {
        package var manifests: [WidgetManifest] = []
        /// Files that are no manifests.
        package var errors: [ManifestError] = []
        /// What is odd about those that are.
        package var findings: [ManifestError] = []
        /// Where each kind's manifest is.
        package var files: [String: String] = [:]

        mutating func add(_ manifest: WidgetManifest, _ file: String, in folder: String) {
            // A user's own folder comes before the system's, and takes its place.
            guard let other = files[manifest.kind] else {
                files[manifest.kind] = file
                return manifests.append(manifest)
            }
            if other.hasPrefix(folder + "/") {
                let cause = "'\(manifest.kind)' is the kind of '\(other)', too"
                findings.append(
                    ManifestError(file, field: "kind", cause, advice: "that one is shown; choose another kind"))
            }
        }
    }

    /// Nil: where the user's settings, and the system's, have them: `$XDG_CONFIG_HOME/widget-host/widgets` (else
    /// `~/.config/…`), and `widget-host/widgets` in each of `$XDG_DATA_DIRS` (else `/usr/local/share:/usr/share`).
    package init(_ folder: String? = nil) {
        if let folder {
            folders = [folder]
            return
        }
        var folders: [String] = []
        if let settings = environmentValue("XDG_CONFIG_HOME"), settings.hasPrefix("/") {
            folders.append(settings)
        } else if let home = environmentValue("HOME"), home.hasPrefix("/") {
            folders.append(home + "/.config")
        }
        let shared =
            environmentValue("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        folders += shared.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        self.folders = folders.map { $0 + "/widget-host/widgets" }
    }

    /// For people.
    package var names: String { folders.joined(separator: ", ") }

    /// Something there is another than at that time. Reads no file. System calls: getdents(2), statx(2)
    package func fingerprint() -> [FileIdentity] {
        folders.flatMap { folder in
            files(in: folder).compactMap { name in FileIdentity(path: Array("\(folder)/".utf8) + name) }
        }
    }

    /// All of them. A folder that is not there has none.
    package func read() -> Found {
        var found = Found()
        for folder in folders {
            for name in files(in: folder) {
                let file = "\(folder)/" + String(decoding: name, as: UTF8.self)
                do throws(ManifestError) {
                    let manifest = try Self.read(name, file, in: folder, &found.findings)
                    found.add(manifest, file, in: folder)
                } catch {
                    found.errors.append(error)
                }
            }
        }
        return found
    }

    private func files(in folder: String) -> [[UInt8]] {
        guard let open = try? FileDescriptor.open(path: Array(folder.utf8), [.reading, .folder]) else { return [] }
        let names = (try? open.entryNames()) ?? []
        return names.filter { $0.suffix(5).elementsEqual(".json".utf8) && $0.first != UInt8(ascii: ".") }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func read(
        _ name: [UInt8], _ file: String, in folder: String, _ findings: inout [ManifestError]
    ) throws(ManifestError) -> WidgetManifest {
        let content: [UInt8]
        do throws(Errno) {
            let open = try FileDescriptor.open(
                path: Array("\(folder)/".utf8) + name, [.reading, .nonBlocking])
            guard try open.status().isRegularFile else { throw Errno.invalid }
            content = try open.readAll(limit: WidgetManifest.largest + 1)
        } catch {
            throw ManifestError(file, "it cannot be read: \(error)")
        }
        return try WidgetManifest(content, file: file, folder: folder, &findings)
    }
}
