import Extensions
import FoundationEssentials
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A share inbox` {
    private let temporary: TemporaryContainer
    private let container: Container
    private let inbox: ShareInbox

    init() throws {
        temporary = try TemporaryContainer()
        container = try temporary.open()
        inbox = try ShareInbox(container)
    }

    /// Handles all items exactly once, and returns their texts.
    private func handleAll() throws -> [String] {
        var texts: [String] = []
        for _ in 0..<100 {
            let text = try inbox.blocking.handleNext(changing: []) { shared, _ in shared.item.text ?? "" }
            guard let text else { break }
            texts.append(text)
        }
        return texts
    }

    @Test func `items come in their order, with all that they have`() async throws {
        let url = try #require(URL(string: "https://example.com/a"))
        let item = ExtensionItem(
            title: "title", text: "1", attachments: [.url(url), .text("two"), .propertyList(.array([3, "four"]))],
            values: ["tag": "x"])
        let first = try await inbox.add(item)
        for number in 2...12 { try await inbox.add(ExtensionItem(text: "\(number)")) }
        let identifiers = try inbox.identifiers()
        #expect(identifiers.count == 12 && identifiers.first == first && identifiers == identifiers.sorted())
        let handled = try await inbox.handleNext(changing: []) { shared, _ in
            #expect(shared.identifier == first && !shared.again)
            return shared.item
        }
        #expect(handled == item)
        #expect(try handleAll() == (2...12).map(String.init))
        #expect(try inbox.identifiers().isEmpty)
        #expect(try await inbox.handleNext(changing: []) { _, _ in 1 } == nil)
    }

    @Test func `a user's file is copied, and an item of the container is copied or moved`() async throws {
        let directory = try TemporaryDirectory()
        let large = [UInt8](repeating: 7, count: 3 << 20)
        try directory.put("mine", at: "mine.txt")
        let mine = try AttachedFile(path: directory.path + "/mine.txt")
        try container.coordinator(purpose: "test").blocking.write(bytes: large, to: "large")
        let attachments = [
            Attachment(.file(mine), type: .plainText, name: "../../mine.txt"),
            Attachment(.item("large"), type: .bytes, name: "large"),
        ]
        try await inbox.add(ExtensionItem(text: "copied", attachments: attachments))
        #expect(try String(contentsOfFile: directory.path + "/mine.txt", encoding: .utf8) == "mine")
        #expect(try container.items().contains { $0.path == "large" })
        try await inbox.add(ExtensionItem(text: "moved", attachments: attachments), moving: true)
        #expect(try !container.items().contains { $0.path == "large" })
        for text in ["copied", "moved"] {
            let isHandled = try await inbox.handleNext { shared in
                #expect(shared.item.text == text && shared.item.attachments.map(\.name) == ["../../mine.txt", "large"])
                let (mine, copy) = (
                    try await shared.item.attachments[0].loadText(), try await shared.item.attachments[1].loadBytes()
                )
                #expect(mine == "mine" && copy == large)
            }
            #expect(isHandled)
        }
        #expect(try container.items().map(\.path) == ["Share Inbox"])
    }

    @Test func `a large file of the user is copied as a whole, whatever its offset`() async throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "0123456789abcdef", count: 1 << 17)
        try directory.put(text, at: "large")
        let file = try AttachedFile(path: directory.path + "/large")
        try await inbox.add(ExtensionItem(attachments: [Attachment(.file(file), type: .plainText)]))
        let isHandled = try await inbox.handleNext { shared in
            let copy = try await shared.item.attachments[0].loadText()
            #expect(copy == text)
        }
        #expect(isHandled)
    }

    @Test func `a transaction that fails leaves the item, and one that moves its file keeps that`() async throws {
        try container.coordinator(purpose: "test").blocking.write(bytes: [1], to: "original")
        try await inbox.add(
            ExtensionItem(attachments: [Attachment(.item("original"), type: .bytes, name: "a b/c")]))
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await inbox.handleNext(changing: [.writing("mine")]) { _, access in
                try access.write(bytes: [1], to: "mine")
                throw Refused()
            }
        }
        #expect(try !container.items().contains { $0.path == "mine" })
        let isAgain = try await inbox.handleNext(changing: [.writing("mine")]) { shared, access in
            guard case .item(let path) = shared.item.attachments[0].content else { throw Refused() }
            try access.move(path, to: "mine")
            return shared.again
        }
        #expect(isAgain == false)
        #expect(try container.coordinator(purpose: "test").blocking.readBytes("mine") == [1])
        #expect(try inbox.identifiers().isEmpty)
    }

    @Test func `work that fails is done again, and marked as a repetition`() async throws {
        try await inbox.add(ExtensionItem(text: "a"))
        struct Refused: Error {}
        await #expect(throws: Refused.self) { _ = try await inbox.handleNext { _ in throw Refused() } as Bool }
        let isHandled = try await inbox.handleNext { shared in #expect(shared.again && shared.item.text == "a") }
        #expect(isHandled)
        #expect(try await !inbox.handleNext { _ in })
    }

    @Test func `two handlers take an item each, and none twice`() async throws {
        let count = 40
        for number in 0..<count { try await inbox.add(ExtensionItem(text: "\(number)")) }
        let texts = Guarded<[String]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let other = try ShareInbox(container)
                group.addTask {
                    while try await other.handleNext({ shared in
                        #expect(!shared.again)
                        texts.withLock { $0.append(shared.item.text ?? "") }
                    }) {}
                }
            }
            try await group.waitForAll()
        }
        #expect(texts.withLock { $0 }.sorted() == (0..<count).map(String.init).sorted())
    }

    @Test func `handlers get what comes later`() async throws {
        try await inbox.add(ExtensionItem(text: "before"))
        let (texts, continuation) = AsyncStream<String>.makeStream()
        let task = Task {
            try await inbox.handleEach(changing: []) { shared, _ in continuation.yield(shared.item.text ?? "") }
        }
        var iterator = texts.makeAsyncIterator()
        #expect(await iterator.next() == "before")
        for number in 0..<10 {
            try await inbox.add(ExtensionItem(text: "\(number)"))
            #expect(await iterator.next() == "\(number)")
        }
        task.cancel()
        _ = await task.result
    }

    @Test func `a damaged item is an error, harms nothing, and is removed`() async throws {
        let first = try await inbox.add(ExtensionItem(text: "a"))
        try await inbox.add(ExtensionItem(text: "b"))
        let content = ItemPath("Share Inbox/\(first)/item.json")
        for damage in [
            "", "{", "[]", #"{"attachments":[{"type":"x"}]}"#, #"{"attachments":[{"type":"url","url":"a"}]}"#,
        ] {
            try container.coordinator(purpose: "test").blocking.write(bytes: Array(damage.utf8), to: content)
            await #expect(throws: (any Error).self, "\(damage)") {
                try await inbox.handleNext(changing: []) { _, _ in }
            }
            await #expect(throws: (any Error).self, "\(damage)") { _ = try await inbox.handleNext { _ in } }
        }
        #expect(try await inbox.remove(first))
        #expect(try await !inbox.remove(first))
        #expect(try handleAll() == ["b"])
    }

    @Test func `an item names only its own files`() async throws {
        let first = try await inbox.add(ExtensionItem(text: "a"))
        let content = ItemPath("Share Inbox/\(first)/item.json")
        for path in [
            "mine", "../mine", "Share Inbox/\(first)/../x", "Share Inbox/\(first)/..", "Share Inbox/\(first)/",
        ] {
            let item = #"{"attachments":[{"type":"text","item":"\#(path)"}]}"#
            try container.coordinator(purpose: "test").blocking.write(bytes: Array(item.utf8), to: content)
            let error = await #expect(throws: SharedItem.Damaged.self, "\(path)") {
                try await inbox.handleNext(changing: [.writing("mine")]) { _, _ in }
            }
            #expect(error?.identifier == first)
        }
    }

    @Test(arguments: [#"{"attachments":["#, ""]) func `an item that is too large is damaged`(start: String) async throws
    {
        let first = try await inbox.add(ExtensionItem(text: "a"))
        let content = ItemPath("Share Inbox/\(first)/item.json")
        let rest =
            start.isEmpty
            ? [UInt8](repeating: 0x20, count: 65 << 20) : Array(String(repeating: "{},", count: 70_000).utf8)
        try container.coordinator(purpose: "test").blocking.write(
            bytes: Array(start.utf8) + rest, to: content, durability: .relaxed)
        let error = await #expect(throws: SharedItem.Damaged.self) {
            try await inbox.handleNext(changing: []) { _, _ in }
        }
        #expect(error?.identifier == first && error?.reason.contains("is longer than") == true)
    }

    @Test func `an item of another container is not taken for one of this`() async throws {
        let other = try TemporaryContainer()
        let attachment = Attachment(.item("a"), type: .text).found(in: try other.open())
        try container.coordinator(purpose: "test").blocking.write(bytes: [1], to: "a")
        await #expect(throws: AttachmentError.self) {
            try await inbox.add(ExtensionItem(attachments: [attachment]), moving: true)
        }
        #expect(try inbox.identifiers().isEmpty)
    }

    @Test(arguments: ["Inbox [1]*?", "a\\b", "d/é\u{7}"])
    func `a directory of any name is an inbox`(name: String) async throws {
        let inbox = try ShareInbox(container, at: ItemPath(name))
        try container.coordinator(purpose: "test").blocking.write(bytes: [1], to: "original")
        let (texts, continuation) = AsyncStream<String>.makeStream()
        let task = Task {
            try await inbox.handleEach { shared in
                continuation.yield("\(try await shared.item.attachments[0].loadBytes())")
            }
        }
        var iterator = texts.makeAsyncIterator()
        for _ in 0..<3 {
            let attachment = Attachment(.item("original"), type: .bytes, name: "a/\u{301}b/../c\u{85}")
            try await inbox.add(ExtensionItem(attachments: [attachment]))
            #expect(await iterator.next() == "[1]")
        }
        task.cancel()
        _ = await task.result
    }

    @Test func `a handler goes past an item that another one has`() async throws {
        for text in ["a", "b"] { try await inbox.add(ExtensionItem(text: text)) }
        let other = try ShareInbox(temporary.open())
        let isHandled = try await inbox.handleNext { first in
            let isHandled = try await Task.detached {
                try await other.handleNext(timeout: .zero) { second in
                    #expect(first.item.text == "a" && second.item.text == "b")
                }
            }.value
            #expect(isHandled)
            // There is only the one that is being handled.
            await #expect(throws: CoordinationError.self) {
                try await Task.detached { try await other.handleNext(timeout: .zero) { _ in } }.value
            }
        }
        #expect(isHandled)
        #expect(try inbox.identifiers().isEmpty)
    }

    @Test func `a number that is drawn again after a power cut is not used twice`() async throws {
        let first = try await inbox.add(ExtensionItem(text: "a"))
        try GroupDefaults(container, suite: "share-inbox").removeValue(forKey: "Share Inbox")
        let second = try await inbox.add(ExtensionItem(text: "b"))
        #expect(first != second)
        #expect(try handleAll() == ["a", "b"])
    }
}

