import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Snapshots for uploading` {
    @Test func `a snapshot for uploading stays as it was while the item is written`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let other = sample.coordinator("other")
        _ = try tester.write(bytes: [1], to: "file", mode: 0o640)
        let place = try tester.coordinate(.reading("file", .forUploading)) { access throws in
            // On a thread of its own: nested in this access it would be the same request.
            #expect(
                try Side { try other.blocking.write(bytes: [2, 3], to: "file", timeout: .zero) }.answer() == .written(2)
            )
            #expect(try access.readBytes("file") == [1])
            #expect(try access.item("file")?.size == 1)
            let place = try access.absolutePath(of: "file").bytes
            #expect(place.starts(with: Array("\(sample.temporary.path)/.group/staging/".utf8)))
            #expect(try FileDescriptor.open(path: place, .reading).readAll() == [1])
            #expect(code { try access.write(bytes: [9], to: "file") } == .invalidArgument)
            return place
        }
        #expect(try tester.readBytes("file") == [2, 3])
        #expect(throws: Errno.noSuchEntry) { _ = try FileDescriptor.open(path: place, .reading) }
        try sample.expectNothingLeft()
    }

    @Test func `a snapshot of a directory has everything in it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/inner/file", mode: 0o604)
        _ = try tester.write(bytes: [2], to: "directory/other")
        try sample.temporary.run("ln", "-s", "/etc/hostname", "directory/link")
        try sample.temporary.run("mkfifo", "directory/fifo")
        try sample.temporary.run("chmod", "500", "directory/inner")
        try tester.coordinate(.reading("directory", .forUploading)) { access throws in
            _ = try Side { try sample.coordinator().blocking.remove("directory", recursively: true, timeout: .zero) }
                .answer()
            #expect(try access.readBytes("directory/inner/file") == [1])
            #expect(try access.readBytes("directory/other") == [2])
            #expect(try access.item("directory/inner")?.type == .directory)
            #expect(try access.item("directory/fifo")?.type == .other)
            #expect(try access.item("directory/link")?.type == .symbolicLink)
            #expect(try access.item("directory/missing") == nil)
            #expect(code { try access.readBytes("directory/missing") } == .notFound)
            #expect(code { try access.readBytes("directory/../../format") } != nil)
            #expect(code { try access.readBytes("directory/link") } == .outsideContainer)
            let place = try access.absolutePath(of: "directory/inner/file").bytes
            #expect(try FileDescriptor.open(path: place, .reading).status().permissions == 0o604)
        }
        try sample.expectNothingLeft()
    }

    @Test func `a snapshot of a missing item is empty, and a snapshot of a FIFO is refused`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.coordinate(.reading("missing", .forUploading)) { access throws in
            #expect(try access.readBytesIfPresent("missing") == nil)
            #expect(code { try access.absolutePath(of: "missing") } == .notFound)
        }
        try sample.temporary.run("mkfifo", "fifo")
        #expect(code { try tester.coordinate(.reading("fifo", .forUploading)) { _ in } } == .wrongType)
        try sample.expectNothingLeft()
    }

    @Test func `a snapshot beside a written item keeps the lock until the end`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        try tester.coordinate(.reading("a", .forUploading), .writing("b")) { access throws in
            #expect(try access.write(bytes: access.readBytes("a") + [2], to: "b") == .written(2))
        }
        #expect(try tester.readBytes("b") == [1, 2])
    }

    @Test func `the place of an item in a plain access is the item's own path`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/a")
        let expected = Array("\(sample.temporary.path)/directory/a".utf8)
        #expect(
            try tester.coordinate(.reading("directory/a")) { try $0.absolutePath(of: "directory/a").bytes } == expected)
        #expect(
            try tester.coordinate(.writing("directory/a")) { try $0.absolutePath(of: "directory/a").bytes } == expected)
        #expect(
            code { try tester.coordinate(.writing("directory/a")) { try $0.absolutePath(of: "b").bytes } }
                == .invalidArgument)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Metadata accesses` {
    @Test func `metadata of an item can be read while another access holds it, and its content cannot`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1, 2, 3], to: "file")
        let holder = LockHolding(sample.coordinator("holder"), .writing("file"))
        try tester.coordinate(
            .reading("file", .immediatelyAvailableMetadataOnly), .reading("no", .immediatelyAvailableMetadataOnly),
            timeout: .zero
        ) { access throws in
            let item = try access.item("file")
            #expect(item?.size == 3 && item?.type == .file && item?.path == "file")
            #expect(try access.item("no") == nil)
            #expect(code { try access.item("other") } == .invalidArgument)
            #expect(code { try access.readBytes("file") } == .invalidArgument)
            #expect(code { try access.write(bytes: [], to: "file") } == .invalidArgument)
        }
        try holder.end()
    }

    @Test func `an access to a snapshot is refused after its closure`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "file")
        var kept: Access?
        try tester.coordinate(.reading("file", .forUploading)) { kept = $0 }
        let access = try #require(kept)
        #expect(code { try access.item("file") } == .invalidArgument)
        #expect(code { try access.readBytes("file") } == .invalidArgument)
        #expect(code { try access.remove("file") } == .invalidArgument)
    }
}
