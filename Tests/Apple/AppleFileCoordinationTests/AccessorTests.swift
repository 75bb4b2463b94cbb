import AppleFileCoordination
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// What an accessor gets, and what is recorded of what it does with Foundation's calls.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Accessors of a file coordinator` {
    private let container: TemporaryContainer
    private let coordinator = NSFileCoordinator()

    init() throws {
        container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
    }

    private func url(_ path: String) -> URL { URL(fileURLWithPath: "\(container.path)/\(path)") }

    /// Writes an item as apps do, and returns the error.
    private func write(
        _ text: String, to path: String, _ options: NSFileCoordinator.WritingOptions = [], atomically: Bool = true
    ) -> NSError? {
        var error: NSError?
        var failure: (any Error)?
        coordinator.coordinate(writingItemAt: url(path), options: options, error: &error) { url in
            do {
                try text.write(to: url, atomically: atomically, encoding: .utf8)
            } catch {
                failure = error
            }
        }
        #expect(failure == nil)
        return error
    }

    private func lines(_ changes: [Change]) -> [String] {
        changes.map { change in
            let from = change.kind.otherPath.map { " from \($0)" } ?? ""
            return "\(change.kind.name) \(change.path)\(from)\(change.isCoordinated ? "" : " externally")"
        }
    }

    @Test func `a read gets the URL and what stands there, on this thread`() throws {
        var (error, text, isSame): (NSError?, String?, Bool) = (nil, nil, false)
        let thread = Thread.current
        coordinator.coordinate(readingItemAt: url("a"), error: &error) { given in
            text = try? String(contentsOf: given, encoding: .utf8)
            isSame = given == url("a") && Thread.current === thread
        }
        #expect(error == nil && text == "old" && isSame)
    }

    @Test func `a missing item is granted, for reading and for writing`() throws {
        var error: NSError?
        var calls = 0
        coordinator.coordinate(readingItemAt: url("none"), error: &error) { _ in calls += 1 }
        #expect(error == nil && calls == 1)
        #expect(write("new", to: "none") == nil)
        #expect(container.content(of: "none") == "new")
    }

    @Test(arguments: [true, false])
    func `what an accessor writes is recorded as coordinated, with its purpose`(atomically: Bool) throws {
        let before = try container.changes().count
        coordinator.purposeIdentifier = "com.example.editor"
        #expect(write("new text", to: "a", atomically: atomically) == nil)
        let change = try #require(try container.changes().dropFirst(before).last { $0.path == "a" })
        #expect(change.kind == .modified && change.isCoordinated)
        #expect(change.author?.purpose == "com.example.editor")
        #expect(change.author?.processIdentifier == processIdentifier())
    }

    @Test func `each kind of change is recorded`() throws {
        let before = try container.changes().count
        let files = FileManager.default
        #expect(write("1", to: "b", atomically: false) == nil)
        var error: NSError?
        coordinator.coordinate(
            writingItemAt: url("b"), options: .forMoving, writingItemAt: url("c"), options: .forReplacing, error: &error
        ) { old, new in
            try? files.moveItem(at: old, to: new)
            coordinator.item(at: old, didMoveTo: new)
        }
        #expect(error == nil)
        coordinator.coordinate(writingItemAt: url("d"), error: &error) {
            try? files.createDirectory(at: $0.appendingPathComponent("e"), withIntermediateDirectories: true)
            try? Data("2".utf8).write(to: $0.appendingPathComponent("e/f"))
        }
        coordinator.coordinate(writingItemAt: url("d"), options: .forDeleting, error: &error) {
            try? files.removeItem(at: $0)
        }
        coordinator.coordinate(writingItemAt: url("c"), options: .forDeleting, error: &error) {
            try? files.removeItem(at: $0)
        }
        #expect(error == nil)
        let found = lines(Array(try container.changes().dropFirst(before)))
        #expect(
            found == [
                "created b", "moved c from b", "created d", "created d/e", "created d/e/f", "removed d/e/f",
                "removed d/e",
                "removed d", "removed c",
            ], "\(found)")
    }

    @Test func `a move that is announced is one, though the file was written besides and its goal not requested`()
        throws
    {
        let before = try container.changes().count
        var error: NSError?
        coordinator.coordinate(writingItemAt: url("a"), options: .forMoving, error: &error) { old in
            let new = url("b")
            coordinator.item(at: old, willMoveTo: new)
            try? FileManager.default.moveItem(at: old, to: new)
            try? Data("longer than before".utf8).write(to: new)
            coordinator.item(at: old, didMoveTo: new)
        }
        #expect(error == nil)
        let found = lines(Array(try container.changes().dropFirst(before)))
        #expect(found.first == "moved b from a", "\(found)")
    }

    @Test func `a move that is announced is one, though another file takes the old place at once`() throws {
        let before = try container.changes().count
        var error: NSError?
        coordinator.coordinate(writingItemAt: url("a"), options: .forMoving, error: &error) { old in
            try? FileManager.default.moveItem(at: old, to: url("b"))
            coordinator.item(at: old, didMoveTo: url("b"))
            try? Data("a new one".utf8).write(to: old)
        }
        #expect(error == nil)
        #expect(lines(Array(try container.changes().dropFirst(before))) == ["moved b from a", "created a"])
    }

    @Test func `two files exchange their names by three moves that are announced`() throws {
        _ = try container.groupctl("write", "b", input: "another")
        let before = try container.changes().count
        var error: NSError?
        coordinator.coordinate(
            writingItemAt: url("a"), options: .forMoving, writingItemAt: url("b"), options: .forMoving, error: &error
        ) { first, second in
            for (old, new) in [(first, url("c")), (second, first), (url("c"), second)] {
                try? FileManager.default.moveItem(at: old, to: new)
                coordinator.item(at: old, didMoveTo: new)
            }
        }
        #expect(error == nil)
        let found = lines(Array(try container.changes().dropFirst(before)))
        #expect(found == ["moved c from a", "moved a from b", "moved b from c"], "\(found)")
    }

    @Test(arguments: [false, true])
    func `a move is one, though there was another file, and it is saved anew by a rename`(isAnnounced: Bool) throws {
        _ = try container.groupctl("write", "b", input: "another")
        let before = try container.changes().count
        var error: NSError?
        coordinator.coordinate(
            writingItemAt: url("a"), options: .forMoving, writingItemAt: url("b"), options: .forReplacing, error: &error
        ) { old, new in
            _ = unsafe rename(old.path, new.path)
            if isAnnounced {
                try? Data("saved anew".utf8).write(to: new, options: .atomic)
                coordinator.item(at: old, didMoveTo: new)
            }
        }
        #expect(error == nil)
        let found = lines(Array(try container.changes().dropFirst(before)).filter { $0.path == "b" || $0.path == "a" })
        // Without a word of the accessor, a rename onto another file is a save through that file.
        #expect(found == (isAnnounced ? ["moved b from a", "modified b"] : ["modified b", "removed a"]), "\(found)")
    }

    @Test func `what others wrote before into a directory that is moved is not the accessor's`() throws {
        for name in ["d/x", "d/y"] { _ = try container.groupctl("write", name, input: name) }
        let before = try container.changes().count
        try Data("from outside".utf8).write(to: url("d/x"))
        var error: NSError?
        coordinator.coordinate(
            writingItemAt: url("d"), options: .forMoving, writingItemAt: url("e"), options: .forReplacing, error: &error
        ) { old, new in
            try? FileManager.default.moveItem(at: old, to: new)
            try? Data("mine".utf8).write(to: new.appendingPathComponent("y"))
        }
        #expect(error == nil)
        let found = lines(Array(try container.changes().dropFirst(before)))
        #expect(found == ["modified d/x externally", "moved e from d", "modified e/y"], "\(found)")
    }

    @Test func `a file that comes by way of a temporary one is created`() throws {
        let before = try container.changes().count
        #expect(write("new", to: "n", atomically: true) == nil)
        let found = lines(Array(try container.changes().dropFirst(before)).filter { $0.path == "n" })
        #expect(found == ["created n"], "\(found)")
    }

    @Test func `an accessor that changes nothing records nothing`() throws {
        let before = try container.changes().count
        var error: NSError?
        coordinator.coordinate(writingItemAt: url("a"), error: &error) { _ = try? Data(contentsOf: $0) }
        #expect(error == nil)
        #expect(try container.changes().count == before)
    }

    @Test func `what others wrote before without coordination is not the accessor's`() throws {
        let before = try container.changes().count
        try Data("from outside".utf8).write(to: url("a"))
        #expect(write("from the accessor", to: "a") == nil)
        let found = lines(Array(try container.changes().dropFirst(before)).filter { $0.path == "a" })
        #expect(found == ["modified a externally", "modified a"], "\(found)")
    }

    @Test func `an item that was moved while the request waited is given at its new URL`() throws {
        let done = OneShotEvent<URL?>()
        let (old, opened) = (url("a"), try container.open())
        try opened.coordinator(purpose: "mover").blocking.coordinate(
            .writing("a", .forMoving), .writing("b", .forReplacing)
        ) { access in
            Thread.detachNewThread {
                var (error, given): (NSError?, URL?) = (nil, nil)
                NSFileCoordinator().coordinate(readingItemAt: old, error: &error) { given = $0 }
                done.set(error == nil ? given : nil)
            }
            try container.waitForWaiters(1, in: opened)
            _ = try access.move("a", to: "b")
        }
        guard case .happened(let given) = done.block(until: Deadline(after: patience)) else {
            throw WaitedInVain(description: "the accessor was not called")
        }
        #expect(given == url("b"))
    }

    @Test func `a read for uploading gets a private copy, and the item is not held`() throws {
        var error: NSError?
        var copy: URL?
        coordinator.coordinate(readingItemAt: url("a"), options: .forUploading, error: &error) { given in
            copy = given
            #expect(given != url("a") && (try? String(contentsOf: given, encoding: .utf8)) == "old")
            #expect((try? container.groupctl("write", "a", "--timeout", "0", input: "new"))?.status == 0)
            #expect((try? String(contentsOf: given, encoding: .utf8)) == "old")
        }
        #expect(error == nil)
        #expect(copy.map { FileManager.default.fileExists(atPath: $0.path) } == false)
    }

    @Test func `metadata that is available at once waits for nobody`() throws {
        let holder = try container.member("hold", "a")
        try holder.waitForText("held\n")
        var error: NSError?
        var size: Int?
        coordinator.coordinate(
            readingItemAt: url("a"), options: [.immediatelyAvailableMetadataOnly, .resolvesSymbolicLink], error: &error
        ) { size = try? $0.resourceValues(forKeys: [.fileSizeKey]).fileSize }
        #expect(error == nil && size == 3)
    }

    @Test func `two items are granted together, also of two containers`() throws {
        let other = try TemporaryContainer()
        _ = try other.groupctl("write", "x", input: "there")
        var error: NSError?
        let target = url("copy")
        coordinator.coordinate(
            readingItemAt: URL(fileURLWithPath: other.path + "/x"), writingItemAt: target, error: &error
        ) { source, goal in
            try? FileManager.default.copyItem(at: source, to: goal)
            #expect((try? other.groupctl("write", "x", "--timeout", "0", input: "no"))?.status == 75)
            #expect((try? container.groupctl("read", "copy", "--timeout", "0"))?.status == 75)
        }
        #expect(error == nil && container.content(of: "copy") == "there")
        #expect(try other.groupctl("write", "x", "--timeout", "0", input: "yes").status == 0)
    }

    @Test func `a URL through a symbolic link is in the container that it leads to`() throws {
        let link = "\(container.directory)/link"
        try FileManager.default.createDirectory(atPath: "\(container.path)/dir", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(container.path)/dir")
        var error: NSError?
        coordinator.coordinate(writingItemAt: URL(fileURLWithPath: link + "/n"), error: &error) {
            try? Data("linked".utf8).write(to: $0)
        }
        #expect(error == nil)
        #expect(try container.changes().last { $0.path == "dir/n" }?.isCoordinated == true)
    }
}
