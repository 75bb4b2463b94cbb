import Foundation
import Glibc
import TestSupport
import Testing

/// What the doctor finds where no changes arrive.
@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process, .root, .namespaces))
struct `Findings about watching` {
    private func codes(_ container: TemporaryContainer) async throws -> [String] {
        let outcome = try await container.run("doctor", "--json")
        return try outcome.lines.map { try JSONFinding($0).code }.filter { $0 != "fileSystemTemporary" }
    }

    /// Returns the findings as soon as there are any: a signal takes a moment.
    private func firstFindings(_ container: TemporaryContainer) async throws -> [JSONFinding] {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            let found = try await container.findings()
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Returns the watcher's first line of that kind; nil if it ends before.
    private func degraded(_ watcher: RunningProcess) async throws -> String? {
        while let line = try await watcher.readLine() { if line.hasPrefix("degraded") { return line } }
        return nil
    }

    /// Starts a program in a user namespace of its own that has this little of inotify.
    private func start(
        _ program: String, _ words: [String], in container: TemporaryContainer, limit: String, _ number: Int
    ) throws -> RunningProcess {
        let script = "echo \(number) > /proc/sys/user/max_inotify_\(limit) && exec \"$0\" \"$@\""
        return try container.start(
            "unshare", ["-Ur", "sh", "-c", script, BuildDirectory.resolve(program)] + words + [container.path])
    }

    @Test func `the doctor reports that no process follows, and nothing once one does`() async throws {
        let container = try TemporaryContainer()
        #expect(try await codes(container) == ["leaderMissing"])
        let watcher = try await container.watching()
        #expect(try await codes(container) == [])
        watcher.signal(SIGKILL)
        _ = try await watcher.finish()
        #expect(try await codes(container) == ["leaderMissing"])
    }

    // fault: leader-stopped
    @Test func `the doctor names a leader that is stopped`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--purpose", "the-watcher")
        try #require(watcher.stop())
        let found = try await firstFindings(container)
        #expect(found.map(\.code) == ["leaderStopped"] && found.first?.pid == watcher.identifier, "\(found)")
        #expect(
            found.first?.what.contains("the-watcher ('") == true
                && found.first?.remedy.contains("kill -CONT \(watcher.identifier)") == true)
        watcher.signal(SIGCONT)
        let end = ContinuousClock.now + patience
        while try await !codes(container).isEmpty && ContinuousClock.now < end {}
        #expect(try await codes(container).isEmpty)
    }

    // fault: leader-stopped
    @Test func `verbose followers report what became of the leadership`() async throws {
        let container = try TemporaryContainer()
        let first = try await container.watching()
        let second = try await container.watching()
        #expect(try await first.readLine(from: .errors)?.hasPrefix("leadershipTaken: ") == true)
        try #require(first.stop())
        #expect(try await second.readLine(from: .errors)?.contains("the leader before did not reply") == true)
        first.signal(SIGCONT)
        #expect(try await first.readLine(from: .errors)?.hasPrefix("leadershipSuperseded: ") == true)
    }

    // fault: holder-stopped
    @Test func `the doctor names a process that is stopped with a lock`() async throws {
        let container = try TemporaryContainer()
        let holder = try await LockHolder(of: "item", in: container, purpose: "the-holder")
        #expect(try await container.findings().isEmpty)
        try #require(holder.command.stop())
        let found = try await firstFindings(container)
        #expect(found.map(\.code) == ["lockHolderStopped"], "\(found)")
        #expect(found.first?.item == "item" && found.first?.pid == holder.command.identifier)
        holder.command.signal(SIGCONT)
        #expect(try await holder.release().status == 0)
    }

    // fault: no-inotify
    @Test(arguments: [("instances", 0), ("watches", 3)])
    func `the doctor reports what the leader lacks of inotify, and where`(limit: String, number: Int) async throws {
        let container = try TemporaryContainer()
        try await WatchedContainer.run("mkdir -p a/b c", in: container)
        let watcher = try start("watch-group", [], in: container, limit: limit, number)
        _ = try await degraded(watcher)
        let found = try await container.findings()
        #expect(found.map(\.code) == ["watchingDegraded"], "\(found)")
        #expect(found.first?.what.contains("no inotify \(limit == "watches" ? "watch" : "instance") is left") == true)
        #expect(found.first?.severity == "warning" && found.first?.what.contains("sysctl") == true)
    }

    // fault: no-inotify
    @Test(arguments: [("instances", "inotifyInstances", 0), ("watches", "inotifyWatches", 3)])
    func `the doctor reports how much of inotify is taken before any process follows`(
        limit: String, code: String, number: Int
    )
        async throws
    {
        let container = try TemporaryContainer()
        try await WatchedContainer.run("mkdir -p a/b c", in: container)
        let outcome = try await start("groupctl", ["doctor", "--json"], in: container, limit: limit, number).finish()
        let found = try outcome.lines.map { try JSONFinding($0) }.filter { $0.severity != "note" }
        #expect(outcome.status == 1 && found.map(\.code) == [code], "\(outcome)")
        #expect(found.first?.item == "user.max_inotify_\(limit)")
        #expect(found.first?.what.contains("of \(number)") == true)
        #expect(found.first?.remedy.contains("'sysctl user.max_inotify_\(limit)=") == true)
        #expect(try await container.findings().isEmpty)
    }

    // fault: read-only
    @Test(.enabled(if: isRoot, "needs root"))
    func `the doctor names the directories that the user may not enter`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.shell("chmod 711 \"$1/..\"; mkdir -p \"$1/closed/inner\"; chmod 700 \"$1/closed\"")
        func asNobody() async throws -> [JSONFinding] {
            let words = ["--reuid", "65534", "--regid", "65534", "--clear-groups", BuildDirectory.resolve("groupctl")]
            let outcome = try await container.start("setpriv", words + ["doctor", "--json", container.path]).finish()
            return try outcome.lines.map { try JSONFinding($0) }
        }
        let outside = try await asNobody()
        #expect(outside.map(\.code) == ["notPermitted"], "\(outside)")
        #expect(outside.first?.what.contains("user 65534 may not enter it: it has mode 0700, of user 0") == true)
        _ = try await container.shell("chmod 755 \"$1\" \"$1/.group\"; chmod -R a+rX \"$1/.group\"")
        let inside = try await asNobody().filter { !["leaderMissing", "fileSystemTemporary"].contains($0.code) }
        #expect(inside.map(\.code) == ["directoryUnreadable", "readOnly"], "\(inside)")
        #expect(inside.first?.item == "closed")
    }

    // fault: truncated-map
    @Test(.needsRoot) func `the doctor reports a directory that is closed to the leader`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.shell(
            "chmod 711 \"$1/..\"; chown -R 65534 \"$1\"; mkdir \"$1/closed\"; chmod 000 \"$1/closed\"")
        let watcher = try container.start(
            "setpriv",
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", BuildDirectory.resolve("watch-group"),
                container.path,
            ])
        #expect(try await degraded(watcher)?.hasPrefix("degraded\tclosed\t") == true)
        let found = try await container.findings()
        #expect(found.map(\.code) == ["watchingDegraded"] && found.first?.item == "closed", "\(found)")
    }
}
