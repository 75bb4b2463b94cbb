import Foundation
import TestSupport
import Testing

/// The lines of a page of docs/examples.
enum ExamplePage {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let manifests = root.appending(path: "Sources/Examples/ExtensionManifests").path

    /// Runs the lines of the page's first block of code.
    static func run(_ name: String, home: String) throws -> (status: Int32, text: String) {
        let content = try String(contentsOf: root.appending(path: "docs/examples/\(name).md"), encoding: .utf8)
        let block = try #require(content.components(separatedBy: "```\n").dropFirst().first)
        // The programs of this build, wherever it is.
        let script = block.replacing(/export PATH=.*\n/, with: "")
        return try RunningProcess(
            ["bash", "-euc", "cd '\(root.path)'\n" + script],
            environment: [
                "PATH": "\(BuildDirectory.path):/usr/bin:/bin", "XDG_DATA_HOME": home, "HOME": home, "TMPDIR": home,
            ]
        ).finish()
    }
}
