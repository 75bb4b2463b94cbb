import Foundation
import Glibc
import GroupContainer
import TestSupport
import Testing
import Widgets

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The note example` {
    private let place: Place

    init() throws { place = try Place() }

    private func note(_ words: String..., input: String? = "") throws -> (status: Int32, text: String) {
        try RunningProcess(["note", "--group", place.path] + words, input: input).finish()
    }

    @Test(arguments: ["file", "defaults"])
    func `the note app saves, prints and clears a note, and the widget shows it`(way: String) throws {
        // A note in the defaults has no buttons.
        let button = way == "file" ? " / > Add the time" : ""
        #expect(try note("--through", way, "get") == (66, "note: there is no note\n"))
        let widget = try RunningProcess(["note-widget", "--group", place.path])
        try widget.waitForText("note\tnothing noted\(button)\n")
        #expect(try note("save", "one\ntwo") == (0, ""))
        try widget.waitForText("note\tone / two\(button)\n")
        #expect(try note("get") == (0, "one\ntwo\n"))
        #expect(FileManager.default.fileExists(atPath: place.path + "/Library/note.txt") == (way == "file"))
        #expect(try note("clear") == (0, ""))
        #expect(try note("get").status == 66)
        try widget.waitForLines(3)
        let nothing = "note\tnothing noted\(button)\n"
        #expect(widget.text == "\(nothing)note\tone / two\(button)\n\(nothing)")
    }

    @Test func `the note stays the same when its storage changes, and the widget has buttons where it is a file`()
        throws
    {
        _ = try note("save", "x")
        let widget = try RunningProcess(["note-widget", "--group", place.path])
        try widget.waitForText("note\tx / > Add the time\n")
        #expect(try note("--through", "defaults", "get").text == "x\n")
        try widget.waitForText("note\tx\n")
        #expect(try note("--through", "file", "get").text == "x\n")
        #expect(try note("save", "y").status == 0)
        try widget.waitForText("note\ty / > Add the time\n")
        #expect(!widget.text.contains("nothing"))
    }

    @Test func `each process of the note widget shows the note`() throws {
        let widgets = try (0..<3).map { _ in try RunningProcess(["note-widget", "--group", place.path]) }
        for widget in widgets { try widget.waitForText("note\tnothing noted / > Add the time\n") }
        for text in ["one", "two", "three"] {
            _ = try note("save", text)
            for widget in widgets { try widget.waitForText("note\t\(text) / > Add the time\n") }
        }
    }

    @Test
    func `presses tick a task off, remove what is done, and add the time, and a press of what is gone is refused`()
        throws
    {
        func press(_ word: String) throws -> (status: Int32, text: String) {
            try RunningProcess(["note-widget", "--group", place.path, "--press", word]).finish()
        }
        _ = try note("save", "shop\n- [ ] milk\n- [ ] bread")
        let widget = try RunningProcess(["note-widget", "--group", place.path, "--expanded"])
        try widget.waitForText("note\tshop / [ ] milk / [ ] bread / > Add the time\n")
        #expect(try press("2%3Amilk=on") == (0, ""))
        try widget.waitForText("note\tshop / [x] milk / [ ] bread / > Add the time / > Remove 1 done\n")
        #expect(try RunningProcess(["note-widget", "--group", place.path, "--press-line", "5"]).finish() == (0, ""))
        try widget.waitForText("note\tshop / [ ] bread / > Add the time\n")
        #expect(try press("add-time").status == 0)
        #expect(try note("get").text.hasPrefix("shop\n- [ ] bread\n2"))
        let before = try note("get").text
        #expect(try press("2%3Amilk=on").text.contains("'2:milk' is not in the note"))
        #expect(try press("remove-done").text.contains("nothing in the note is done"))
        #expect(try press("other").text.contains("no button 'other'"))
        #expect(try note("get").text == before)
        #expect(try note("--through", "defaults", "get").status == 0)
        #expect(try press("add-time").text.contains("not in its file any more"))
        #expect(try note("get").text == before)
    }

    @Test func `the note app saves at the end of its input and when it is ended`() throws {
        #expect(try note("edit", input: "typed\nin lines\n").status == 0)
        #expect(try note("get").text == "typed\nin lines\n")
        let app = try RunningProcess(["note", "--group", place.path, "edit"])
        try app.send("not yet saved")
        let center = try place.center()
        #expect(try eventually { try center.isAppInFront() })
        app.signal(SIGTERM)
        #expect(app.reap() == 0)
        #expect(try !center.isAppInFront())
        #expect(try note("get").text != "typed\nin lines\n")
    }
}

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The countdown example` {
    private let place: Place

    init() throws { place = try Place() }

    @Test func `the countdown widget continues without the app, and shows the end`() throws {
        let widget = try RunningProcess(["countdown-widget", "--group", place.path])
        try widget.waitForText("countdown\tno countdown\n")
        let app = try RunningProcess(["countdown", "--group", place.path, "start", "2"])
        let center = try place.center()
        #expect(try eventually { try center.isAppInFront() })
        app.signal(SIGTERM)
        #expect(try app.finish() == (0, "left\n"))
        try widget.waitForText("countdown\t0:0")
        try widget.waitForText("countdown\tfinished\n")
    }

    @Test func `the countdown continues in the app that its widget opens`() throws {
        var app = try RunningProcess(["countdown", "--group", place.path, "start", "3600"])
        let center = try place.center()
        #expect(try eventually { try center.isAppInFront() })
        #expect(try center.open("countdown://show", timeout: .seconds(60)) == .opened)
        try app.waitForText("opened countdown://show\n")
        app.signal(SIGTERM)
        app.reap()
        app = try RunningProcess(["countdown", "--group", place.path, "show"])
        #expect(try eventually { try center.isAppInFront() })
        app.signal(SIGTERM)
        #expect(try app.finish().text == "left\n")
        #expect(try RunningProcess(["countdown", "--group", place.path, "stop"]).reap() == 0)
        #expect(try RunningProcess(["countdown", "--group", place.path, "show"]).finish() == (0, "no countdown\n"))
    }
}

