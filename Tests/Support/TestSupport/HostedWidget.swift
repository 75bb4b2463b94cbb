import Foundation

/// widget-host with one widget, a program of this package.
package final class HostedWidget {
    package let container: TemporaryContainer
    private let host: RunningProcess
    private let kind: String

    /// Starts the host. `interests` are those of the widget's manifest; nil for a manifest without them.
    package init(_ kind: String, program: String, _ arguments: [String], interests: [String]?) throws {
        self.kind = kind
        container = try TemporaryContainer()
        let widgets = container.directory + "/widgets"
        try FileManager.default.createDirectory(atPath: widgets, withIntermediateDirectories: true)
        var manifest: [String: Any] = [
            "kind": kind, "executable": BuildDirectory.path + "/" + program, "arguments": arguments,
        ]
        manifest["interests"] = interests
        try JSONSerialization.data(withJSONObject: manifest).write(to: URL(filePath: "\(widgets)/\(kind).json"))
        host = try RunningProcess(
            ["widget-host", "show", "--verbose", "--widgets", widgets, container.path],
            environment: container.environment.merging(["XDG_STATE_HOME": container.directory + "/state"]) { $1 })
    }

    /// Waits until the text is what the host has shown last.
    package func waitUntilShown(_ text: String) throws {
        let start = "\t\(kind)\tactive\t"
        try host.waitForText { output in
            // The last part is empty, or a line that is not whole yet.
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return lines.last { $0.contains(start) }?.hasSuffix(start + text) ?? false
        }
    }

    /// Waits until the host has written a text.
    package func waitForText(_ text: String) throws { try host.waitForText(text) }

    /// Runs a program of this package to its end, with the container in the environment, as a host starts a widget.
    /// Returns its status and output.
    @discardableResult
    package func run(_ words: String...) throws -> (status: Int32, text: String) {
        try RunningProcess(words, input: "", environment: ["GROUP_CONTAINER": container.path]).finish()
    }
}
