import Foundation
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A widget under a host` {
    @Test func `a visible widget is refreshed after each change`() throws {
        let run = try HostRun(["a": ""])
        try run.await("a", "active", "nothing")
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
        let text = try run.quit()
        #expect(run.host.reap() == 0 && !text.contains("ended"), "\(text)")
    }

    @Test func `an interest that names nothing, but almost an item, is in the log`() throws {
        let run = try HostRun([:])
        try run.write("milk", for: "a")
        let program = BuildDirectory.path + "/test-widget"
        let manifest = #"{"kind": "a", "executable": "\#(program)", "interests": ["library/A"]}"#
        try Data(manifest.utf8).write(to: URL(filePath: run.widgets + "/a.json"), options: .atomic)
        let text = "a: its interests: no item matches 'library/A' yet; there is 'Library/a', which differs"
        try run.host.waitForText(text)
        try run.await("a", "active", "milk")
        #expect(try run.quit().components(separatedBy: text).count == 2)
    }

    @Test func `a hidden widget is stopped, and is refreshed when it is shown again`() throws {
        let run = try HostRun(["a": #""refresh": {"perDay": 1, "atOnce": 1}"#])
        try run.await("a", "active", "nothing")
        try run.send("hide a")
        try run.await("a", "suspended", "nothing")
        #expect(ProcessView(of: run.process(of: "a"))?.condition == .stopped)
        // The first refresh is within the budget, the second is not.
        try run.write("milk", for: "a")
        try run.await("a", "suspended", "milk")
        try run.write("bread", for: "a")
        try run.host.waitForText("suspended\tmilk\tdeferred: budget; again at 2")
        let process = run.process(of: "a")
        try run.send("show a")
        try run.await("a", "active", "bread")
        #expect(run.process(of: "a") == process, "it was continued, not started again")
    }

    @Test(arguments: [
        ("crash", "ended by signal 9"), ("exit", "ended with status 7"), ("hang", "did not answer in time"),
        ("garbage", "sent an invalid message: 'this is no message': it is not JSON"),
        ("chatter", "sends too many messages"),
        ("endless", "sent an invalid message: a line of more than 4194304 bytes"), ("close", "closed its output"),
    ])
    func `a faulty widget is ended, keeps its view, and is started again`(word: String, cause: String) throws {
        // Only a widget that does not answer at all should be late: four million bytes may take a while.
        let deadline = word == "hang" ? "0.2" : "300"
        let run = try HostRun(["a": #""refresh": {"deadline": \#(deadline)}"#, "b": ""])
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
        try run.write(word, for: "a")
        try run.host.waitForText("\ta\tnotRunning\tmilk\t\(cause); again at 2")
        #expect(run.host.text.contains("shown as of 2"))
        try run.write("bread", for: "a")
        try run.await("a", "active", "bread")
        #expect(!run.host.text.contains("\tb\tnotRunning"), "the other one has nothing to do with it")
    }

    @Test func `a widget that answers failed keeps its view, and is updated again`() throws {
        let run = try HostRun(["a": ""])
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
        try run.write("fail", for: "a")
        try run.host.waitForText("\ta\tactive\tmilk\tfailed: the test wants it; again at 2")
        try run.write("bread", for: "a")
        try run.await("a", "active", "bread")
        #expect(!run.host.text.contains("\ta\tnotRunning\tmilk"))
    }

    @Test func `a widget that floods its standard error is shown, and the log is limited`() throws {
        let run = try HostRun(["a": ""])
        try run.write("complain", for: "a")
        try run.await("a", "active", "complain")
        let lines = try run.quit().components(separatedBy: "and on it goes").count
        #expect((100..<1_000).contains(lines), "\(lines)")
    }

    @Test func `a slow widget shows the previous host's view and its age until it answers`() throws {
        let run = try HostRun(["a": #""refresh": {"deadline": 300}"#])
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk\n")
        try run.quit()
        try run.write("hang", for: "a")
        try run.start()
        try run.await("a", "starting", "milk\tnot refreshed yet; shown as of 2")
        try run.await("a", "active", "milk\tnot refreshed yet; shown as of 2")
        // The kept view is only a copy: without it, the placeholder is shown.
        let directory = run.container.directory + "/state/widget-host"
        let views = try #require(
            try FileManager.default.contentsOfDirectory(atPath: directory).first { $0.hasSuffix("views") })
        try run.quit()
        try Data("{".utf8).write(to: URL(filePath: "\(directory)/\(views)/a.json"))
        try run.start()
        try run.await("a", "active", "…\n")
        try run.quit()
        try run.write("bread", for: "a")
        try run.start()
        try run.await("a", "active", "bread\n")
        try run.quit()
        try run.start()
        try run.await("a", "starting", "bread\tnot refreshed yet")
        try run.await("a", "active", "bread\n")
    }

    @Test func `a widget that answers noData where a view is needed renders in the next update`() throws {
        let run = try HostRun(["a": #""displayModes": {"expanded": {}}"#])
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk\n")
        try run.write("same", for: "a")
        try run.send("expand a")
        try run.host.waitForText("a: failed: answered noData without the timeline that 'shows' requires")
        try run.await("a", "active", "same!\n")
    }

    @Test func `the second answer of a widget to one update is ignored`() throws {
        let run = try HostRun(["a": ""])
        try run.write("twice", for: "a")
        try run.await("a", "active", "twice")
        try run.host.waitForText("which was not requested")
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
    }

    @Test(arguments: ["keep", "deafkeep"])
    func `a hidden widget that keeps an item's lock is ended, and the lock is free`(
        word: String
    ) throws {
        let run = try HostRun(["a": ""])
        try run.write(word, for: "a")
        try run.await("a", "active", word)
        try run.send("hide a")
        try run.host.waitForText("a: kept a lock on 'Library/kept' when it was to be suspended")
        #expect(try run.container.groupctl("write", "Library/kept", input: "free").status == 0)
    }

    @Test func `a hidden widget that does not answer, without locks, is stopped after its grace`() throws {
        let run = try HostRun(["a": ""])
        try run.write("deaf", for: "a")
        try run.await("a", "active", "deaf")
        try run.send("hide a")
        try run.await("a", "suspended", "deaf")
    }

    @Test func `a widget that exceeds its memory limit is ended`() throws {
        let run = try HostRun(["a": #""memoryLimit": 60000000"#])
        try run.await("a", "active", "nothing")
        try run.write("leak", for: "a")
        try run.host.waitForText("its limit is 58593")
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
    }

    @Test func `the widget that was visible the longest time ago is ended when memory is short`() throws {
        let run = try HostRun(["a": "", "b": "", "c": ""])
        for kind in ["a", "b", "c"] { try run.await(kind, "active", "nothing") }
        for kind in ["b", "a"] {
            try run.send("hide \(kind)")
            try run.await(kind, "suspended", "nothing")
        }
        run.host.signal(12)
        try run.host.waitForText("b: ended: memory is short")
        try run.await("b", "notRunning", "nothing")
        #expect(ProcessView(of: run.process(of: "a"))?.condition == .stopped)
        try run.send("show b")
        try run.write("milk", for: "b")
        try run.await("b", "active", "milk")
    }

    @Test func `a widget whose kind differs from its manifest is not shown`() throws {
        let run = try HostRun(["a": #""arguments": ["z"]"#])
        try run.host.waitForText("a: sent the kind 'z'; its manifest has 'a'")
    }

    @Test func `a widget whose program is replaced is started again`() throws {
        let run = try HostRun([:], options: [])
        let program = run.container.directory + "/program"
        for name in [program, program + ".new"] {
            try FileManager.default.copyItem(atPath: BuildDirectory.path + "/test-widget", toPath: name)
        }
        try run.install("a", "")
        let manifest = #"{"kind": "a", "executable": "../program", "interests": ["Library/a"]}"#
        try Data(manifest.utf8).write(to: URL(filePath: run.widgets + "/a.json"), options: .atomic)
        try run.await("a", "active", "nothing")
        let process = run.process(of: "a")
        #expect(unsafe rename(program + ".new", program) == 0)
        try run.host.waitForText { $0.components(separatedBy: "a: process ").count > 2 }
        #expect(run.process(of: "a") != process && !run.host.text.contains("ended"))
    }

    @Test func `a widget does not outlive its host, even if it is stopped`() async throws {
        let run = try HostRun(["a": "", "b": ""])
        for kind in ["a", "b"] {
            try run.write("stubborn", for: kind)
            try run.await(kind, "active", "stubborn")
        }
        try run.send("hide b")
        try run.await("b", "suspended", "stubborn")
        let processes = [run.process(of: "a"), run.process(of: "b")]
        run.host.kill()
        for process in processes {
            let waiting = try RunningProcess("tail", ["--pid=\(process)", "-s", "0.01", "-f", "/dev/null"])
            #expect(try await waiting.finish().status == 0)
        }
    }
}