#if ICalendar
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The agenda example` {
    private let place: Place

    init() throws { place = try Place() }

    /// Writes a calendar as any program would. The seconds are from now.
    private func save(_ events: [(title: String, start: Double, end: Double)], to file: String = "agenda.ics") throws {
        func time(_ seconds: Double) -> String {
            Date(timeIntervalSinceNow: seconds).formatted(.iso8601).filter { !"-:".contains($0) }
        }
        let lines = events.map {
            "BEGIN:VEVENT\r\nSUMMARY:\($0.title)\r\nDTSTART:\(time($0.start))\r\nDTEND:\(time($0.end))\r\nEND:VEVENT\r\n"
        }
        let directory = URL(filePath: place.path).appending(path: "Library")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data("BEGIN:VCALENDAR\r\n\(lines.joined())END:VCALENDAR\r\n".utf8).write(
            to: directory.appending(path: file), options: .atomic)
    }

    @Test func `the agenda follows its file, and what begins and ends by itself`() throws {
        let widget = try RunningProcess(["agenda-widget", "--group", place.path])
        try widget.waitForText("agenda\tthere is no Library/agenda.ics\n")
        try save([])
        try widget.waitForText("agenda\tnothing planned\n")
        let day = 86_400.0
        try save([("Standup", -600, 8), ("Lunch", 8, 12), ("Trip", 40 * day, 41 * day)])
        try widget.waitForText { $0.contains(" Standup / ") && $0.contains("agenda\tnow–") }
        // The file stays the same: these lines are of the timeline.
        try widget.waitForText {
            $0.split(separator: "\n").last.map { $0.hasPrefix("agenda\tnow–") && $0.contains("Lunch") } == true
        }
        try widget.waitForText {
            $0.split(separator: "\n").last.map { !$0.contains("now–") && $0.hasSuffix(" Trip") } == true
        }
        try Data("nonsense".utf8).write(to: URL(filePath: place.path).appending(path: "Library/agenda.ics"))
        try widget.waitForText("agenda\tLibrary/agenda.ics is not a whole calendar\n")
        try FileManager.default.removeItem(atPath: place.path + "/Library/agenda.ics")
        try widget.waitForText { $0.hasSuffix("not a whole calendar\nagenda\tthere is no Library/agenda.ics\n") }
    }

    @Test func `the agenda of another file has a kind of its own, and days as headings where there is room`() throws {
        try save([("Standup", 86_400, 87_000), ("\u{1B}[31m", 86_401, 87_000)], to: "my work.ics")
        let words = ["agenda-widget", "--group", place.path, "--file", "Library/my work.ics", "--once"]
        let (status, text) = try RunningProcess(words + ["--expanded"]).finish()
        #expect(status == 0 && text.hasPrefix("agenda-my-work\tTomorrow, ") && text.contains(" Standup / "), "\(text)")
        #expect(!text.contains("\u{1B}"))
        #expect(try RunningProcess(words + ["--expanded"]).finish().status == 3)
        #expect(try RunningProcess(["agenda-widget", "--file", "Library/*"]).finish().status == 64)
        let outside = try RunningProcess(["agenda-widget", "--group", place.path, "--file", "../x", "--once"]).finish()
        #expect(outside.status != 0, "\(outside.text)")
    }
}
#endif

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The gauges example` {
    private let place: Place

    init() throws { place = try Place() }

    private func save(available: Int, to directory: URL) throws {
        let text = "MemTotal:       1048576 kB\nMemFree:  9 kB\nMemAvailable:   \(available) kB\n"
        try Data(text.utf8).write(to: directory.appending(path: "meminfo"), options: .atomic)
    }

    @Test func `the gauges show a change of a percent, warn above 90, and print nothing for less`() throws {
        // Outside of what the container has: nothing reports its changes.
        let proc = URL(filePath: place.path + "-proc")
        defer { try? FileManager.default.removeItem(at: proc) }
        try FileManager.default.createDirectory(at: proc.appending(path: "pressure"), withIntermediateDirectories: true)
        try save(available: 524_288, to: proc)
        try Data("some avg10=9.00 avg60=25.40 avg300=0.00 total=1\n".utf8).write(
            to: proc.appending(path: "pressure/memory"))
        let set = ["groupctl", "defaults", "set", place.path, "machine", "--type", "json", "disks"]
        #expect(try RunningProcess(set + ["[]"]).finish().status == 0)
        let words = ["gauges-widget", "--group", place.path, "--proc", proc.path]
        let widget = try RunningProcess(words)
        try widget.waitForText("machine\tMemory 50 % / Memory wait 25 %\n")
        // Half a percent less, and a refresh that the disks cause: the second view differs by the disk only.
        try save(available: 527_000, to: proc)
        #expect(try RunningProcess(set + [#"["/nowhere"]"#]).finish().status == 0)
        try widget.waitForText("machine\tMemory 50 % / Disk /nowhere: not there / Memory wait 25 %\n")
        let center = try place.center()
        try save(available: 527_100, to: proc)
        try center.reloadTimelines(ofKind: "machine")
        try save(available: 40_000, to: proc)
        try center.reloadTimelines(ofKind: "machine")
        try widget.waitForText("machine\tMemory 96 % / Disk /nowhere")
        #expect(widget.text.split(separator: "\n").count == 3, "\(widget.text)")
        widget.kill()
        #expect(try RunningProcess(set + ["[]"]).finish().status == 0)
        let bar = try RunningProcess(words + ["--output", "waybar"])
        try bar.waitForText { $0.contains("Memory 96 %") && !$0.contains("nowhere") && $0.contains("\"warning\"") }
    }

    @Test func `the gauges of this machine have a disk, and a refresh without news is noData`() throws {
        let words = ["gauges-widget", "--group", place.path, "--once", "--expanded"]
        let (status, text) = try RunningProcess(words).finish()
        #expect(
            status == 0 && text.contains(#/^machine\tMemory of \d+ [GM]iB \d+ % \/ Disk of \d+ [GM]iB \d+ %/#),
            "\(text)")
        #expect(try RunningProcess(words).finish() == (3, ""))
    }
}
