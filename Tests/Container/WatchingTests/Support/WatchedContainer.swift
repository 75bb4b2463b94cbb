import Glibc
import TestSupport
import Testing

/// A container with a follower that is its leader, and the tree that the follower's lines make.
final class WatchedContainer {
    let container: TemporaryContainer
    private(set) var watcher: RunningProcess
    var tree = StreamedTree()

    /// Runs `preparation` before the container is watched. The follower gets all changes from the start.
    convenience init(_ preparation: String = "") async throws {
        let container = try TemporaryContainer()
        if !preparation.isEmpty { try await Self.run(preparation, in: container) }
        try await self.init(container)
    }

    /// Watches the container from now on.
    init(_ container: TemporaryContainer) async throws {
        self.container = container
        watcher = try await container.watching("--json", "--since", "start")
        try await settle()
    }

    /// Runs a shell script in the container, without any coordination.
    static func run(_ script: String, in container: TemporaryContainer) async throws {
        let outcome = try await container.shell("set -e; cd \"$1\"; " + script)
        if outcome.status != 0 { throw TemporaryContainer.Failed(description: "\(script): \(outcome)") }
    }

    /// Returns what the stream reports of a shell script that changes the container without coordination.
    @discardableResult
    func changes(by script: String, at location: SourceLocation = #_sourceLocation) async throws -> [JSONChange] {
        try await Self.run(script, in: container)
        let changes = try await settle(at: location)
        #expect(changes.allSatisfy { !$0.coordinated && $0.by == nil }, sourceLocation: location)
        return changes
    }

    /// Returns what the stream reports of a shell script that runs while the leader is stopped: it gets all events at
    /// once, when everything has happened.
    @discardableResult
    func changes(inOneRoundBy script: String, at location: SourceLocation = #_sourceLocation) async throws
        -> [JSONChange]
    {
        try #require(watcher.stop())
        defer { watcher.signal(SIGCONT) }
        try await Self.run(script, in: container)
        watcher.signal(SIGCONT)
        return try await settle(at: location)
    }

    /// Runs `body` while no process follows; then the follower goes on where it was.
    func unwatched(_ body: () async throws -> Void) async throws {
        watcher.signal(SIGTERM)
        _ = try await watcher.finish()
        try await body()
        watcher = try await container.watching("--json", "--since", tree.cursor.isEmpty ? "start" : tree.cursor)
    }

    /// Returns what the stream reports of a shell script, each change as a short text.
    func reported(by script: String, at location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await changes(by: script, at: location).map(\.summary)
    }

    /// Reads every line up to now, and compares the tree that they make with the disk. Their number comes from a
    /// command that waits until the leader has recorded everything.
    @discardableResult
    func settle(at location: SourceLocation = #_sourceLocation) async throws -> [JSONChange] {
        let place = tree.cursor.isEmpty ? "start" : tree.cursor
        let count = try await container.done("changes", "--since", place).lines.count
        var changes: [JSONChange] = []
        while changes.count < count { changes.append(try await next()) }
        let differences = try await tree.differences(from: StreamedTree.onDisk(container))
        #expect(differences.isEmpty, "\(changes.map(\.summary))", sourceLocation: location)
        #expect(tree.faults.isEmpty, "\(changes.map(\.summary))", sourceLocation: location)
        return changes
    }

    /// Reads the next line, and applies it to the tree.
    @discardableResult
    func next() async throws -> JSONChange {
        guard let line = try await watcher.readLine() else {
            throw TemporaryContainer.Failed(description: "watch-group ended: \(try await watcher.finish())")
        }
        let change = try JSONChange(line)
        tree.apply(change)
        return change
    }
}

extension Array where Element: Equatable {
    /// The elements without those that repeat the one before them.
    var withoutRepetitions: [Element] {
        reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}
