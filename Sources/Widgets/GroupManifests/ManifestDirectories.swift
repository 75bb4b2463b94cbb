import GroupSystemCalls

/// The installed manifests of a type: `*.json` in some directories. Of several manifests of one name, the first counts.
package struct ManifestDirectories<Manifest: InstalledManifest>: Sendable {
    private let directories: [String]

    /// The result of reading the directories.
    package struct Found: Sendable {
        package var manifests: [Manifest] = []
        /// Files that are not valid manifests.
        package var errors: [ManifestError] = []
        /// Likely mistakes in valid manifests.
        package var findings: [ManifestError] = []
        /// The path of each name's manifest.
        package var files: [String: String] = [:]

        mutating func add(_ manifest: Manifest, _ file: String, in directory: String) {
            // A user's own directory comes before the system's, so a manifest there replaces the system's.
            guard let other = files[manifest.name] else {
                files[manifest.name] = file
                return manifests.append(manifest)
            }
            if other.hasPrefix(directory + "/") {
                let field = Manifest.nameField
                let cause = "'\(manifest.name)' is also the \(field) of '\(other)'"
                findings.append(
                    ManifestError(
                        file, field: field, cause, advice: "that manifest is used; choose another \(field)"))
            }
        }
    }

    /// Selects one directory, or, if nil, those of the user and the system: `directoryName` in `$XDG_CONFIG_HOME`
    /// (else `~/.config`), and in each of `$XDG_DATA_DIRS` (else `/usr/local/share:/usr/share`).
    package init(_ directory: String? = nil) {
        if let directory {
            directories = [directory]
            return
        }
        var directories: [String] = []
        if let settings = environmentValue("XDG_CONFIG_HOME"), settings.hasPrefix("/") {
            directories.append(settings)
        } else if let home = environmentValue("HOME"), home.hasPrefix("/") {
            directories.append(home + "/.config")
        }
        let shared =
            environmentValue("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        directories += shared.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        self.directories = directories.map { "\($0)/\(Manifest.directoryName)" }
    }

    /// The directories, the user's own first.
    package var paths: [String] { directories }

    /// The directories as text for people.
    package var names: String { directories.joined(separator: ", ") }

    /// Returns the identities of all manifests, to notice changes. Reads no file. System calls: getdents(2),
    /// openat2(2), statx(2)
    package func fingerprint() -> [FileIdentity] {
        directories.flatMap { directory in
            files(in: directory).compactMap { name in FileIdentity(path: Array("\(directory)/".utf8) + name) }
        }
    }

    /// The directories and manifests whose changes change the fingerprint.
    package var watchedPaths: [[UInt8]] {
        directories.flatMap { directory in
            [Array(directory.utf8)] + files(in: directory).map { Array("\(directory)/".utf8) + $0 }
        }
    }

    /// Reads all manifests. A missing directory has none. System calls: getdents(2), openat2(2), statx(2), read(2)
    package func read() -> Found {
        var found = Found()
        for directory in directories {
            for name in files(in: directory) {
                let file = "\(directory)/" + String(decoding: name, as: UTF8.self)
                do throws(ManifestError) {
                    let manifest = try Self.read(name, file, in: directory, &found.findings)
                    found.add(manifest, file, in: directory)
                } catch {
                    found.errors.append(error)
                }
            }
        }
        return found
    }

    private func files(in directory: String) -> [[UInt8]] {
        guard let open = try? FileDescriptor.open(path: Array(directory.utf8), [.reading, .directory]) else {
            return []
        }
        let names = (try? open.entryNames()) ?? []
        return names.filter { $0.suffix(5).elementsEqual(".json".utf8) && $0.first != UInt8(ascii: ".") }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func read(
        _ name: [UInt8], _ file: String, in directory: String, _ findings: inout [ManifestError]
    ) throws(ManifestError) -> Manifest {
        let content: [UInt8]
        do throws(Errno) {
            let open = try FileDescriptor.open(
                path: Array("\(directory)/".utf8) + name, [.reading, .nonBlocking])
            guard try open.status().isRegularFile else { throw Errno.invalid }
            content = try open.readAll(limit: ManifestFields.largestFile + 1)
        } catch {
            throw ManifestError(file, "it cannot be read: \(error)")
        }
        return try Manifest(content, file: file, directory: directory, &findings)
    }
}
