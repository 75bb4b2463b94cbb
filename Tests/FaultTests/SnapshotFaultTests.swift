import GroupContainer
import TestSupport
import Testing

// case 38
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `A snapshot that is read` {
    @Test func `is left alone by everybody who comes, goes and dies meanwhile`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "folder/item", input: "old")
        let open = try container.open()
        try open.coordinator(purpose: "uploader").blocking.coordinate(.reading("folder", .forUploading)) {
            access throws in
            #expect(try container.groupctl("write", "folder/item", "--timeout", "0", input: "new").status == 0)
            let victim = try container.member("hold", "other")
            try victim.waitForText("held")
            victim.kill()
            for _ in 0..<3 { #expect(try container.groupctl("read", "folder/item").text == "new") }
            #expect(try access.readBytes("folder/item") == Array("old".utf8))
            #expect(container.staging.count == 1)
        }
        #expect(container.staging.isEmpty)
    }

    @Test(arguments: [true, false])
    func `is swept once its process was killed`(isAlone: Bool) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "folder/inner/item", input: "old")
        let other = isAlone ? nil : try container.open()
        let uploader = try container.member("upload", "folder")
        try uploader.waitForText("uploading")
        #expect(container.staging.count == 1)
        uploader.kill()
        _ = try container.groupctl("read", "folder/inner/item")
        #expect(container.staging.isEmpty)
        _ = try other?.status()
    }
}
