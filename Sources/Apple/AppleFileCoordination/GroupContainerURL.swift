public import Foundation
package import GroupContainer
import GroupSystemCalls

extension FileManager {
    /// Returns the URL of the directory that the processes of a group share, with the directories `Library/Caches` and
    /// `Library/Preferences` in it. What does not exist is created, as coordinated changes; otherwise nothing is
    /// written. Nil if the identifier is not valid, or the container can neither be opened nor created: the error is
    /// written to standard error.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        reportingErrors {
            let container = try Container.opened(ofGroup: groupIdentifier)
            // The URL is used for requests.
            OpenContainers.add(container)
            return try container.urlWithLibrary()
        }
    }
}

extension Container {
    /// Opens the container of a group identifier, and creates it if it does not exist. `home` is another directory for
    /// identifiers than the environment's. Errors: those of `Container(group:creating:)`.
    package static func opened(
        ofGroup identifier: String, below home: String? = nil
    ) throws(CoordinationError) -> Container {
        do throws(CoordinationError) {
            return try open(identifier, home, creating: false)
        } catch {
            // An existing container is opened without `creating`, so that a read-only one is opened, too.
            guard error.code == .notFound else { throw error }
            return try open(identifier, home, creating: true)
        }
    }

    private static func open(
        _ identifier: String, _ home: String?, creating: Bool
    ) throws(CoordinationError) -> Container {
        if let home { return try Container(group: identifier, below: home, creating: creating) }
        return try Container(group: identifier, creating: creating)
    }

    /// Returns the URL of the container's directory, after creating the directories that are missing in it. In a
    /// read-only container none is created. Errors: those of `BlockingCoordinator.createDirectory(_:)`.
    package func urlWithLibrary() throws -> URL {
        let url = unsafe URL(
            fileURLWithFileSystemRepresentation: path.bytes.map(CChar.init(bitPattern:)) + [0], isDirectory: true,
            relativeTo: nil)
        for name in ["Library/Caches", "Library/Preferences"] where !isReadOnly {
            if FileManager.default.fileExists(atPath: url.appending(path: name).path) { continue }
            try coordinator(purpose: programName()).blocking.createDirectory(ItemPath(name), durability: .relaxed)
        }
        return url
    }

    /// Opens the container of a suite's name, which is a group identifier. Errors: `invalidArgument` without a name;
    /// those of `opened(ofGroup:below:)`.
    static func opened(ofSuite name: String?) throws(CoordinationError) -> Container {
        if let name { return try opened(ofGroup: name) }
        throw CoordinationError(
            .invalidArgument, operation: "open defaults",
            reason: "the suite has no name",
            remedy: .init(.choosePath, "name a group identifier; `UserDefaults.standard` has the program's own values"))
    }
}
