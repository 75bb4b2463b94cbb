import GroupContainer
import TestSupport
import Testing

// fault: foreign-staging
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Snapshots under faults` {
    @Test func `a snapshot that is read is left alone by every process that comes, goes or dies meanwhile`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "directory/item", input: "old")
        let open = try container.open()
        try open.coordinator(purpose: "uploader").blocking.coordinate(.reading("directory", .forUploading)) {
            access throws in
            #expect(try container.groupctl("write", "directory/item", "--timeout", "0", input: "new").status == 0)
            let victim = try container.member("hold", "other")
            try victim.waitForText("held")
            victim.kill()
            for _ in 0..<3 { #expect(try container.groupctl("read", "directory/item").text == "new") }
            #expect(try access.readBytes("directory/item") == Array("old".utf8))
            #expect(container.staging.count == 1)
        }
        #expect(container.staging.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a snapshot is swept once its process was killed`(isAlone: Bool) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "directory/inner/item", input: "old")
        let other = isAlone ? nil : try container.open()
        let uploader = try container.member("upload", "directory")
        try uploader.waitForText("uploading")
        #expect(container.staging.count == 1)
        uploader.kill()
        _ = try container.groupctl("read", "directory/inner/item")
        #expect(container.staging.isEmpty)
        _ = try other?.status()
    }
}
