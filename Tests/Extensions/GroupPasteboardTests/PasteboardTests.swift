import Extensions
import FoundationEssentials
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupPasteboard

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A pasteboard` {
    private let temporary: TemporaryContainer
    private let container: Container
    private let pasteboard: GroupPasteboard
    private let large = [UInt8](repeating: 7, count: 3 << 20)

    init() throws {
        temporary = try TemporaryContainer()
        container = try temporary.open()
        pasteboard = try GroupPasteboard(in: container)
    }

    /// The directories of contents.
    private func directories() throws -> [ItemPath] {
        do throws(CoordinationError) {
            return try container.items(in: "Pasteboards/general").map(\.path)
        } catch {
            if error.code == .notFound { return [] }
            throw error
        }
    }

    @Test func `is empty until it is set, and after it was cleared`() async throws {
        #expect(pasteboard.changeCount == 0)
        #expect(try pasteboard.content() == PasteboardContent(changeCount: 0, items: [], expires: nil))
        #expect(try pasteboard.representation(of: .text) == nil)
        #expect(try await pasteboard.set([.text("a")]) == 1)
        #expect(try await pasteboard.clear() == 2)
        #expect(try pasteboard.content() == PasteboardContent(changeCount: 2, items: [], expires: nil))
        #expect(try pasteboard.blocking.clear() == 3)
    }

    @Test func `items have all their representations, in their order`() async throws {
        let url = try #require(URL(string: "https://example.com/a"))
        let items = [
            PasteboardItem([
                .text("Bread"), .url(url), .propertyList(["tag": [1, "two"]]),
                Attachment(.bytes([0, 255]), type: .bytes, name: "raw"),
            ]),
            .text("Butter"), .url(url), .propertyList(3),
        ]
        #expect(try await pasteboard.set(items) == 1)
        #expect(try pasteboard.items() == items)
        #expect(try pasteboard.items().first?.types == [.text, .url, .propertyList, .bytes])
        #expect(try pasteboard.representation(of: .text) == .text("Bread"))
        #expect(try await pasteboard.representation(of: .bytes)?.loadBytes() == [0, 255])
        #expect(try pasteboard.representation(of: .plainText) == nil)
        #expect(try directories() == [])
        let other = try GroupPasteboard("other", in: container)
        #expect(try other.content().changeCount == 0)
    }

    @Test func `a large representation is an item of the container, and is removed with its content`() async throws {
        let picture = try #require(ContentType("image/png"))
        let text = String(repeating: "ö", count: 100_000)
        let directory = try TemporaryDirectory()
        try directory.put("mine", at: "mine.txt")
        let file = try AttachedFile(path: directory.path + "/mine.txt")
        try container.coordinator(purpose: "test").blocking.write(bytes: [9, 9], to: "original")
        try await pasteboard.set([
            PasteboardItem([
                Attachment(.bytes(large), type: picture, name: "../a\n.png"), .text(text),
                Attachment(.item("original"), type: .bytes),
            ]),
            .file(file, type: .plainText, name: "mine.txt"),
        ])
        let content = try pasteboard.content()
        #expect(try directories().count == 1)
        for representation in content.items.flatMap(\.representations) {
            guard case .item(let path) = representation.content else {
                Issue.record("\(representation)")
                continue
            }
            #expect(path.isDirectly(in: try directories()[0]))
        }
        #expect(try await content.representation(of: picture)?.loadBytes() == large)
        #expect(try await content.representation(of: .text)?.loadText() == text)
        #expect(try await content.representation(of: .bytes)?.loadBytes() == [9, 9])
        #expect(try pasteboard.blocking.bytes(of: .plainText) == Array("mine".utf8))
        let opened = try #require(try pasteboard.representation(of: picture))
        #expect(throws: AttachmentError.self) { try pasteboard.blocking.bytes(of: picture, limit: 10) }
        try await pasteboard.set([.text("small")])
        #expect(try directories() == [])
        // What was opened before stays readable; what was not is gone, and is nothing else.
        #expect(try await opened.loadBytes() == large)
        await #expect(throws: AttachmentError.self) {
            try await content.representation(of: picture)?.loadBytes()
        }
        #expect(temporary.exists("original"))
    }

    @Test func `content that has expired is not returned`() async throws {
        try await pasteboard.set([.text("a")], expires: Date(timeIntervalSinceNow: 3_600))
        #expect(try pasteboard.items() == [.text("a")])
        try await pasteboard.set([.text("b")], expires: Date(timeIntervalSinceNow: -1))
        #expect(try pasteboard.items() == [] && pasteboard.changeCount == 2)
        #expect(try pasteboard.representation(of: .text) == nil)
    }

    @Test func `limits have typed errors, and change nothing`() async throws {
        func code(_ items: [PasteboardItem]) async -> CoordinationError.Code? {
            do {
                try await pasteboard.set(items)
                return nil
            } catch {
                return (error as? CoordinationError)?.code
            }
        }
        let text = PasteboardItem.text("a")
        #expect(await code([PasteboardItem](repeating: text, count: PasteboardLimits.items + 1)) == .limitReached)
        let types = try (0...PasteboardLimits.representations).map { number in
            Attachment(.bytes([]), type: try #require(ContentType("a/b\(number)")))
        }
        #expect(await code([PasteboardItem(types)]) == .limitReached)
        let list = DefaultsValue.string(String(repeating: "a", count: 9 << 20))
        #expect(await code([.propertyList(list)]) == .limitReached)
        #expect(await code([PasteboardItem([])]) == .invalidArgument)
        #expect(await code([PasteboardItem([.text("a"), .text("b")])]) == .invalidArgument)
        #expect(await code([.propertyList(.json([0xFF]))]) == .invalidContent)
        let directory = try TemporaryDirectory()
        try directory.open("hole", [.writing, .creating]).setSize(Int(PasteboardLimits.size) + 1)
        #expect(await code([.file(try AttachedFile(path: directory.path + "/hole"), type: .bytes)]) == .limitReached)
        #expect(await code([PasteboardItem([Attachment(.item("absent"), type: .bytes)])]) == .notFound)
        let other = try TemporaryContainer()
        let strange = Attachment(.item("a"), type: .bytes).found(in: try other.open())
        await #expect(throws: AttachmentError.self) { try await pasteboard.set([PasteboardItem([strange])]) }
        for name in ["", ".", "a/b", "a\0", String(repeating: "a", count: 101)] {
            #expect(throws: CoordinationError.self, "\(name)") { try GroupPasteboard(name, in: container) }
        }
        #expect(pasteboard.changeCount == 0)
        #expect(try directories() == [])
    }

    // MARK: Several processes

    private func member(_ words: String...) throws -> RunningProcess {
        try RunningProcess(["extensions-member", words[0], temporary.path] + words.dropFirst())
    }

    @Test func `every change of any process adds one to the change count, and wakes those that wait`() async throws {
        let follower = try member("follow")
        try follower.waitForText("0\n")
        #expect(try await member("set", "1", "100000").finish().text == "1\n")
        try follower.waitForText("0\n1\n")
        try await pasteboard.set([.text("b")])
        try follower.waitForText("0\n1\n2\n")
        var counts = pasteboard.changeCounts().makeAsyncIterator()
        #expect(try await counts.next() == 2)
        #expect(try pasteboard.blocking.waitForChange(after: 1) == 2)
        #expect(try pasteboard.blocking.waitForChange(after: 2, timeout: .zero) == nil)
        let setter = try member("set", "3", "10")
        #expect(try await counts.next() == 3)
        #expect(try pasteboard.blocking.waitForChange(after: 2, timeout: patience) == 3)
        #expect(try await setter.finish().text == "3\n")
        follower.kill()
        // Eight processes, of which none has the count of another.
        let setters = try (0..<8).map { try member("set", "\($0)", "70000") }
        let many = try (0..<3).map { try member("many", "\($0)", "10") }
        let seen = try (setters + many).flatMap { try $0.finish().text.split(separator: "\n").map { Int($0) ?? 0 } }
        #expect(seen.sorted() == Array(4...611))
        #expect(pasteboard.changeCount == 611)
        // The last one has removed the files of the others, or the next one does.
        try pasteboard.blocking.clear()
        #expect(try directories() == [])
    }

    @Test func `a process that was idle while the suite was compacted again and again reads the present content`()
        throws
    {
        try pasteboard.blocking.set([.text("a")])
        let suite = try GroupDefaults(container, suite: "group-container.pasteboards")
        #expect(suite.mark != nil)
        // 200 records of more than 80 KB each; a segment has 256 KB.
        #expect(try member("many", "7", "60000").finish().text.hasSuffix("201\n"))
        let pasteboard = pasteboard
        #expect(try Side { try pasteboard.content().changeCount }.answer() == 201)
    }

    /// Returns the byte that all parts of a content have; fails for a mixture.
    private func byte(of content: PasteboardContent) async throws -> UInt8? {
        if content.items.isEmpty { return nil }
        let text = try #require(try await content.representation(of: .text)?.loadText())
        let byte = try #require(UInt8(text))
        #expect(try await content.representation(of: .bytes)?.loadBytes() == [UInt8](repeating: byte, count: 10))
        do {
            let large = try await content.representation(of: .plainText)?.loadBytes()
            #expect(large == [UInt8](repeating: byte, count: 200_000))
        } catch {
            // The content was replaced before the item was read.
            guard case AttachmentError.item(let error) = error, error.code == .notFound else { throw error }
            #expect(pasteboard.changeCount > content.changeCount)
        }
        return byte
    }

    @Test func `a reader gets no mixture, and finds the large representation, while processes set and are killed`()
        async throws
    {
        var setters = try (1...3).map { try member("storm", "\($0)", "200000") }
        defer { for setter in setters { setter.kill() } }
        try setters[0].waitForLines(2)
        var random = SeededGenerator(seed: 7)
        var seen: Set<UInt8> = []
        var last = 0
        for round in 0..<120 {
            let content = try pasteboard.content()
            #expect(content.changeCount >= last)
            last = content.changeCount
            if let byte = try await byte(of: content) { seen.insert(byte) }
            let large = try #require(try await pasteboard.representation(of: .plainText)?.loadBytes())
            #expect(large.count == 200_000 && Set(large).count == 1, "round \(round)")
            if round % 10 == 9 {
                let index = Int.random(in: 0..<3, using: &random)
                setters[index].kill()
                #expect(!setters[index].text.contains("cannot"), "\(setters[index].text)")
                setters[index] = try member("storm", "\(index + 1)", "200000")
            }
        }
        for setter in setters { setter.kill() }
        #expect(seen.count > 1)
        let content = try pasteboard.content()
        #expect(try await byte(of: content) != nil)
        #expect(content.changeCount == pasteboard.changeCount)
        try await pasteboard.clear()
        #expect(try directories() == [])
    }

    @Test func `what a process leaves that is killed before the record is no content, and is removed`() async throws {
        try await pasteboard.set([.text("first")])
        // What such a process has done.
        let items = [PasteboardItem([Attachment(.bytes(large), type: .bytes)])]
        let new = try pasteboard.newContent(items, expires: nil)
        try container.coordinator(purpose: "test").blocking.coordinate(new.intents) { try new.write(by: $0) }
        #expect(try directories().count == 1)
        #expect(try pasteboard.items() == [.text("first")])
        #expect(try await member("set", "2", "10").finish().text == "2\n")
        #expect(try directories() == [])
    }

    @Test func `files of content that is about to be set are not removed by another process`() async throws {
        let items = [PasteboardItem([Attachment(.bytes(large), type: .bytes)])]
        let new = try pasteboard.newContent(items, expires: nil)
        let count = try container.coordinator(purpose: "test").blocking.coordinate(new.intents) { access in
            try new.write(by: access)
            // Another process sets its own content between the files and the record, and looks for what to remove.
            #expect(try member("set", "2", "70000").finish().text == "1\n")
            return try pasteboard.record(new)
        }
        #expect(count == 2)
        #expect(try pasteboard.blocking.bytes(of: .bytes) == large)
        #expect(try directories().count == 2)
        #expect(try await member("set", "3", "10").finish().text == "3\n")
        #expect(try directories() == [])
    }

    @Test func `a file that is being read stays until it was read`() async throws {
        try await pasteboard.set([PasteboardItem([Attachment(.bytes(large), type: .bytes)])])
        guard case .item(let path)? = try pasteboard.content().representation(of: .bytes)?.content else {
            Issue.record("the representation is no item")
            return
        }
        let read = try container.coordinator(purpose: "test").blocking.coordinate(.reading(path)) { access in
            #expect(try member("set", "2", "10").finish().text == "2\n")
            return try access.readBytes(path)
        }
        #expect(read == large)
        try await pasteboard.clear()
        #expect(try directories() == [])
    }

    // MARK: Damage

    @Test func `a damaged record is an error and no crash, and the next content replaces it`() async throws {
        let suite = try GroupDefaults(container, suite: "group-container.pasteboards")
        try await pasteboard.set([
            PasteboardItem([.text("a"), Attachment(.bytes(large), type: .bytes, name: "large")]),
            .propertyList(["b": [1, 2.5]]),
        ])
        guard case .json(let whole)? = suite.value(forKey: "content/general") else {
            Issue.record("no record")
            return
        }
        var random = SeededGenerator(seed: 3)
        var found: (read: Int, damaged: Int) = (0, 0)
        let others: [DefaultsValue] = [3, "text", .data(whole), [:], .json([]), .json(Array("[[[".utf8))]
        let texts = [
            #"{"changeCount":1,"items":[{"attachments":[{"type":"text","item":"secret"}]}]}"#,
            #"{"changeCount":1,"items":[{"attachments":[{"type":"text","item":"../a"}]}]}"#,
            #"{"changeCount":1,"directory":"../../x","items":[]}"#,
            #"{"changeCount":-1,"items":[]}"#,
            #"{"changeCount":1,"items":[{"attachments":[{"type":"text","descriptor":0}]}]}"#,
            #"{"changeCount":1,"items":[{"attachments":[{"type":"text"}]}]}"#,
        ]
        for value in others + texts.map({ .json(Array($0.utf8)) }) {
            try suite.set(value, forKey: "content/general")
            #expect("\(value)") { try pasteboard.content() } throws: { ($0 as? CoordinationError)?.code == .damaged }
        }
        for _ in 0..<500 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try suite.set(.json(bytes), forKey: "content/general")
            do {
                _ = try pasteboard.representation(of: .text)
                _ = try pasteboard.content()
                found.read += 1
            } catch let error as CoordinationError where error.code == .damaged {
                found.damaged += 1
            }
        }
        #expect(found.read > 0 && found.damaged > 0, "\(found)")
        #expect(pasteboard.changeCount == 1)
        #expect(try await pasteboard.set([.text("whole")]) == 2)
        #expect(try pasteboard.items() == [.text("whole")])
        #expect(try directories() == [])
        try suite.set("many", forKey: "count/general")
        #expect(try await pasteboard.set([.text("again")]) == 1)
    }

    @Test func `a file that was removed past the library is an error`() async throws {
        try await pasteboard.set([PasteboardItem([Attachment(.bytes(large), type: .bytes)]), .text("a")])
        try FileManager.default.removeItem(atPath: temporary.path + "/Pasteboards")
        #expect { try pasteboard.representation(of: .bytes) } throws: {
            ($0 as? CoordinationError)?.code == .damaged
        }
        #expect(try pasteboard.representation(of: .text) == .text("a"))
        #expect(try await pasteboard.set([PasteboardItem([Attachment(.bytes(large), type: .bytes)])]) == 2)
        #expect(try pasteboard.blocking.bytes(of: .bytes) == large)
    }
}