/// Handlers of other processes, killed at each system call.
@Suite(
    .tags(.process),
    .ownThreads, .enabled(if: Strace.isThere, "strace(1) is missing, or may not put faults into system calls"),
    .timeLimit(.minutes(5)))
struct `A killed handler of an inbox` {
    private func shareOriginal(in container: TemporaryContainer) throws {
        _ = try container.groupctl("write", "original", input: "0123456789")
    }

    private func share(_ text: String, in container: TemporaryContainer) throws {
        let (status, output) = try RunningProcess(["extensions-member", "share", container.path, text]).finish()
        #expect(status == 0, "\(output)")
    }

    private func lines(_ item: String, in container: TemporaryContainer) throws -> [String] {
        let (status, text) = try container.groupctl("read", item)
        return status == 0 ? text.split(separator: "\n").map(String.init) : []
    }

    @Test func `each item is handled once where the handling is a transaction`() throws {
        let model = try TemporaryContainer()
        try shareOriginal(in: model)
        try share("model", in: model)
        let container = try TemporaryContainer()
        try shareOriginal(in: container)
        var shared: [String] = []
        var killed = 0
        let calls = try EverySystemCall(of: ["extensions-member", "handle", model.path], in: model)
        try calls.forEachIfLong { attempt in
            shared.append("item \(attempt.number)")
            try share(shared[attempt.number], in: container)
            if try attempt.run(["extensions-member", "handle", container.path]).status == 137 { killed += 1 }
            let handled = try lines("handled", in: container)
            #expect(handled == Array(shared.prefix(handled.count)), "\(attempt)")
            let waiting = try ShareInbox(container.open()).identifiers().count
            #expect(handled.count + waiting == shared.count && waiting <= 1, "\(attempt)")
            // The next attempt makes the same calls as the model only if one item waits.
            if waiting > 0 { _ = try RunningProcess(["extensions-member", "handle", container.path]).finish() }
        }
        #expect(killed >= (runsLongTests ? 100 : 10), "\(killed) of \(shared.count)")
        #expect(try lines("handled", in: container) == shared)
        #expect(try ShareInbox(container.open()).identifiers().isEmpty)
        #expect(try ContainerCheck(.path(Array(container.path.utf8))).examine().filter { $0.severity != .note }.isEmpty)
    }

