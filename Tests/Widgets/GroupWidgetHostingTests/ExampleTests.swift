import Foundation
import Glibc
import GroupContainer
import GroupManifests
import GroupWidgetHosting
import TestSupport
import Testing
import WidgetApp
import Widgets

/// The example apps and their widgets, each a process, under widget-host.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The example widgets` {
    private final class Stage {
        let container: TemporaryContainer
        let host: RunningProcess

        init(_ kinds: String) throws {
            container = try TemporaryContainer()
            let manifests = projectDirectory.appending(path: "Sources/Examples/Manifests").path
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            let environment = container.environment.merging([
                "XDG_STATE_HOME": container.directory + "/state", "PATH": "\(BuildDirectory.path):\(path)",
            ]) { $1 }
            host = try RunningProcess(
                ["widget-host", "show", "--verbose", "--widgets", manifests, "--show", kinds, container.path],
                environment: environment)
        }

        func app(_ words: String...) throws -> (status: Int32, text: String) {
            try RunningProcess([words[0], "--group", container.path] + words.dropFirst(), input: "").finish()
        }

        func sees(_ kind: String, _ state: String, _ text: String) throws {
            try host.waitForText("\t\(kind)\t\(state)\t\(text)\n")
        }

        /// Returns the texts that the widget has shown, in order, without repetitions.
        func shown(_ kind: String) -> [String] {
            let lines = host.text.split(separator: "\n").map {
                $0.split(separator: "\t", omittingEmptySubsequences: false)
            }
            return lines.filter { $0.count > 3 && $0[1] == kind }.map { String($0[3]) }.reduce(into: []) {
                if $0.last != $1 { $0.append($1) }
            }
        }
    }

    @Test func `the example manifests have no findings, and each has a title`() throws {
        let manifests = projectDirectory.appending(path: "Sources/Examples/Manifests").path
        let found = ManifestDirectories<WidgetManifest>(manifests).read()
        #expect(found.errors.isEmpty && found.findings.isEmpty && found.manifests.count == 10)
        #expect(Set(found.manifests.map(\.title)).count == 10, "\(found.manifests.map(\.title))")
    }

    @Test func `the note widget shows each saved note, also those saved while it was hidden`() throws {
        let stage = try Stage("note")
        let button = #"\n> Add the time"#
        try stage.sees("note", "active", "nothing noted\(button)")
        #expect(try stage.app("note", "save", "milk").status == 0)
        try stage.sees("note", "active", "milk\(button)")
        #expect(try stage.app("note", "--through", "defaults", "save", "bread").status == 0)
        try stage.sees("note", "active", "bread")
        try stage.host.send("hide note")
        try stage.sees("note", "suspended", "bread")
        #expect(try stage.app("note", "clear").status == 0)
        try stage.host.send("show note")
        try stage.sees("note", "active", "nothing noted")
    }

    @Test func `a press ticks a task of the note, and removes what is done`() throws {
        let stage = try Stage("note")
        #expect(try stage.app("note", "save", "--", "- [ ] milk\n- [ ] bread").status == 0)
        try stage.sees("note", "active", #"[ ] milk\n[ ] bread\n> Add the time"#)
        try stage.host.send("press note 1")
        try stage.sees("note", "active", #"[x] milk\n[ ] bread\n> Add the time\n> Remove 1 done"#)
        try stage.host.send("press note 4")
        try stage.sees("note", "active", #"[ ] bread\n> Add the time"#)
        #expect(try stage.app("note", "get").text == "- [ ] bread\n")
        try stage.host.send("press note 2")
        try stage.host.waitForText(#"[ ] bread\n2"#)
    }

    #if ICalendar
    @Test func `the agenda follows the file that another program copies, and says what it leaves out`() throws {
        let stage = try Stage("agenda")
        try stage.sees("agenda", "active", "there is no Library/agenda.ics")
        let day = Date(timeIntervalSinceNow: 3 * 86_400).formatted(
            .iso8601.year().month().day().dateSeparator(.omitted))
        let text = """
            BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Fair\r\nLOCATION:Hall 3\r\nDTSTART;VALUE=DATE:\(day)\r\nEND:VEVENT\r
            BEGIN:VEVENT\r\nSUMMARY:x\r\nDTSTART:soon\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
            """
        let file = stage.container.directory + "/new.ics"
        try Data(text.utf8).write(to: URL(filePath: file))
        let library = stage.container.path + "/Library"
        #expect(
            try RunningProcess(["sh", "-c", "mkdir -p '\(library)' && cp '\(file)' '\(library)/agenda.ics'"]).reap()
                == 0)
        try stage.host.waitForText(#" Fair Hall 3\nan event is left out: 'x' has a DTSTART that cannot be read"#)
    }
    #endif

    @Test func `the gauges show memory and disk`() throws {
        let stage = try Stage("machine")
        try stage.host.waitForText { $0.contains(#/machine\tactive\tMemory \d+ %\\nDisk \d+ %/#) }
    }

    @Test func `the to-do widgets show entries or a button, and open the app`() throws {
        let stage = try Stage("todo-list,todo-count")
        try stage.sees("todo-list", "active", "+ Add an entry")
        try stage.sees("todo-count", "active", "0 to do")
        for title in ["Milk", "Bread"] { #expect(try stage.app("todo", "add", title).status == 0) }
        try stage.sees("todo-count", "active", "2 to do")
        try stage.host.waitForText("\ttodo-list\tactive\t[ ] Bread")
        let app = try RunningProcess(["todo", "--group", stage.container.path, "serve"])
        let channel = try GroupChannel(stage.container.open(), name: "group-container.open.todo")
        #expect(try channel.waitForListener(named: "app", timeout: .seconds(60)))
        try stage.host.send("open todo-list 1")
        try app.waitForText("entry 2: Bread\n")
        app.signal(SIGTERM)
        app.reap()
    }

    @Test func `the editor saves what was typed as soon as another process reads the list`() throws {
        let container = try TemporaryContainer()
        let editor = try RunningProcess(["todo", "--group", container.path, "edit"])
        for title in ["Milk", "Bread"] { try editor.send(title) }
        let entries = "1 [ ] Milk\n2 [ ] Bread\n"
        #expect(
            try eventually {
                try RunningProcess(["todo", "--group", container.path, "list"]).finish().text == entries
            })
        try editor.send("Tea")
        editor.closeInput()
        #expect(try editor.finish().status == 0)
        #expect(try container.content("Library/todo.json").contains("Tea"))
    }

    private func isMember(_ process: RunningProcess, of container: TemporaryContainer) throws -> Bool {
        try container.open().status().members.contains { $0.processIdentifier == process.identifier }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `what was typed is saved when a signal ends the editor`(signal: Int32) throws {
        let container = try TemporaryContainer()
        let editor = try RunningProcess(["todo", "--group", container.path, "edit"])
        try editor.send("typed text")
        #expect(try eventually { try isMember(editor, of: container) })
        #expect(eventually { editor.hasReadInput })
        editor.signal(signal)
        #expect(try editor.finish().status == 0)
        let list = try RunningProcess(["todo", "--group", container.path, "list"]).finish()
        #expect(list.text == "1 [ ] typed text\n")
    }

    @Test(arguments: [["todo"], ["note"], ["note", "--through", "defaults"]])
    func `what was typed is printed where it cannot be saved`(words: [String]) throws {
        let container = try TemporaryContainer()
        let editor = try RunningProcess(words + ["--group", container.path, "edit"])
        try editor.send("typed text")
        #expect(try eventually { try isMember(editor, of: container) })
        #expect(eventually { editor.hasReadInput })
        try FileManager.default.removeItem(atPath: container.path)
        editor.closeInput()
        let (status, text) = try editor.finish()
        #expect(status != 0 && text.contains("not saved; this was typed:\ntyped text\n"), "\(status) \(text)")
    }

    @Test func `a note of gigabytes is not read`() throws {
        let container = try TemporaryContainer()
        #expect(try container.groupctl("mkdir", "Library").status == 0)
        #expect(succeeds(["truncate", "-s", "2G", container.path + "/Library/note.txt"]))
        let (status, text) = try RunningProcess(["note", "--group", container.path, "get"]).finish()
        #expect(status == 1 && text.contains("has 2147483648 bytes, and is not read"), "\(status) \(text)")
    }

    @Test func `the countdown widget counts on without its app, until it is finished`() throws {
        let stage = try Stage("countdown")
        try stage.sees("countdown", "active", "no countdown")
        let end = { stage.shown("countdown").first { $0.hasPrefix("until 2") } }
        let app = try RunningProcess(["countdown", "--group", stage.container.path, "start", "2.5"])
        let center = try WidgetCenter(stage.container.open())
        #expect(try eventually { try center.isAppInFront() })
        app.signal(SIGTERM)
        #expect(try app.finish().text == "left\n")
        try stage.sees("countdown", "active", "finished")
        #expect(end() != nil, "a line has the end: \(stage.shown("countdown"))")
        #expect(stage.shown("countdown").count >= 3, "\(stage.shown("countdown"))")
    }

    @Test func `the host logs the address that a stopped app has not taken`() throws {
        let stage = try Stage("quick-actions")
        try stage.host.waitForText("\tquick-actions\tactive\tCompose")
        let app = try RunningProcess(["quick-actions", "--group", stage.container.path, "--idle", "60"])
        let channel = try GroupChannel(stage.container.open(), name: "group-container.open.quick-actions")
        #expect(try channel.waitForListener(named: "app", timeout: .seconds(60)))
        app.signal(SIGSTOP)
        try stage.host.send("open quick-actions 2")
        try stage.host.waitForText("quick-actions: its app has not taken 'quick-actions://search' in time")
        app.signal(SIGKILL)
        app.reap()
    }

    @Test func `a widget opens an app that was registered in another working directory`() throws {
        let stage = try Stage("quick-actions")
        try stage.host.waitForText("\tquick-actions\tactive\tCompose")
        let directory = (stage.container.path as NSString).deletingLastPathComponent
        let name = (stage.container.path as NSString).lastPathComponent
        let app = try RunningProcess(
            [
                "sh", "-c",
                "cd '\(directory)' && exec '\(BuildDirectory.path)/quick-actions' --group ./\(name) --idle 0",
            ],
            input: "")
        #expect(try app.finish().status == 0)
        let container = try stage.container.open()
        var changes = try container.recordedChanges(
            since: .now, matching: ChangeFilter(including: ["Library/opened.json"]))
        try stage.host.send("open quick-actions 2")
        #expect(try changes.next(timeout: .seconds(60)) != nil)
    }

    @Test func `the quick actions widget starts its app and opens places in it`() throws {
        let stage = try Stage("quick-actions")
        try stage.host.waitForText("\tquick-actions\tactive\tCompose")
        #expect(try stage.app("quick-actions", "--idle", "0").status == 0)
        let container = try stage.container.open()
        var changes = try container.recordedChanges(
            since: .now, matching: ChangeFilter(including: ["Library/opened.json"]))
        for line in ["2", "4"] {
            try stage.host.send("open quick-actions \(line)")
            _ = try changes.next(timeout: .seconds(60))
        }
        let opened = try container.coordinator(purpose: "test").blocking
            .read("Library/opened.json", as: [String].self)
        #expect(opened == ["opened search", "opened share"])
    }
}
