import TestSupport
import Testing

@Suite(
    .ownThreads, .timeLimit(.minutes(2)), .enabled(if: succeeds(["setsid", "--version"]), "needs setsid(1)"),
    .tags(.process))
struct `widget-host on a terminal` {
    @Test func `widget-host on a terminal shows a panel for each widget, and keys drive it`() throws {
        let run = try HostRun(["a": "", "b": ""])
        try run.quit()
        try run.write("milk", for: "a")
        let terminal = try TerminalProcess(
            ["widget-host", "show", "--widgets", run.widgets, run.container.path], columns: 60, rows: 20,
            environment: run.environment.merging(["LC_ALL": "C.UTF-8"]) { $1 })
        try terminal.wait { $0.contains("milk") && $0.contains("nothing") && $0.contains("2 widgets") }
        try run.write("BREAD", for: "a")
        try terminal.wait { $0.contains("BREAD") }
        try terminal.type("h")
        try terminal.wait { $0.contains("1 hidden") }
        try terminal.type("x")
        try terminal.wait { $0.contains("add") }
        try terminal.type("q")
        #expect(terminal.reap() == 0)
        try terminal.wait { $0.hasSuffix("\u{1B}[?25h\u{1B}[?1049l") }
        #expect(try terminal.settings() == terminal.settingsBefore)
        // The widget is removed from the list, also for the next host.
        let list = try run.run("list").text
        #expect(list.contains("shown\tb\t") && list.contains("-\ta\t"), "\(list)")
    }

    @Test func `a widget on a terminal gets its size, also after the window changed`() throws {
        let run = try HostRun(["a": ""])
        try run.quit()
        try run.write("room", for: "a")
        let terminal = try TerminalProcess(
            ["widget-host", "show", "--widgets", run.widgets, run.container.path], columns: 60, rows: 20,
            environment: run.environment.merging(["LC_ALL": "C.UTF-8"]) { $1 })
        try terminal.wait { $0.contains("5555566666") }
        #expect(terminal.resize(columns: 47, rows: 20))
        try terminal.wait { $0.contains("4444433333") }
        try terminal.type("q")
        #expect(terminal.reap() == 0)
    }
}
