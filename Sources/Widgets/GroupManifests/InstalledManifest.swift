/// A manifest that is found in directories: a file that describes a program for a host to start.
package protocol InstalledManifest: Hashable, Sendable {
    /// The directory for manifests of this type, below each directory of the user's and the system's settings.
    static var directoryName: String { get }
    /// The field that has the name.
    static var nameField: String { get }
    /// The name, of which only one manifest counts.
    var name: String { get }

    /// Reads a manifest. `file` is for errors; `directory` is where a relative executable begins. `findings` gets
    /// likely mistakes that do not prevent using the manifest.
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

/// A mistake in a manifest: the file, the field, its line, the cause, and what would be correct.
package struct ManifestError: Error, Hashable, Sendable, CustomStringConvertible {
    package var file: String
    /// The field; nil for the file as a whole.
    package var field: String?
    /// The line of the field, counted from 1; nil for a field that is missing, and for the file as a whole.
    package var line: Int?
    package var cause: String
    package var advice: String?

    package init(_ file: String, field: String? = nil, line: Int? = nil, _ cause: String, advice: String? = nil) {
        self.file = file
        self.field = field
        self.line = line
        self.cause = cause
        self.advice = advice
    }

    package var description: String {
        "manifest '\(file)'" + (line.map { ", line \($0)" } ?? "") + ": " + (field.map { "\($0): " } ?? "") + cause
            + (advice.map { "; \($0)" } ?? "")
    }
}
