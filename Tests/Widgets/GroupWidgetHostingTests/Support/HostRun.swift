import Foundation
import GroupContainer
import TestSupport

/// widget-host with widgets of the tests, driven by lines.
final class HostRun {
    let container: TemporaryContainer
    private(set) var host: RunningProcess

    /// Creates a manifest for each kind, with its other fields as JSON members, and starts the host.
    init(_ kinds: [String: String], options: [String] = ["--grace", "0.3"]) throws {
        container = try TemporaryContainer()
        try FileManager.default.createDirectory(
            atPath: container.directory + "/widgets", withIntermediateDirectories: true)
        for (kind, fields) in kinds { try Self.install(kind, fields, in: container) }
        host = try Self.started(options, container)
    }

    var widgets: String { container.directory + "/widgets" }

    var environment: [String: String?] { Self.environment(container) }

    private static func environment(_ container: TemporaryContainer) -> [String: String?] {
        container.environment.merging(["XDG_STATE_HOME": container.directory + "/state"]) { $1 }
    }

    private static func started(_ options: [String], _ container: TemporaryContainer) throws -> RunningProcess {
        try RunningProcess(
            ["widget-host", "show", "--verbose", "--widgets", container.directory + "/widgets"] + options + [
                container.path
            ],
            environment: environment(container))
    }

    /// Starts the host again, after the last one has ended.
    func start(_ options: [String] = []) throws { host = try Self.started(options, container) }

    /// Runs another widget-host to its end.
    func run(_ words: String..., options: [String] = []) throws -> (status: Int32, text: String) {
        try RunningProcess(
            ["widget-host"] + words.prefix(1) + ["--widgets", widgets] + options + [container.path]
                + words.dropFirst(), input: "",
            environment: environment
        ).finish()
    }

    func install(_ kind: String, _ fields: String = "") throws { try Self.install(kind, fields, in: container) }

    private static func install(_ kind: String, _ fields: String, in container: TemporaryContainer) throws {
        let program = BuildDirectory.path + "/test-widget"
        var text = #"{"kind": "\#(kind)", "executable": "\#(program)", "interests": ["Library/\#(kind)"]"#
        if !fields.isEmpty { text += ", " + fields }
        try Data((text + "}").utf8).write(
            to: URL(filePath: "\(container.directory)/widgets/\(kind).json"), options: .atomic)
    }

    /// The item that the widget shows.
    func write(_ text: String, for kind: String) throws {
        _ = try container.groupctl("write", "Library/\(kind)", input: text)
    }

    /// Waits until the host has printed that.
    func await(_ kind: String, _ state: String, _ text: String) throws {
        try host.waitForText("\t\(kind)\t\(state)\t\(text)")
    }

    func send(_ line: String) throws { try host.send(line) }

    /// The present process of the widget: the last that the widget has logged.
    func process(of kind: String) -> Int32 {
        let lines = host.text.split(separator: "\n").map(String.init)
        let start = "widget-host: \(kind): process "
        return lines.last { $0.hasPrefix(start) }.flatMap { Int32($0.dropFirst(start.count)) } ?? -1
    }

    /// Ends the host, and returns everything that it has printed.
    @discardableResult func quit() throws -> String {
        try host.send("quit")
        return try host.finish().text
    }
}
