import Foundation
import GroupContainer
import Testing
import Widgets

@Suite struct `A refresh` {
    private struct Interrupted: Error {}

    @Test func `answers newData once for a change, then noData`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        var shown: [String] = []
        #expect(try await place.refresh { shown.append($0) } == .newData)
        #expect(try await place.refresh { shown.append($0) } == .noData)
        try place.write("two\n", to: "notes/a")
        #expect(try await place.refresh { shown.append($0) } == .newData)
        #expect(shown == ["one", "two"])
    }

    @Test func `answers noData for a change that does not show`() async throws {
        let place = try Place()
        try place.write("one\nx\n", to: "notes/a")
        _ = try await place.refresh()
        try place.write("one\ny\n", to: "notes/a")
        #expect(try await place.refresh() == .noData)
    }

    @Test func `does not render for what does not concern it`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        _ = try await place.refresh()
        try place.write("else\n", to: "other")
        #expect(try await place.refresh { _ in throw Interrupted() } == .noData)
    }

    @Test func `sees what was changed without coordination while nobody ran`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        _ = try await place.refresh()
        try Data("foreign\n".utf8).write(to: URL(fileURLWithPath: place.path + "/notes/a"))
        var shown = ""
        #expect(try await place.refresh { shown = $0 } == .newData)
        #expect(shown == "foreign")
    }

    @Test func `has failed when its provider throws, and gets the same change again`() async throws {
        let place = try Place()
        #expect(try await place.refresh() == .failed)
        try place.write("one\n", to: "notes/a")
        #expect(try await place.refresh() == .newData)
    }

    @Test func `delivers again what it was interrupted in delivering`() async throws {
        let place = try Place()
        try place.write("one\n", to: "notes/a")
        await #expect(throws: Interrupted.self) { try await place.refresh { _ in throw Interrupted() } }
        var shown = ""
        #expect(try await place.refresh { shown = $0 } == .newData)
        #expect(shown == "one")
    }

    @Test func `refuses a record that is not one, once, and then begins anew`() async throws {
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
