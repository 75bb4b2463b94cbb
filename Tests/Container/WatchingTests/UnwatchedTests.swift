import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Changes while no process watched` {
    static let preparation = """
        mkdir -p d/e foo/x bare; printf 1 > f; printf 22 > d/e/g; printf 333 > foo/x/h; printf 4444 > keep; chmod 644 f
        """
    static let scripts = [
        ": > new", "mkdir -p n/o; printf x > n/o/p", "printf other > f", "printf 2 1<> f", "chmod 600 f", "touch f",
        "rm f",
        "mv f moved", "mv f d/e/f", "mv f d/e/g", "mv d D; : > D/e/new", "rm -r d", "mv foo bar; ln -s bar foo",
        "mv d t; mv foo d; mv t foo", "mv foo/x d/x; mv d foo/d; mkdir d; : > d/e", "mv d/e e; mv e/g d/g; mv d e/d",
        "rm f; mkdir f; : > f/f", "rm -r d; : > d", "mv f ../f; mv keep f", "mv d ../d; mv ../d d",
        "rm -r d foo bare f keep",
        "ln f hard; rm f", "rm f; printf 1 > f", "cp -a d copy; rm -r d", "ln -s . loop; ln -s ../.. out; rmdir bare",
    ]

    private func changes(_ container: TemporaryContainer, since cursor: String) async throws -> [JSONChange] {
        try await container.done("changes", "--json", "--since", cursor).lines.map { try JSONChange($0) }
    }

    private func check(_ tree: StreamedTree, _ container: TemporaryContainer, _ changes: [JSONChange]) async throws {
        #expect(try await tree.differences(from: StreamedTree.onDisk(container)) == [], "\(changes.map(\.summary))")
        #expect(tree.faults == [], "\(changes.map(\.summary))")
    }

    @Test(arguments: scripts) func `changes while no process watched are reported by the next command, and once`(
        script: String
    ) async throws {
        let container = try TemporaryContainer()
        try await WatchedContainer.run(Self.preparation, in: container)
        var tree = StreamedTree()
        let before = try await changes(container, since: "start")
        for change in before { tree.apply(change) }
        try await check(tree, container, before)

        let cursor = tree.cursor
        try await WatchedContainer.run(script, in: container)
        let reported = try await changes(container, since: cursor)
        #expect(reported.allSatisfy { !$0.coordinated })
        for change in reported { tree.apply(change) }
        try await check(tree, container, reported)
        #expect(try await changes(container, since: cursor) == reported)

        // A follower that comes later with the same cursor gets the same, and then what follows.
        let watcher = try await container.watching("--json", "--since", cursor)
        try await WatchedContainer.run("mkdir last", in: container)
        let followed = try await watcher.readLines(reported.count + 1).map { try JSONChange($0) }
        #expect(followed.dropLast() == reported[...] && followed.last?.summary == "created last")
    }

    // fault: change-before-following
    @Test(arguments: scripts) func `changes while no process watched are reported to the next follower, and once`(
        script: String
    ) async throws {
        let watched = try await WatchedContainer(Self.preparation)
        var tree = watched.tree
        watched.watcher.signal(15)
        #expect(try await watched.watcher.end() == 143)
        try await WatchedContainer.run(script, in: watched.container)

        let watcher = try await watched.container.watching("--json", "--since", tree.cursor)
        let count = try await changes(watched.container, since: tree.cursor).count
        let reported = try await watcher.readLines(count).map { try JSONChange($0) }
        for change in reported { tree.apply(change) }
        try await check(tree, watched.container, reported)
    }

    @Test(arguments: [2 << 20, 5]) func `new content of the same size whose date was put back is a modification`(
        size: Int
    ) async throws {
        let container = try TemporaryContainer()
        let write = "head -c \(size) /dev/zero | tr '\\0'"
        try await WatchedContainer.run("\(write) a >f; \(write) a >mode; : >here", in: container)
        let cursor = try #require(try await changes(container, since: "start").last?.cursor)
        try await WatchedContainer.run(
            "chmod 600 mode; touch -r f date; \(write) b 1<>f; touch -r date f; rm date", in: container)
        let reported = try await changes(container, since: cursor)
        #expect(Set(reported.map(\.summary)) == ["modified f", "touched mode"])
    }
}
