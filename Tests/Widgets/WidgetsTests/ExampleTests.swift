import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `The to-do example` {
    private func todo(_ container: TemporaryContainer, _ words: String...) async throws -> RunningProcess.Outcome {
        try await container.start("todo", ["--group", container.path] + words).finish()
    }

    private func widget(_ container: TemporaryContainer, _ style: String, _ words: String...) throws -> RunningProcess {
        try container.start("todo-widget", ["--group", container.path, "--style", style] + words)
    }

    @Test func `the to-do app adds, completes, removes and lists entries`() async throws {
        let container = try TemporaryContainer(creating: false)
        #expect(try await todo(container, "list").output == [])
        for title in ["Milk", "Bread", "Tea, \"green\" ☕"] {
            #expect(try await todo(container, "add", title).status == 0)
        }
        #expect(try await todo(container, "done", "2").status == 0)
        #expect(try await todo(container, "list").lines == ["1 [ ] Milk", "2 [x] Bread", "3 [ ] Tea, \"green\" ☕"])
        #expect(try await todo(container, "remove", "1").status == 0)
        #expect(try await todo(container, "list").lines == ["1 [x] Bread", "2 [ ] Tea, \"green\" ☕"])
        #expect(try await todo(container, "add", "one\u{1B}[2J\ntwo").status == 0)
        #expect(try await todo(container, "list").lines.last == #"3 [ ] one\033[2J\ntwo"#)
        let changes = try await container.done("changes", "--since", "start", "--json").lines.map { try JSONChange($0) }
        #expect(changes.filter { $0.path == "Library/todo.json" }.allSatisfy { $0.by?.purpose == "todo-app" })
    }

    @Test(arguments: ["done", "remove"]) func `the to-do app refuses a wrong number and changes nothing`(verb: String)
        async throws
    {
        let container = try TemporaryContainer()
        _ = try await todo(container, "add", "Milk")
        let outcome = try await todo(container, verb, "2")
        #expect(outcome.status == 1 && outcome.errors.contains("there is no entry 2; the list has 1"), "\(outcome)")
        for number in ["0", "x", "1.5", "99999999999999999999"] {
            #expect(try await todo(container, verb, number).status == 64)
        }
        #expect(try await todo(container, verb, "--", "-1").status == 64)
        #expect(try await todo(container, "list").lines == ["1 [ ] Milk"])
    }

    @Test func `the to-do app ends when no process reads what it opens`() async throws {
        let container = try TemporaryContainer()
        let app = try container.start("todo", ["--group", container.path, "serve", "--idle", "1h"])
        app.closeOutput()
        #expect(try await app.finish().status == 0)
    }

    @Test func `completing an entry of the to-do app twice changes nothing`() async throws {
        let container = try TemporaryContainer()
        _ = try await todo(container, "add", "Milk")
        _ = try await todo(container, "done", "1")
        let before = try await JSONStatus(of: container).journal.sequence
        #expect(try await todo(container, "done", "1").status == 0)
        #expect(try await JSONStatus(of: container).journal.sequence == before)
    }

    @Test func `the to-do app loses no entry of several processes at once`() async throws {
        let container = try TemporaryContainer()
        let apps = try (0..<8).map { try container.start("todo", ["--group", container.path, "add", "entry \($0)"]) }
        for app in apps { #expect(try await app.finish().status == 0) }
        let titles = try await todo(container, "list").lines.compactMap {
            $0.split(separator: "] ").last.map(String.init)
        }
        #expect(titles.sorted() == (0..<8).map { "entry \($0)" })
    }

    @Test func `the to-do widget with --once ends with the status of its result`() async throws {
        let container = try TemporaryContainer()
        var outcome = try await widget(container, "count", "--once").finish()
        #expect(outcome.status == 0 && outcome.lines == ["todo-count\tnewData\t0 to do"], "\(outcome)")
        outcome = try await widget(container, "count", "--once").finish()
        #expect(outcome.status == 3 && outcome.lines == ["todo-count\tnoData\t"], "\(outcome)")
        _ = try await todo(container, "add", "Milk")
        outcome = try await widget(container, "count", "--once").finish()
        #expect(outcome.status == 0 && outcome.lines == ["todo-count\tnewData\t1 to do"], "\(outcome)")
        #expect(try await container.shell("echo nonsense > \"$1/Library/todo.json\"").status == 0)
        outcome = try await widget(container, "count", "--once").finish()
        #expect(outcome.status == 1 && outcome.lines == ["todo-count\tfailed\t"], "\(outcome)")
        #expect(try await widget(container, "other", "--once").finish().status == 64)
    }

    @Test func `the to-do widget misses no change, also after it was killed`() async throws {
        let container = try TemporaryContainer()
        var next = try widget(container, "next")
        #expect(try await next.readLine() == "todo-next\tnewData\tall done")
        _ = try await todo(container, "add", "Milk")
        #expect(try await next.readLine() == "todo-next\tnewData\tMilk")
        _ = try await todo(container, "add", "Bread")
        #expect(try await next.readLine() == "todo-next\tnoData\t")
        // This is an external change, as by an editor.
        #expect(try await container.shell("sed -i s/Milk/Tea/ \"$1/Library/todo.json\"").status == 0)
        #expect(try await next.readLine() == "todo-next\tnewData\tTea")
        next.signal(SIGKILL)
        #expect(try await next.end() == 128 + SIGKILL)
        _ = try await todo(container, "remove", "1")
        next = try widget(container, "next")
        #expect(try await next.readLine() == "todo-next\tnewData\tBread")
    }

    @Test func `the example of the README prints the documented lines`() async throws {
        let directory = try TemporaryContainer(creating: false)
        let outcome = try await directory.shell(
            "readme-example \"$1\" && groupctl read \"$1\" todo.json")
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.lines.first == "created todo.json todo-app" && outcome.text.contains("Milk"), "\(outcome)")
    }

    @Test func `the example of the tour prints the documented lines`() async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await container.start("tour", [container.path]).finish()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        let lines = outcome.lines
        #expect(lines.prefix(3) == ["1 no theme", "next: Milk", "newData"])
        let reported = lines.dropFirst(3).map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
        #expect(
            reported.filter { !$0.hasPrefix("created Library ") } == [
                "created Library/todo.json todo-app", "created Library/next-week.json todo-app",
                "created Library/backup.json todo-app",
            ], "\(lines)")
        #expect(lines.dropFirst(3).allSatisfy { $0.split(separator: " ").last?.hasPrefix("g1-") == true })
        #expect(try await todo(container, "list").lines == ["1 [ ] Milk"])
        #expect(try await container.start("tour", []).finish().status == 64)
    }
}
