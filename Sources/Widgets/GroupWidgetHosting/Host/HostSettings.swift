package import GroupContainer
package import GroupManifests

/// The choices of the user who starts a host.
package struct HostSettings: Sendable {
    package var options = HostOptions()
    package var directories: ManifestDirectories<WidgetManifest>
    /// The kinds to show, in place of the list, which then does not change; nil for the list.
    package var shown: [String]?
    /// Whether to refresh each widget once, and then end.
    package var isOnce = false
    /// The command that opens an address.
    package var opener = "xdg-open"
    package var listFile: ListFile

    package init(_ container: Container, directories: ManifestDirectories<WidgetManifest>) throws {
        self.directories = directories
        listFile = try ListFile(for: container)
    }

    package func list() throws -> ShownList { try shown.map { ShownList($0) } ?? listFile.read() }
}
