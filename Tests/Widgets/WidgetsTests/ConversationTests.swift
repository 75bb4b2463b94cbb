import Foundation
import Glibc
import GroupContainer
import GroupProtocolLines
import TestSupport
import Testing
import Widgets

/// A widget's program, with this test as its host.
private final class Conversation {
    let process: RunningProcess
    private var read = 0

    init(_ program: String, _ place: Place, _ options: [String] = []) throws {
        process = try RunningProcess([program, "--group", place.path, "--hosted"] + options)
    }

    func say(_ message: HostMessage) throws {
        let line = try #require(ProtocolLine.encoded(message))
        try process.send(String(decoding: line, as: UTF8.self))
    }

    /// Returns the next line that is not for the log.
    func readMessage() throws -> WidgetMessage {
        read += 1
        try process.waitForLines(read)
        let line = process.text.split(separator: "\n")[read - 1]
        return try #require(ProtocolLine.decoded(WidgetMessage.self, from: Array(line.utf8)), "\(line)")
    }

    func update(_ id: Int, shows: Bool = false, reloads: Bool = false) throws -> WidgetMessage.Answer {
        try say(.update(id: id, environment: WidgetEnvironment(), deadline: 30, shows: shows, reloads: reloads))
        guard case .answer(let answer) = try readMessage() else {
            throw TemporaryContainer.Failed(description: "no answer")
        }
        #expect(answer.id == id)
        return answer
    }
}

extension Conversation {
    /// Sends a press, and returns what has become of it.
    fileprivate func press(_ id: Int, _ press: WidgetPress, asks: Bool = false) throws -> PressResult? {
        try say(.press(id: id, press, asks: asks, deadline: 30))
        guard case .pressed(id, let result, _) = try readMessage() else { return nil }
        return result
    }
}

