import Foundation
import GroupContainer
import Testing
import Widgets

@Suite struct `A refresh` {
    private struct Interrupted: Error {}

    @Test func `a refresh returns newData once for a change, then noData`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        var shown: [String] = []
        #expect(try await place.refresh { shown.append($0) } == .newData)
        #expect(try await place.refresh { shown.append($0) } == .noData)
        try place.write("two\n", to: "notes/a")
        #expect(try await place.refresh { shown.append($0) } == .newData)
        #expect(shown == ["one", "two"])
    }

    @Test func `a refresh returns noData for a change that does not affect the snapshot`() async throws {
        let place = try Place()
        try place.write("one\nx\n", to: "notes/a")
        _ = try await place.refresh()
        try place.write("one\ny\n", to: "notes/a")
        #expect(try await place.refresh() == .noData)
    }

    @Test func `a refresh does not render for a change that does not concern the widget`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        _ = try await place.refresh()
        try place.write("else\n", to: "other")
        #expect(try await place.refresh { _ in throw Interrupted() } == .noData)
    }

    @Test func `a refresh detects an external change that was made while no process ran`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        _ = try await place.refresh()
        try Data("foreign\n".utf8).write(to: URL(fileURLWithPath: place.path + "/notes/a"))
        var shown = ""
        #expect(try await place.refresh { shown = $0 } == .newData)
        #expect(shown == "foreign")
    }

    @Test func `a refresh whose provider throws has failed, and gets the change again`() async throws {
        let place = try Place()
        #expect(try await place.refresh() == .failed)
        try place.write("one\n", to: "notes/a")
        #expect(try await place.refresh() == .newData)
    }

    @Test func `an interrupted delivery is repeated by the next refresh`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        await #expect(throws: Interrupted.self) { try await place.refresh { _ in throw Interrupted() } }
        var shown = ""
        #expect(try await place.refresh { shown = $0 } == .newData)
        #expect(shown == "one")
    }

    @Test func `a damaged record is refused once, and the next refresh begins anew`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        _ = try await place.refresh()
        let file = URL(fileURLWithPath: place.path + "/.group/widgets/first-line/record.json")
        try Data("{".utf8).write(to: file)
        do {
            _ = try await place.refresh()
            Issue.record("it was accepted")
        } catch let error as CoordinationError {
            #expect(error.code == .damaged)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path + ".damaged")) == Data("{".utf8))
        #expect(try await place.refresh() == .newData)
        #expect(try await place.refresh() == .noData)
    }
}
