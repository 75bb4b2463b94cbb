import Foundation
import TestSupport
import Testing

/// The lines of a page of docs/guide/examples.
enum ExamplePage {
    static let manifests = projectDirectory.appending(path: "Sources/Examples/ExtensionManifests").path

    /// Runs the lines of the page's first block of code.
    static func run(_ name: String, home: String) throws -> (status: Int32, text: String) {
        let content = try String(
            contentsOf: projectDirectory.appending(path: "docs/guide/examples/\(name).md"), encoding: .utf8)
        let block = try #require(content.components(separatedBy: "```\n").dropFirst().first)
        // The programs of this build, wherever it is.
        let script = block.replacing(/export PATH=.*\n/, with: "")
        return try RunningProcess(
            ["bash", "-euc", "cd '\(projectDirectory.path)'\n" + script],
            environment: [
                "PATH": "\(BuildDirectory.path):/usr/bin:/bin", "XDG_DATA_HOME": home, "HOME": home, "TMPDIR": home,
            ]
        ).finish()
    }
}
