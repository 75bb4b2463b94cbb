import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing
import WidgetApp
import Widgets

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `widget-host` {
    @Test func `--once refreshes each widget once and prints its view`() throws {
        let run = try HostRun(["a": "", "b": #""title": "Bread""#])
        try run.quit()
        try run.write("milk", for: "a")
        try run.write("bread\tand butter", for: "b")
        let (status, text) = try run.run("show", options: ["--once"])
        #expect(status == 0 && text.split(separator: "\n").count == 2)
        #expect(text.contains("\ta\tactive\tmilk\n") && text.contains("\tb\tactive\tbread\\tand butter\n"), "\(text)")
        let json = try run.run("show", options: ["--once", "--json", "--show", "b"]).text
        #expect(json.contains(#""kind":"b","title":"Bread","state":"active""#) && !json.contains(#""kind":"a""#))
        try run.write("fail", for: "b")
        let nowhere = try RunningProcess(
            ["widget-host", "show", "--widgets", "/no/such/directory", run.container.path], input: "",
            environment: run.environment
        ).finish()
        #expect(nowhere.status == 64 && nowhere.text.contains("there is no such directory"), "\(nowhere)")
        let failed = try run.run("show", options: ["--once"])
        #expect(failed.status == 1 && failed.text.contains("failed: the test wants it"), "\(failed)")
    }

    @Test func `a signal ends --once whose output is not read`() throws {
        let run = try HostRun(["a": "", "b": ""])
        try run.quit()
        for kind in ["a", "b"] { try run.write(String(repeating: "x", count: 60_000), for: kind) }
        let script = """
            mkfifo "$1" && exec 9<>"$1" && shift || exit
            "$@" >&9 & process=$!
            head -c 1 <&9 >/dev/null
            kill "$process"; wait "$process"; echo "end $?"
            """
        let words = ["--once", "--json", "--widgets", run.widgets, run.container.path]
        let outcome = try RunningProcess(
            [
                "sh", "-c", script, "sh", run.container.directory + "/fifo", BuildDirectory.resolve("widget-host"),
                "show",
            ] + words, input: "", environment: run.environment
        ).finish()
        #expect(outcome.text.hasSuffix("end 143\n"), "\(outcome)")
    }

    @Test func `--once without a widget ends at once`() throws {
        let run = try HostRun([:])
        try run.quit()
        let none = try run.run("show", options: ["--once"])
        #expect(none.status == 66 && none.text.contains("no widgets are installed: there is no manifest"), "\(none)")
        try run.install("a")
        #expect(try run.run("remove", "a").status == 0)
        let removed = try run.run("show", options: ["--once"])
        #expect(removed.status == 0 && removed.text.contains("no widget is on the list"), "\(removed)")
    }

    @Test(arguments: ["./missing", "./plain"])
    func `a widget that cannot be started has failed`(program: String) throws {
        let run = try HostRun([:])
        try run.quit()
        try Data("not a program".utf8).write(to: URL(filePath: run.widgets + "/plain"))
        try Data(#"{"kind": "w", "executable": "\#(program)"}"#.utf8).write(to: URL(filePath: run.widgets + "/w.json"))
        for outcome in [try run.run("run", "w"), try run.run("show", options: ["--once"])] {
            #expect(outcome.status == 1 && outcome.text.contains("w: cannot be started"), "\(outcome)")
        }
        let json = try run.run("show", options: ["--once", "--json"]).text.split(separator: "\n")
        #expect(json.count == 2 && json.allSatisfy { $0.hasPrefix("{") }, "\(json)")
    }

    @Test func `widget-host prints its lines into a regular file`() throws {
        let run = try HostRun(["a": ""])
        try run.quit()
        let file = run.container.directory + "/lines"
        let script = #"exec widget-host show --widgets "$1" "$2" >"$3""#
        let host = try RunningProcess(
            ["sh", "-c", script, "sh", run.widgets, run.container.path, file], environment: run.environment)
        let reader = try RunningProcess(["tail", "-n", "+1", "-F", file])
        try reader.waitForText("\ta\tactive\tnothing\n")
        try run.write("milk", for: "a")
        try reader.waitForText("\ta\tactive\tmilk\n")
        try host.send("quit")
        let (status, text) = try host.finish()
        #expect(status == 0 && text.isEmpty, "\(status) \(text)")
    }

    @Test func `widget-host ends with its widgets when the reader of its lines is gone`() throws {
        let run = try HostRun(["a": ""])
        try run.await("a", "active", "nothing")
        let widget = run.process(of: "a")
        try #require(widget > 1)
        // A host that has something to print notices by itself.
        #expect(eventually { run.host.isIdle })
        run.host.closeOutput()
        #expect(run.host.reap() == 0)
        #expect(eventually { kill(widget, 0) == -1 && errno == ESRCH })
    }

    @Test func `widget-host run ends when the reader of its lines is gone`() throws {
        let run = try HostRun(["a": ""])
        try run.quit()
        let alone = try RunningProcess(
            ["widget-host", "run", "--widgets", run.widgets, run.container.path, "a"], environment: run.environment)
        try alone.waitForText("\ta\tactive\tnothing\n")
        #expect(eventually { alone.isIdle })
        alone.closeOutput()
        #expect(alone.reap() == 0)
    }

    @Test(arguments: [SIGTERM, SIGQUIT, SIGHUP, SIGINT])
    func `widget-host ends with 2 after its timeout, and by a signal with its status`(signal: Int32)
        throws
    {
        let run = try HostRun(["a": ""], options: ["--timeout", "0.5"])
        #expect(try run.host.finish().status == 2)
        try run.start()
        try run.await("a", "active", "nothing")
        run.host.signal(signal)
        #expect(try run.host.finish().status == 128 + signal)
    }

    @Test func `add, remove and order keep the list of shown widgets`() throws {
        let run = try HostRun(["a": "", "b": #""displayModes": {"expanded": {}}"#, "c": ""])
        for kind in ["a", "b", "c"] { try run.await(kind, "active", "nothing") }
        try run.send("remove a")
        try run.host.waitForText { $0.contains("\n") }
        try run.send("order c")
        try run.send("expand b")
        try run.send("expand c")
        try run.host.waitForText("c: the widget has no expanded display mode")
        try run.quit()
        let list = { try run.run("list").text.split(separator: "\n").map { $0.split(separator: "\t").prefix(2) } }
        #expect(try list() == [["shown", "c"], ["expanded", "b"], ["-", "a"]])
        #expect(try run.run("add", "a").status == 0 && run.run("remove", "c").status == 0)
        #expect(try list() == [["expanded", "b"], ["shown", "a"], ["-", "c"]])
        #expect(try run.run("order", "a", "b").status == 0)
        #expect(try list() == [["shown", "a"], ["expanded", "b"], ["-", "c"]])
        let unknown = try run.run("add", "z")
        #expect(unknown.status == 66 && unknown.text.contains("there is no widget 'z'"))
        #expect(try run.run("add", "aa").text.contains("; did you mean 'a'?"))
        let once = try run.run("show", options: ["--once"]).text.split(separator: "\n").compactMap {
            $0.split(separator: "\t").dropFirst().first
        }
        #expect(once == ["a", "b"])
    }

    @Test(arguments: [[], ["--json"]])
    func `a widget that is removed, or whose manifest breaks, has a last line`(options: [String]) throws {
        let run = try HostRun(["a": #""title": "Milk""#, "b": "", "c": ""], options: options)
        func expect(_ kind: String, _ state: String, title: String) throws {
            try run.host.waitForText(
                options.isEmpty
                    ? "\t\(kind)\t\(state)\t" : #""kind":"\#(kind)","title":"\#(title)","state":"\#(state)""#)
        }
        for kind in ["a", "b", "c"] { try expect(kind, "active", title: kind == "a" ? "Milk" : kind) }
        try run.send("remove a")
        try expect("a", "removed", title: "Milk")
        #expect(try run.run("remove", "b").status == 0)
        try expect("b", "removed", title: "b")
        try Data("no manifest".utf8).write(to: URL(filePath: run.widgets + "/c.json"))
        try expect("c", "removed", title: "c")
        try run.send("add a")
        try run.host.waitForText { text in
            text.components(separatedBy: options.isEmpty ? "\ta\tactive\t" : #""title":"Milk","state":"active""#).count
                > 2
        }
        #expect(try run.quit().components(separatedBy: "removed").count == 4)
    }

    @Test func `a running host shows added and newly installed widgets at once`() throws {
        let run = try HostRun(["a": "", "b": ""])
        try run.quit()
        #expect(try run.run("remove", "b").status == 0)
        try run.start()
        try run.await("a", "active", "nothing")
        #expect(try run.run("add", "b").status == 0)
        try run.await("b", "active", "nothing")
        try run.install("c", "")
        try run.host.waitForText { _ in (try? run.run("add", "c").status) == 0 }
        try run.await("c", "active", "nothing")
    }

    @Test func `an invalid manifest is skipped with an error that has the expected value`() throws {
        let run = try HostRun(["a": "", "b": #""memoryLimit": "much""#])
        try run.await("a", "active", "nothing")
        #expect(run.host.text.contains("b.json', line 1: memoryLimit: it must be an integer"))
        let (status, text) = try run.run("list")
        #expect(status == 65 && text.contains("\ta\t"))
        let json = try run.run("list", options: ["--json"]).text.split(separator: "\n")
        #expect(json.count == 2 && json.contains { $0.hasPrefix(#"{"code":"damaged","#) }, "\(json)")
    }

    @Test func `widgets stay while the directory of their manifests cannot be read`() throws {
        let run = try HostRun(["a": ""])
        try run.await("a", "active", "nothing")
        let aside = run.widgets + ".aside"
        // A link to itself cannot be opened, not even by root.
        let files = FileManager.default
        try files.moveItem(atPath: run.widgets, toPath: aside)
        try files.createSymbolicLink(atPath: run.widgets, withDestinationPath: run.widgets)
        try run.host.waitForText("\(run.widgets)': the directory cannot be read: ")
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
        #expect(!run.host.text.contains("removed"), "\(run.host.text)")
        try files.removeItem(atPath: run.widgets)
        try files.moveItem(atPath: aside, toPath: run.widgets)
        try run.install("b", "")
        try run.host.waitForText { _ in (try? run.run("add", "b").status) == 0 }
        try run.await("b", "active", "nothing")
        // The same for a single manifest.
        try files.createSymbolicLink(atPath: run.widgets + "/c.json", withDestinationPath: run.widgets + "/c.json")
        try run.host.waitForText("c.json': it cannot be read: ")
        let (status, text) = try run.run("list")
        #expect(status == 65 && text.contains("it cannot be read"), "\(text)")
        #expect(try run.run("show", options: ["--once"]).status == 65)
        let unknown = try run.run("add", "c")
        #expect(unknown.status == 66 && unknown.text.contains("it cannot be read"), "\(unknown.text)")
        try run.quit()
    }

    @Test func `a widget with an interest in a suite that does not exist is named`() throws {
        let run = try HostRun(["a": ""])
        let words = ["groupctl", "defaults", "set", run.container.path, "standard", "k", "1"]
        #expect(try RunningProcess(words, environment: run.environment).finish().status == 0)
        let manifest = #"{"kind": "c", "executable": "true", "interests": ["defaults:group.com.example.todo:k"]}"#
        try Data(manifest.utf8).write(to: URL(filePath: run.widgets + "/c.json"))
        try run.host.waitForText("widget-host: c: its interests: ")
        try run.quit()
    }

    @Test func `a widget whose manifest has an unknown field is shown, and the field named`() throws {
        let run = try HostRun(["a": #""intrests": ["Library/b"]"#])
        try run.host.waitForText("a.json', line 1: intrests: there is no such field; did you mean 'interests'?")
        try run.await("a", "active", "nothing")
        let (status, text) = try run.run("list")
        #expect(status == 65 && text.contains("shown\ta\t") && text.contains("a.json', line 1: intrests: "), "\(text)")
        let json = try run.run("list", options: ["--json"]).text
        #expect(json.contains(#""findings":[{"field":"intrests","line":1,"cause":"there is no such field""#), "\(json)")
        let twin = #"{"kind": "a", "executable": "/bin/true"}"#
        try Data(twin.utf8).write(to: URL(filePath: run.widgets + "/b.json"))
        #expect(try run.run("list").text.contains("b.json': kind: 'a' is also the kind of '\(run.widgets)/a.json'"))
    }

    @Test func `an interest in a suite that cannot be opened leaves other widgets shown`() throws {
        let run = try HostRun(["a": "", "b": ""])
        try run.await("a", "active", "nothing")
        let wrong = #"{"kind": "c", "executable": "true", "interests": ["defaults:../x:y"]}"#
        try Data(wrong.utf8).write(to: URL(filePath: run.widgets + "/c.json"))
        try run.host.waitForText("widget-host: c: interests: cannot open defaults '../x'")
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
        try run.quit()
    }

    @Test func `without a home directory all widgets are shown, and no list can be kept`() throws {
        let run = try HostRun(["a": "", "b": ""])
        try run.quit()
        let environment = run.environment.merging(["XDG_STATE_HOME": nil, "HOME": nil]) { $1 }
        let words = ["--widgets", run.widgets, run.container.path]
        let shown = try RunningProcess(
            ["widget-host", "show"] + words + ["--once"], input: "", environment: environment
        ).finish()
        #expect(shown.status == 0 && shown.text.split(separator: "\n").count == 2, "\(shown)")
        let edit = try RunningProcess(["widget-host", "remove"] + words + ["a"], input: "", environment: environment)
            .finish()
        #expect(edit.status != 0 && edit.text.contains("neither XDG_STATE_HOME nor HOME is set"), "\(edit)")
    }

    @Test func `a signal ends widget-host also with an endless file as its input`() throws {
        let run = try HostRun(["a": ""])
        try run.quit()
        let words = ["--widgets", run.widgets, "--quiet", run.container.path]
        let host = try RunningProcess(
            ["sh", "-c", "exec widget-host show \"$@\" </dev/urandom", "sh"] + words,
            environment: run.environment.merging(["PATH": "\(BuildDirectory.path):/usr/bin:/bin"]) { $1 })
        try host.waitForText("\ta\tactive\tnothing")
        host.signal(SIGTERM)
        #expect(try host.finish().status == 128 + SIGTERM)
    }

    @Test func `a command line that is too long is ignored, and the next one is run`() throws {
        let run = try HostRun(["a": ""])
        try run.await("a", "active", "nothing")
        try run.send("open a " + String(repeating: "x", count: 70_000))
        try run.host.waitForText("a line of more than 65536 bytes on standard input is ignored")
        try run.send("hide a")
        try run.await("a", "suspended", "nothing")
        try run.quit()
    }

    @Test func `the opener gets the addresses that are opened`() throws {
        let run = try HostRun([:])
        try run.quit()
        let opener = run.container.directory + "/opener"
        try Data("#!/bin/sh\nprintf 'opened %s' \"$1\" >\"$GROUP/Library/b\"\n".utf8).write(to: URL(filePath: opener))
        #expect(unsafe chmod(opener, 0o700) == 0)
        let script = "#!/bin/sh\nGROUP='\(run.container.path)' exec '\(opener)' \"$1\"\n"
        try Data(script.utf8).write(to: URL(filePath: opener + "2"))
        #expect(unsafe chmod(opener + "2", 0o700) == 0)
        try run.install("a", #""urlScheme": "todo""#)
        try run.install("b", "")
        try run.write("nothing yet", for: "b")
        try run.start(["--opener", opener + "2"])
        for kind in ["a", "b"] { try run.await(kind, "active", "nothing") }
        try run.send("open a 1")
        try run.await("b", "active", "opened todo://a")
    }

    @Test func `a reload request and an app in front refresh a widget beyond its budget`() throws {
        let run = try HostRun(["a": #""refresh": {"perDay": 1, "atOnce": 1}"#])
        try run.await("a", "active", "nothing")
        let container = try run.container.open()
        let center = try WidgetCenter(container)
        #expect(try center.presentWidgets().map(\.kind) == ["a"])
        try center.reloadTimelines(ofKind: "a")
        try run.await("a", "active", "nothing!")
        try run.send("hide a")
        try run.await("a", "suspended", "nothing!")
        try run.write("milk", for: "a")
        try run.await("a", "suspended", "milk")
        try run.write("bread", for: "a")
        try run.host.waitForText("deferred: budget")
        try run.write("butter", for: "a")
        let presence = try AppPresence(container)
        try presence.becomeActive()
        try run.await("a", "suspended", "butter")
        #expect(try center.presentWidgets().map(\.isVisible) == [false])
    }

    @Test func `widget-host whose output is not read goes on, and ends by quit`() throws {
        let run = try HostRun(["a": ""])
        try run.quit()
        let script = """
            exec 3>&1
            { sh -c 'echo "host $$" >&3; exec "$0" show --json --widgets "$1" "$2"' "$0" "$1" "$2"; echo "end $?" >&3; } | sleep 60
            """
        let pipeline = try RunningProcess(
            ["sh", "-c", script, BuildDirectory.resolve("widget-host"), run.widgets, run.container.path],
            environment: run.environment)
        defer { pipeline.kill() }
        try pipeline.waitForText { $0.contains("host ") && $0.hasSuffix("\n") }
        let host = Int32(pipeline.text.split(separator: "\n")[0].dropFirst(5)) ?? -1
        try #require(host > 1)
        let center = try WidgetCenter(run.container.open())
        func awaitVisible(_ isVisible: Bool) throws {
            #expect(try eventually { try center.presentWidgets().first?.isVisible == isVisible })
        }
        for letter in ["x", "y", "z"] {
            try run.write(String(repeating: letter, count: 60_000), for: "a")
            try pipeline.send("hide a")
            try awaitVisible(false)
            try pipeline.send("show a")
            try awaitVisible(true)
        }
        kill(host, SIGTERM)
        try pipeline.waitForText("end 143\n")
    }

    @Test func `run starts one widget alone and prints its messages`() throws {
        let run = try HostRun(["a": #""refresh": {"deadline": 0.01}"#, "b": ""])
        try run.quit()
        let alone = try RunningProcess(
            ["widget-host", "run", "--widgets", run.widgets, run.container.path, "a", "--verbose"],
            environment: run.environment)
        try alone.waitForText("widget-host: a is process ")
        try alone.waitForText(#"< {"id":1,"result":"newData""#)
        #expect(alone.text.contains(#"> {"appears":true,"deadline":"#) && !alone.text.contains("\tb\t"))
        try run.write("exit", for: "a")
        #expect(try alone.finish().status == 1 && alone.text.contains("ended with status 7"))
    }

    @Test(.needs("python3")) func `a widget in Python is shown by widget-host`() throws {
        let script = projectDirectory.appending(path: "docs/reference/widget.py").path
        let run = try HostRun([:])
        try run.quit()
        let manifest = #"{"kind": "notes", "executable": "\#(script)", "interests": ["Library/notes.txt"]}"#
        try Data(manifest.utf8).write(to: URL(filePath: run.widgets + "/notes.json"))
        try run.start()
        try run.await("notes", "active", "nothing noted")
        try run.write("one\nmilk", for: "notes.txt")
        try run.await("notes", "active", "milk")
        try run.send("hide notes")
        try run.await("notes", "suspended", "milk")
        try run.send("show notes")
        try run.write("bread", for: "notes.txt")
        try run.await("notes", "active", "bread")
    }
}
