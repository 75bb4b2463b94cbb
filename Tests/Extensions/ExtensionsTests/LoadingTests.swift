import Extensions
import FoundationEssentials
import GroupContainer
import TestSupport
import Testing

@Suite struct `Loading of an attachment` {
    private static func fault(_ load: () async throws -> some Any) async -> String {
        do {
            return "loaded \(try await load())"
        } catch {
            return "\(error)"
        }
    }

    @Test func `text is loaded from a text, bytes and a file`() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("é", at: "file")
        let file = try AttachedFile(path: directory.path + "/file")
        for content in [Attachment.Content.text("é"), .bytes(Array("é".utf8)), .file(file), .file(file)] {
            let attachment = Attachment(content, type: .plainText)
            #expect(try await attachment.loadText() == "é")
            #expect(try await attachment.loadBytes(limit: 2) == Array("é".utf8))
            #expect(try await Attachment(.file(attachment.open()), type: .bytes).loadText() == "é")
            #expect(await Self.fault { try await attachment.loadBytes(limit: 1) }.contains("larger than 1 bytes"))
        }
    }

    @Test func `content of another form is a typed error`() async throws {
        let url = try #require(URL(string: "a:b"))
        let list = Attachment.propertyList(.integer(3))
        #expect(try await Attachment.url(url).loadURL() == url)
        #expect(try await list.loadPropertyList() == .integer(3))
        #expect(try await Attachment(.text("a:b"), type: .url).loadURL() == url)
        #expect(await Self.fault { try await list.loadURL() } == "the attachment is a property list, and not a URL")
        #expect(await Self.fault { try await list.open() } == "the attachment is a property list, and not a file")
        #expect(
            await Self.fault { try await Attachment.text("a:b").loadURL() } == "the attachment is text, and not a URL")
        #expect(
            await Self.fault { try await Attachment(.text("ab"), type: .url).loadURL() }
                == "the attachment is not an absolute URL")
        #expect(
            await Self.fault { try await Attachment(.bytes([0xFF]), type: .text).loadText() }
                == "the attachment is not text in UTF-8")
        #expect(
            await Self.fault { try await Attachment(.item("a"), type: .text).loadText() }.contains(
                "there is no container"))
    }

    @Test func `a directory, a FIFO and a missing file are no attached files`() throws {
        let directory = try TemporaryDirectory()
        try directory.run("mkfifo", "fifo")
        for path in [directory.path, directory.path + "/fifo", directory.path + "/missing"] {
            #expect(throws: AttachmentError.self) { try AttachedFile(path: path) }
        }
        #expect(throws: AttachmentError.self) { try AttachedFile(reopening: -1) }
    }

    @Test func `an item is loaded and opened, and stays as it is in the open file`() async throws {
        let temporary = try TemporaryContainer()
        let container = try temporary.open()
        let coordinator = container.coordinator(purpose: "test")
        _ = try await coordinator.write(bytes: [1, 2, 3], to: "a/b")
        let attachment = Attachment(.item("a/b"), type: .bytes).found(in: container)
        #expect(try await attachment.loadBytes() == [1, 2, 3])
        #expect(await Self.fault { try await attachment.loadBytes(limit: 2) }.contains("larger than 2 bytes"))
        let file = try await attachment.open()
        _ = try await coordinator.write(bytes: [4], to: "a/b")
        #expect(try await Attachment(.file(file), type: .bytes).loadBytes() == [1, 2, 3])
        #expect(try await attachment.loadBytes() == [4])
        let missing = Attachment(.item("c"), type: .bytes).found(in: container)
        #expect(await Self.fault { try await missing.open() }.contains("'c'"))
        for path in ["../x", "/etc/passwd", ""] {
            let outside = Attachment(.item(ItemPath(path)), type: .bytes).found(in: container)
            #expect(await Self.fault { try await outside.open() }.hasPrefix("cannot"))
        }
    }
}