    @Test func `no item is lost where the handling is something else`() throws {
        let model = try TemporaryContainer()
        try shareOriginal(in: model)
        try share("model", in: model)
        let container = try TemporaryContainer()
        try shareOriginal(in: container)
        var shared: [String] = []
        var seen: [String: Int] = [:]
        let note = { (text: String) in
            for line in text.split(separator: "\n") where line != "nothing" {
                let words = line.split(separator: " ")
                let name = words.dropLast().joined(separator: " ")
                // The first handler of an item is told that it is, and each later one that it is not.
                if words.last == "first" { #expect(seen[name] == nil, "\(line)") }
                seen[name, default: 0] += 1
            }
        }
        let calls = try EverySystemCall(of: ["extensions-member", "print", model.path], in: model)
        try calls.forEachIfLong { attempt in
            shared.append("item \(attempt.number)")
            try share(shared[attempt.number], in: container)
            note(try attempt.run(["extensions-member", "print", container.path]).text)
            // The next attempt makes the same calls as the model only if one item waits.
            note(try RunningProcess(["extensions-member", "print", container.path]).finish().text)
        }
        #expect(try ShareInbox(container.open()).identifiers().isEmpty)
        #expect(Set(seen.keys) == Set(shared))
        #expect(!runsLongTests || shared.count >= 100, "\(shared.count)")
    }

    @Test func `an item of a killed process is there as a whole or not at all`() throws {
        let model = try TemporaryContainer()
        try shareOriginal(in: model)
        let container = try TemporaryContainer()
        try shareOriginal(in: container)
        var whole = 0
        let calls = try EverySystemCall(of: ["extensions-member", "share", model.path, "model"], in: model)
        try calls.forEachIfLong { attempt in
            try attempt.run(["extensions-member", "share", container.path, "a"])
            let inbox = try ShareInbox(container.open())
            let isThere = try inbox.blocking.handleNext(changing: []) { shared, access in
                guard case .item(let path)? = shared.item.attachments.first?.content else { return false }
                return try access.readBytes(path) == Array("0123456789".utf8)
            }
            #expect(isThere != false, "\(attempt)")
            if isThere == true { whole += 1 }
        }
        #expect(whole > 0)
        #expect(try ContainerCheck(.path(Array(container.path.utf8))).examine().filter { $0.severity != .note }.isEmpty)
    }
}
