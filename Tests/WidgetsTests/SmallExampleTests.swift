import Foundation
import Glibc
import GroupContainer
import TestSupport
import Testing
import Widgets

@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `The example of a note` {
    private let place: Place

    init() throws { place = try Place() }

    private func note(_ words: String..., input: String? = "") throws -> (status: Int32, text: String) {
        try RunningProcess(["note", "--group", place.path] + words, input: input).finish()
    }

    @Test(arguments: ["file", "defaults"])
    func `saves, gets and clears, and its widget shows it`(way: String) throws {
        let widget = try RunningProcess(["note-widget", "--group", place.path])
        try widget.waitForText("note\tnothing noted\n")
        #expect(try note("--through", way, "get") == (66, "note: nothing is noted\n"))
        #expect(try note("save", "one\ntwo") == (0, ""))
        try widget.waitForText("note\tone / two\n")
        #expect(try note("get") == (0, "one\ntwo\n"))
        #expect(FileManager.default.fileExists(atPath: place.path + "/Library/note.txt") == (way == "file"))
        #expect(try note("clear") == (0, ""))
        #expect(try note("get").status == 66)
        try widget.waitForLines(3)
        #expect(widget.text == "note\tnothing noted\nnote\tone / two\nnote\tnothing noted\n")
    }

    @Test func `goes along when its way is changed, and its widget does not draw anew for that`() throws {
        _ = try note("save", "x")
        let widget = try RunningProcess(["note-widget", "--group", place.path])
        try widget.waitForText("note\tx\n")
        #expect(try note("--through", "defaults", "get").text == "x\n")
        #expect(try note("--through", "file", "get").text == "x\n")
        #expect(try note("save", "y").status == 0)
        try widget.waitForText("note\ty\n")
        #expect(widget.text == "note\tx\nnote\ty\n")
    }

    @Test func `is shown by every process of its widget`() throws {
        let widgets = try (0..<3).map { _ in try RunningProcess(["note-widget", "--group", place.path]) }
        for widget in widgets { try widget.waitForText("note\tnothing noted\n") }
        for text in ["one", "two", "three"] {
            _ = try note("save", text)
            for widget in widgets { try widget.waitForText("note\t\(text)\n") }
        }
    }

    @Test func `saves when the app leaves: at its input's end, and when it is ended`() throws {
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

@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `The example of a countdown` {
    private let place: Place

    init() throws { place = try Place() }

    @Test func `is counted on by its widget when the app leaves, which says when it is over`() throws {
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

    @Test func `goes on in the app, which its widget opens`() throws {
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
