/// A manifest that is found in directories: a file that describes a program for a host to start.
package protocol InstalledManifest: Hashable, Sendable {
    /// The directory for manifests of this type, below each directory of the user's and the system's settings.
    static var directoryName: String { get }
    /// The field that has the name.
    static var nameField: String { get }
    /// The name, of which only one manifest counts.
    var name: String { get }

    /// Reads a manifest. `file` is for errors; `directory` is where a relative executable begins. `findings` gets likely
    /// mistakes that do not prevent using the manifest.
    init(
        _ content: [UInt8], file: String, directory: String, _ findings: inout [ManifestError]
    ) throws(ManifestError)
}

extension InstalledManifest {
    /// Reads a manifest without its findings.
    package init(_ content: [UInt8], file: String, directory: String) throws(ManifestError) {
        var findings: [ManifestError] = []
        try self.init(content, file: file, directory: directory, &findings)
    }
}
