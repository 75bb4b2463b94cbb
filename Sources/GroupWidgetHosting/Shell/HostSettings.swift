package import GroupContainer

/// What the user who starts a host chooses.
package struct HostSettings: Sendable {
    package var options = HostOptions()
    package var directories: ManifestDirectories
    /// Only these, whatever the list says; it is not changed then. Nil: the list.
    package var shown: [String]?
    /// Each is refreshed once, and that was it.
    package var isOnce = false
    /// What is given an address, to open it.
    package var opener = "xdg-open"
    package var listFile: ListFile

    package init(_ container: Container, directories: ManifestDirectories) throws {
        self.directories = directories
        listFile = try ListFile(for: container)
    }

    package func list() throws -> ShownList { try shown.map { ShownList($0) } ?? listFile.read() }
}