/// Returns the lines without the buttons.
private func texts(_ answer: WidgetMessage.Answer) -> [String]? {
    answer.timeline?.entry(at: Date())?.snapshot.lines.filter { $0.control == nil }.map(\.text)
}

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A widget's messages to its host` {
    private let place: Place

    init() throws { place = try Place() }

    @Test func `a widget sends hello, answers each update once, and sends its view on request`() throws {
        let widget = try Conversation("note-widget", place)
        guard
            case .hello(version: 2, kind: "note", placeholder: let placeholder?, let interests) =
                try widget.readMessage()
        else {
            Issue.record("no hello: \(widget.process.text)")
            return
        }
        #expect(placeholder.lines.map(\.text) == ["…"])
        #expect(interests == ["Library/note.txt", "defaults:note"])
        #expect(texts(try widget.update(1)) == ["nothing noted"])
        #expect(try widget.update(2) == .init(id: 2, result: .noData, policy: .never))
        #expect(texts(try widget.update(3, shows: true)) == ["nothing noted"])
        try place.write("one\ntwo", to: "Library/note.txt")
        #expect(texts(try widget.update(4)) == ["one", "two"])
        #expect(try widget.update(5, reloads: true) == .init(id: 5, result: .noData, policy: .never))
        try widget.say(.end)
        #expect(widget.process.reap() == 0)
    }

    @Test func `a restarted widget gets the changes that it missed, also after kill -9`() throws {
        var widget = try Conversation("note-widget", place)
        _ = try widget.readMessage()
        _ = try widget.update(1)
        widget.process.signal(SIGKILL)
        widget.process.reap()
        try place.write("missed", to: "Library/note.txt")
        widget = try Conversation("note-widget", place)
        _ = try widget.readMessage()
        #expect(texts(try widget.update(1)) == ["missed"])
        #expect(try widget.update(2) == .init(id: 2, result: .noData, policy: .never))
    }

    @Test func `a widget sends the view that another process of its kind has rendered`() throws {
        let widgets = try [Conversation("note-widget", place), Conversation("note-widget", place)]
        for widget in widgets {
            _ = try widget.readMessage()
            #expect(texts(try widget.update(1)) == ["nothing noted"])
            #expect(try widget.update(2) == .init(id: 2, result: .noData, policy: .never))
        }
        try place.write("milk", to: "Library/note.txt")
        for (number, widget) in widgets.enumerated() {
            let answer = try widget.update(3)
            #expect(answer.result == .newData && texts(answer) == ["milk"], "widget \(number)")
            #expect(try widget.update(4) == .init(id: 4, result: .noData, policy: .never))
        }
    }

    @Test func `a press is performed once, and the next process knows whether it was`() throws {
        var widget = try Conversation("todo-widget", place, ["--style", "list"])
        try place.write(#"[{"title":"Milk","done":false}]"#, to: "Library/todo.json")
        _ = try widget.readMessage()
        let milk = WidgetPress(name: "x-1", action: WidgetAction(id: "1:Milk", isOn: true))
        #expect(try widget.press(1, milk, asks: true) == .notDone)
        #expect(try widget.press(2, milk) == .done)
        #expect(try widget.press(3, milk) == .done)
        let open = WidgetPress(name: "x-2", action: WidgetAction(id: "1:Milk", isOn: false))
        widget.process.signal(SIGKILL)
        widget.process.reap()
        widget = try Conversation("todo-widget", place, ["--style", "list"])
        _ = try widget.readMessage()
        #expect(try widget.press(1, milk, asks: true) == .done && widget.press(2, open, asks: true) == .notDone)
        let other = WidgetPress(name: "x-3", action: WidgetAction(id: "1:Bread", isOn: true))
        #expect(try widget.press(3, other) == .notDone && widget.press(4, other, asks: true) == .notDone)
        #expect(try widget.update(5).timeline?.entry(at: Date())?.snapshot.lines.map(\.control?.isOn) == [true])
    }

    @Test func `a press whose record is damaged is unknown, and the next one is performed`() throws {
        let widget = try Conversation("todo-widget", place, ["--style", "list"])
        try place.write(#"[{"title":"Milk","done":false}]"#, to: "Library/todo.json")
        try place.write("no JSON", to: "Library/Presses/todo-list.json")
        _ = try widget.readMessage()
        let milk = WidgetPress(name: "x-1", action: WidgetAction(id: "1:Milk", isOn: true))
        #expect(try widget.press(1, milk, asks: true) == .unknown)
        #expect(try widget.press(2, milk) == .done && widget.press(3, milk, asks: true) == .done)
    }

    @Test func `a press whose record is larger than any is unknown, and the next one is performed`() throws {
        let widget = try Conversation("todo-widget", place, ["--style", "list"])
        try place.write(#"[{"title":"Milk","done":false}]"#, to: "Library/todo.json")
        let record = #"{"performed":["x-1"]}"# + String(repeating: " ", count: 65_536)
        try place.write(record, to: "Library/Presses/todo-list.json")
        _ = try widget.readMessage()
        let milk = WidgetPress(name: "x-1", action: WidgetAction(id: "1:Milk", isOn: true))
        #expect(try widget.press(1, milk, asks: true) == .unknown)
        #expect(try widget.press(2, milk) == .done && widget.press(3, milk, asks: true) == .done)
    }

    @Test func `a widget completes its update before it answers a suspension`() throws {
        let widget = try Conversation("note-widget", place)
        _ = try widget.readMessage()
        try widget.say(.suspend(id: 7))
        #expect(try widget.readMessage() == .suspended(id: 7))
        try #require(widget.process.stop())
        try place.write("meanwhile", to: "Library/note.txt")
        widget.process.resume()
        try widget.say(.resume)
        #expect(texts(try widget.update(8)) == ["meanwhile"])
    }

    @Test func `a widget ignores unknown messages, and ends with its host`() throws {
        let widget = try Conversation("note-widget", place)
        _ = try widget.readMessage()
        for line in ["", "{}", "\u{0}\u{1}", #"{"do":"dance"}"#, #"{"do":"update","id":"x"}"#, "[[[[[["] {
            try widget.process.send(line)
        }
        #expect(texts(try widget.update(1)) == ["nothing noted"])
        widget.process.closeInput()
        #expect(widget.process.reap() == 0)
    }

    // fault: holder-stopped
    @Test func `a widget answers failed with the holder where a stopped process holds its item`() throws {
        let holder = try RunningProcess([
            "groupctl", "lock", place.path, "Library/note.txt", "--", "sh", "-c", "echo held; cat",
        ])
        try holder.waitForText("held")
        let widget = try Conversation("note-widget", place)
        _ = try widget.readMessage()
        try #require(holder.stop())
        try widget.say(
            .update(id: 1, environment: WidgetEnvironment(), deadline: 0.2, shows: false, reloads: false))
        guard case .answer(let answer) = try widget.readMessage() else {
            Issue.record("no answer")
            return
        }
        #expect(answer.result == .failed)
        holder.resume()
        holder.closeInput()
        holder.reap()
        #expect(texts(try widget.update(2)) == ["nothing noted"])
    }
}
