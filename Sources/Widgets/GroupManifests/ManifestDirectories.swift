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
        /// Whether a directory or a file could not be read, so that there may be more manifests; `errors` says why.
        package var isIncomplete = false

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

    /// Returns the identities of all manifests, nil for what cannot be opened, to notice changes. Reads no file. System
    /// calls: getdents(2), openat2(2), statx(2)
    package func fingerprint() -> [FileIdentity?] {
        directories.flatMap { directory -> [FileIdentity?] in
            guard let names = try? files(in: directory) else { return [nil] }
            return names.map { name in FileIdentity(path: Array("\(directory)/".utf8) + name) }
        }
    }

    /// The directories and manifests whose changes change the fingerprint.
    package var watchedPaths: [[UInt8]] {
        directories.flatMap { directory in
            [Array(directory.utf8)] + ((try? files(in: directory)) ?? []).map { Array("\(directory)/".utf8) + $0 }
        }
    }

    /// Reads all manifests. A missing directory has none. System calls: getdents(2), openat2(2), statx(2), read(2)
    package func read() -> Found {
        var found = Found()
        for directory in directories {
            do throws(Errno) {
                for name in try files(in: directory) { Self.read(name, in: directory, to: &found) }
            } catch {
                found.isIncomplete = true
                found.errors.append(ManifestError(directory, "the directory cannot be read: \(error)"))
            }
        }
        return found
    }

    /// Returns the names of the manifests in a directory; none where it is missing.
    private func files(in directory: String) throws(Errno) -> [[UInt8]] {
        let names: [[UInt8]]
        do throws(Errno) {
            names = try FileDescriptor.open(path: Array(directory.utf8), [.reading, .directory]).entryNames()
        } catch {
            if error == .noSuchEntry { return [] }
            throw error
        }
        return names.filter { $0.suffix(5).elementsEqual(".json".utf8) && $0.first != UInt8(ascii: ".") }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func read(_ name: [UInt8], in directory: String, to found: inout Found) {
        let file = "\(directory)/" + String(decoding: name, as: UTF8.self)
        let content: [UInt8]
        do throws(Errno) {
            let open = try FileDescriptor.open(path: Array("\(directory)/".utf8) + name, [.reading, .nonBlocking])
            guard try open.status().isRegularFile else { throw Errno.invalid }
            content = try open.readAll(limit: ManifestFields.largestFile + 1)
        } catch {
            found.isIncomplete = true
            return found.errors.append(ManifestError(file, "it cannot be read: \(error)"))
        }
        do throws(ManifestError) {
            let manifest = try Manifest(content, file: file, directory: directory, &found.findings)
            found.add(manifest, file, in: directory)
        } catch {
            found.errors.append(error)
        }
    }
}
