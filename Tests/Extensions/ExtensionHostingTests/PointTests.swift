import ExtensionHosting
import Extensions
import FoundationEssentials
import GroupContainer
import TestSupport
import Testing

/// The requests and results of the points, each with an extension.
@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `A point's request and result` {
    private func answer(_ word: String, _ items: [ExtensionItem], group: String? = nil) throws -> [ExtensionItem] {
        let result = ExtensionHost(directory: "/nonexistent").blocking.run(
            TestExtension.manifest(word, group: group), items)
        guard case .completed(let items) = result else { throw Unexpected(text: "\(result)") }
        return items
    }

    private struct Unexpected: Error { var text: String }

    @Test func `a keyboard changes the text before the place`() throws {
        for (before, after) in [("in teh", "in the"), ("in the", "in the"), ("teh", "the")] {
            let input = KeyboardInput(before: before, after: "x", field: "text", language: "en")
            #expect(try KeyboardInput(input.items) == input)
            let result = try KeyboardInput.Result(try answer("keyboard", input.items))
            #expect(try result.applied(to: input) == after)
        }
        let result = KeyboardInput.Result(deleting: 2, inserting: "a")
        #expect(throws: MalformedItem.self) { try result.applied(to: KeyboardInput(before: "x")) }
        let negative = [ExtensionItem(values: ["deleted": .integer(-1), "inserted": .string("")])]
        #expect(throws: MalformedItem.self) { try KeyboardInput.Result(negative) }
        #expect(try answer("keyboard", KeyboardInput(before: "").items) != negative)
    }

    @Test func `a provider stores files, lists them, hands them out and removes them`() throws {
        let container = try TemporaryContainer()
        func files(_ request: ProvidedFile.Request) throws -> [ProvidedFile] {
            #expect(try ProvidedFile.Request(request.items) == request)
            return try ProvidedFile.files(ofResult: answer("files", request.items, group: container.path))
        }
        let content = Attachment(.bytes(Array("a text".utf8)), type: .plainText, name: "a.txt")
        #expect(try files(.store(content, directory: nil)).map(\.identifier) == ["a.txt"])
        #expect(try files(.list(directory: nil)) == [ProvidedFile("a.txt", name: "a.txt", type: .plainText)])
        #expect(try files(.fetch("a.txt")).first?.content?.content == .item("Files/a.txt"))
        #expect(try container.groupctl("read", "Files/a.txt").text == "a text")
        #expect(try files(.remove("a.txt")).isEmpty)
        #expect(try files(.list(directory: nil)).isEmpty)
    }

    @Test func `a photo's request and result, and a page's, come back as they were`() throws {
        let adjustment = PhotoEdit.Adjustment(format: "com.example.f", version: "2", data: [0, 255])
        let photo = Attachment(.bytes([1]), type: .png, name: "a.png")
        let base = Attachment(.bytes([2]), type: .png, name: "a.png")
        for edit in [
            PhotoEdit(photo), PhotoEdit(photo, earlier: PhotoEdit.Earlier(base: base, adjustment: adjustment)),
        ] {
            #expect(try PhotoEdit(try answer("echo", edit.items)) == edit)
        }
        #expect(PhotoEdit(photo).base == photo)
        let result = PhotoEdit.Result(photo, width: 2, height: 3, adjustment: adjustment, resumed: true)
        #expect(try PhotoEdit.Result(try answer("echo", result.items)) == result)
        let page = PageScript(.dictionary(["a": .array([.integer(1)])]), at: try #require(URL(string: "file:///a")))
        #expect(try PageScript(try answer("echo", page.items)) == page)
        #expect(try PageScript.value(ofResult: PageScript.result(page.value)) == page.value)
        #expect(try PageScript.value(ofResult: []) == nil)
    }

    /// Each part of a request or result is taken away, or replaced by a value of another kind.
    @Test func `what lacks a part is malformed`() throws {
        let photo = Attachment(.bytes([1]), type: .png)
        let adjustment = PhotoEdit.Adjustment(format: "f", version: "1", data: [])
        let url = try #require(URL(string: "file:///a"))
        let forms: [([ExtensionItem], ([ExtensionItem]) throws -> Void)] = [
            (
                PhotoEdit(photo, earlier: PhotoEdit.Earlier(base: photo, adjustment: adjustment)).items,
                { _ = try PhotoEdit($0) }
            ),
            (
                PhotoEdit.Result(photo, width: 1, height: 1, adjustment: adjustment, resumed: false).items,
                { _ = try PhotoEdit.Result($0) }
            ),
            (PageScript(.bool(true), at: url).items, { _ = try PageScript($0) }),
            (KeyboardInput(before: "").items, { _ = try KeyboardInput($0) }),
            (KeyboardInput.Result(inserting: "").items, { _ = try KeyboardInput.Result($0) }),
            (ProvidedFile.Request.fetch("a").items, { _ = try ProvidedFile.Request($0) }),
            (ProvidedFile.Request.remove("a").items, { _ = try ProvidedFile.Request($0) }),
            ([ProvidedFile("a", name: "b", type: .text).item], { _ = try ProvidedFile.files(ofResult: $0) }),
        ]
        for (items, read) in forms {
            try read(items)
            let item = try #require(items.first)
            for name in item.values.keys {
                for value in [nil, DefaultsValue.array([])] {
                    var wrong = item
                    wrong.values[name] = value
                    #expect(throws: MalformedItem.self, "\(name)") { try read([wrong]) }
                }
            }
            var crowded = item
            crowded.attachments += [photo, photo, photo]
            #expect(throws: MalformedItem.self) { try read([crowded]) }
        }
        for read in forms.dropLast().map(\.1) {
            #expect(throws: MalformedItem.self) { try read([]) }
            #expect(throws: MalformedItem.self) { try read([ExtensionItem()]) }
        }
    }
}
