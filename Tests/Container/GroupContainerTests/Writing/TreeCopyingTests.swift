import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)), .tags(.root))
struct `Copies of directories` {
    private let isRoot = effectiveUser() == 0

    private func tree(_ sample: SampleContainer) throws -> BlockingCoordinator {
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a/b/file", durability: .relaxed, mode: 0o640)
        _ = try tester.write(bytes: [2, 2], to: "a/other", durability: .relaxed, mode: 0o444)
        try sample.temporary.run("ln", "-s", "b/file", "a/link")
        try sample.temporary.run("mkdir", "-m", "2510", "a/closed", "a/empty")
        // Only root renames a directory that it may not write to, as a copy is at last.
        if !isRoot { try sample.temporary.run("chmod", "2710", "a/empty") }
        return tester
    }

    @Test(arguments: [Durability.durable, .relaxed])
    func `a copied directory appears as one transaction, in which parents come first`(
        durability: Durability
    ) throws {
        let sample = try SampleContainer()
        let tester = try tree(sample)
        let start = try sample.container.changes().count
        #expect(
            try tester.copy("a", to: "new/c", recursively: true, durability: durability)
                == .written(Generation(rawValue: UInt64(start) + 2)))
        let changes = try sample.container.changes().dropFirst(start)
        #expect(changes.first?.path == "new" && changes.first?.transaction == nil)
        let reported = changes.dropFirst()
        #expect(
            reported.first?.path == "new/c"
                && reported.allSatisfy { $0.kind == .created && $0.sequence.rawValue == UInt64(start) + 2 })
        #expect(Set(reported.compactMap(\.transaction?.identifier)).count == 1)
        let names = ["new/c", "new/c/b", "new/c/b/file", "new/c/closed", "new/c/empty", "new/c/link", "new/c/other"]
        #expect(reported.map(\.path.description).sorted() == names)
        let order = reported.map(\.path.description)
        #expect(try #require(order.firstIndex(of: "new/c/b")) < #require(order.firstIndex(of: "new/c/b/file")))
        #expect(reported.first { $0.path == "new/c/other" }?.size == 2)
        #expect(try tester.readBytes("new/c/b/file") == [1])
        #expect(try tester.readBytes("new/c/link") == [1])
        try sample.expectNothingLeft()
        // The items are as the record describes them: they are not taken for external changes.
        let before = try sample.container.changes().count
        try sample.container.noteUncoordinatedChanges()
        let foreign = try sample.container.changes().dropFirst(before).map(\.path.description)
        #expect(foreign.sorted() == ["a/closed", "a/empty", "a/link"])
        // The content is known, too: the same bytes again are a touch.
        try sample.temporary.put("\u{1}", at: "new/c/b/file", mode: 0o640)
        try sample.container.noteUncoordinatedChanges()
        #expect(try sample.history().last == "touched new/c/b/file")
    }

    // fault: attributes
    @Test(arguments: attributeSurroundings)
    func `a copied directory keeps modes, owners, attributes and lists of everything in it`(
        place: String
    ) throws {
        let sample = try SampleContainer(in: place)
        let tester = try tree(sample)
        let items = ["", "/b", "/b/file", "/closed", "/link", "/other"]
        if isRoot {
            try sample.temporary.run("chown", "-hR", "65534:60", "a")
            try sample.temporary.run("chmod", "2510", "a/closed")
        }
        for item in ["a/b", "a/b/file"] {
            guard try sample.temporary.setAttribute(accessListName, to: sampleList.encoded(), of: item),
                try sample.temporary.setAttribute(Array("user.a".utf8), to: [1], of: item)
            else { return }
        }
        #expect(try sample.temporary.setAttribute(defaultListName, to: sampleList.encoded(), of: "a"))
        try tester.copy("a", to: "c", recursively: true)
        for item in items {
            #expect(
                try Attributes("c\(item)", in: sample.temporary) == Attributes("a\(item)", in: sample.temporary),
                "\(item)")
        }
        #expect(try sample.temporary.status(of: "c").mode == sample.temporary.status(of: "a").mode)
    }

    @Test func `a copied directory may replace only an empty directory`() throws {
        let sample = try SampleContainer()
        let tester = try tree(sample)
        _ = try tester.write(bytes: [9], to: "file", durability: .relaxed)
        _ = try tester.write(bytes: [9], to: "full/file", durability: .relaxed)
        _ = try tester.createDirectory("empty", durability: .relaxed)
        let before = try sample.history()
        #expect(code { try tester.copy("a", to: "empty", recursively: true) } == .conflict)
        #expect(code { try tester.copy("a", to: "full", recursively: true, replacing: true) } == .notEmpty)
        #expect(code { try tester.copy("a", to: "file", recursively: true, replacing: true) } == .wrongType)
        #expect(code { try tester.copy("a", to: "a", recursively: true, replacing: true) } == .invalidArgument)
        #expect(code { try tester.copy("a", to: "a/b/new/c", recursively: true) } == .invalidArgument)
        #expect(code { try tester.copy("a/b", to: "a", recursively: true, replacing: true) } == .notEmpty)
        #expect(code { try tester.copy("a", to: "new") } == .wrongType)
        #expect(try sample.history() == before)
        try tester.copy("a", to: "empty", recursively: true, replacing: true)
        #expect(try sample.history()[before.count] == "modified empty")
        #expect(try tester.readBytes("empty/b/file") == [1])
        // Copying an empty directory is a change like any other.
        #expect(
            try tester.copy("a/empty", to: "void", recursively: true)
                == .written(Generation(rawValue: UInt64(before.count) + 2)))
        #expect(
            try tester.copy("a/other", to: "single", recursively: true)
                == .written(Generation(rawValue: UInt64(before.count) + 3)))
        #expect(try tester.copy("a/other", to: "single", recursively: true, replacing: true) == .unchanged)
        try sample.expectNothingLeft()
    }

    @Test func `copying a directory with a FIFO in it is refused by its name before anything happens`() throws {
        let sample = try SampleContainer()
        let tester = try tree(sample)
        try sample.temporary.run("mkfifo", "a/b/fifo")
        let before = try sample.history()
        let error = #expect(throws: CoordinationError.self) { try tester.copy("a", to: "new/c", recursively: true) }
        #expect(error?.code == .wrongType && error?.reason.contains("a/b/fifo") == true)
        #expect(try sample.history() == before)
        #expect(throws: Errno.noSuchEntry) { _ = try sample.temporary.status(of: "new") }
        try sample.expectNothingLeft()
    }

    @Test func `copying a directory with too many items for one record is refused before anything happens`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let name = String(repeating: "n", count: 200)
        try sample.temporary.run("mkdir", "a")
        // 15,000 parts with such a path need more than the 4 MiB of a record.
        let script = "i=0; while [ $i -lt 15000 ]; do : > a/\(name)$i; i=$((i + 1)); done"
        try sample.temporary.run("sh", "-c", script)
        let error = #expect(throws: CoordinationError.self) {
            try tester.copy("a", to: "new/\(name)/c", recursively: true)
        }
        #expect(error?.code == .limitReached && error?.reason.contains("15000 items") == true, "\(error as Any)")
        #expect(error?.remedy?.code == .changeWithoutCoordination, "there are no directories in it: \(error as Any)")
        try sample.temporary.run("sh", "-c", "mkdir b && mv a b")
        let divisible = #expect(throws: CoordinationError.self) {
            try tester.copy("b", to: "new/\(name)/c", recursively: true)
        }
        #expect(divisible?.remedy?.code == .reduceSize, "\(divisible as Any)")
        #expect(try sample.history().isEmpty)
        try sample.expectNothingLeft()
    }

    @Test func `copying a directory needs locks on the whole of both directories`() throws {
        let sample = try SampleContainer()
        let tester = try tree(sample)
        for item in ["a/b/file", "c/d/e"] as [ItemPath] {
            let holder = LockHolding(sample.coordinator("holder"), .writing(item))
            #expect(code { try tester.copy("a", to: "c", recursively: true, timeout: .zero) } == .lockTimedOut)
            try holder.end()
        }
        try tester.coordinate(.reading("a"), .writing("c", .forReplacing)) { access throws in
            #expect(code { try access.copy("a", to: "c", recursively: true) } == .invalidArgument)
        }
        try tester.coordinate(.reading("a", .recursively), .writing("c")) { access throws in
            #expect(code { try access.copy("a", to: "c", recursively: true) } == .invalidArgument)
        }
        try tester.coordinate(.reading("a", .recursively), .writing("c", .forReplacing)) { access throws in
            _ = try access.copy("a", to: "c", recursively: true)
        }
        #expect(try tester.readBytes("c/b/file") == [1])
    }

    @Test func `copying a symbolic link to a directory copies the directory`() throws {
        let sample = try SampleContainer()
        let tester = try tree(sample)
        try sample.temporary.run("ln", "-s", "a", "way")
        try tester.copy("way", to: "c", recursively: true)
        #expect(try tester.readBytes("c/other") == [2, 2])
    }
}

extension Container {
    /// Returns all changes that are kept.
    fileprivate func changes() throws -> [Change] {
        var follower = try recordedChanges(since: .start)
        var found: [Change] = []
        while let change = try follower.next(timeout: .zero) { found.append(change) }
        return found
    }
}
