import Foundation
import TestSupport

/// Keeps a copy of a container from nothing but the lines of `watch-group`, dies, and comes back with the cursor that
/// it had kept.
final class Follower {
    private let container: TemporaryContainer
    /// The file in which `watch-group` keeps the cursor; nil if the follower keeps it by itself.
    private let cursorFile: String?
    private var process: RunningProcess?
    private var began: String?
    private var cursor: String?
    private(set) var tree: StreamedTree
    private(set) var runs: [StreamChecker.Run] = []

    /// With `isRacy`, others change the container without coordination while members change it.
    init(of container: TemporaryContainer, keepingFile name: String?, isRacy: Bool = true) throws {
        self.container = container
        tree = StreamedTree(isRacy: isRacy)
        cursorFile = name.map { "\(container.directory)/\($0)" }
        try start()
    }

    var isAlive: Bool { process != nil }

    func start() throws {
        if process != nil { return }
        var words = ["watch-group", "--json", "--verbose", "--since", cursor ?? "start"]
        began = cursor
        if let cursorFile {
            words = ["watch-group", "--json", "--verbose", "--since", "start", "--cursor-file", cursorFile]
            began = try? String(contentsOfFile: cursorFile, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        process = try RunningProcess(words + [container.path])
    }

    func kill() throws {
        guard let process else { return }
        process.signal(9)
        let text = try process.finish().text
        self.process = nil
        try take(text)
    }

    /// Stops the process, but not before it has joined: no other process can join while it does.
    func stop() throws {
        try process?.waitForText("watching")
        _ = process?.stop()
    }

    func resume() { process?.resume() }

    /// Waits for this line, and takes all that was printed.
    func reach(_ line: String?) throws {
        guard let process else { return }
        if let line, tree.cursor != (try JSONChange(line).cursor) { try process.waitForText(line + "\n") }
        try take(process.text)
    }

    /// Takes what was printed, as far as lines and transactions are whole, but nothing that is known already.
    private func take(_ text: String) throws {
        let whole = text.lastIndex(of: "\n").map { text[..<$0] } ?? ""
        // Other lines are for people.
        let lines = try whole.split(separator: "\n").filter { $0.first == "{" }.map { try JSONChange(String($0)) }
        runs.append(StreamChecker.Run(since: began, lines))
        let known = tree.sequence
        let end = lines.lastIndex { ($0.transaction?.index ?? 0) + 1 == $0.transaction?.count ?? 1 } ?? -1
        for line in lines[...end] {
            cursor = line.cursor
            if line.sequence > known { tree.apply(line) }
        }
    }
}
