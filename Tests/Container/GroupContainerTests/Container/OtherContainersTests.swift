import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Nested containers` {
    private let sample: SampleContainer
    private let inner: Container
    private let tester: BlockingCoordinator

    init() throws {
        sample = try SampleContainer()
        tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "f", durability: .relaxed)
        _ = try tester.write(bytes: [1], to: "d/f", durability: .relaxed)
        inner = try Container(path: sample.temporary.path + "/d/sub", creating: true)
        _ = try inner.coordinator(purpose: "inner").blocking.write(bytes: [2], to: "e/in", durability: .relaxed)
    }

    @Test(arguments: ["d/sub/e/in", "d/sub/new", "d/sub/e/new/item", "d/sub/.group/format"])
    func `no call of the outer container reaches into a nested one`(place: String) throws {
        let path = ItemPath(place)
        #expect(code { try tester.readBytes(path) } == .outsideContainer)
        #expect(code { try tester.readVersion(path) } == .outsideContainer)
        #expect(code { try tester.generation(of: path) } == .outsideContainer)
        #expect(code { try tester.write(bytes: [3], to: path) } == .outsideContainer)
        #expect(code { try tester.updateBytes(path) { _ in [3] } } == .outsideContainer)
        #expect(code { try tester.remove(path, recursively: true) } == .outsideContainer)
        #expect(code { try tester.move(path, to: "out") } == .outsideContainer)
        #expect(code { try tester.move("f", to: path) } == .outsideContainer)
        #expect(code { try tester.copy(path, to: "out") } == .outsideContainer)
        #expect(code { try tester.copy("f", to: path, replacing: true) } == .outsideContainer)
        #expect(code { try tester.createDirectory(path) } == .outsideContainer)
        #expect(code { try tester.setMode(0o600, of: path) } == .outsideContainer)
        for intent: AccessIntent in [
            .reading(path), .reading(path, .immediatelyAvailableMetadataOnly), .reading(path, .forUploading),
            .writing(path), .writing(path, .forDeleting), .writing(path, .forMoving), .writing(path, .forReplacing),
        ] {
            #expect(
                code { try tester.coordinate(intent) { _ in Issue.record("granted \(intent)") } } == .outsideContainer)
        }
        #expect(code { try sample.container.items(in: path) } == .outsideContainer)
        #expect(try inner.coordinator(purpose: "inner").blocking.readBytes("e/in") == [2])
        #expect(try sample.container.items(in: "d").map(\.path) == ["d/f", "d/sub"])
    }

    @Test(arguments: ["d/sub/e/in", "d/sub/new"])
    func `a lock on a directory gives no access to a container nested in it`(place: String) throws {
        let path = ItemPath(place)
        try tester.coordinate(.writing("d", .forMoving), .writing("f")) { access in
            #expect(code { try access.readBytes(path) } == .outsideContainer)
            #expect(code { try access.item(path) } == .outsideContainer)
            #expect(code { try access.absolutePath(of: path) } == .outsideContainer)
            #expect(code { try access.write(bytes: [3], to: path) } == .outsideContainer)
            #expect(code { try access.remove(path) } == .outsideContainer)
            #expect(code { try access.move("f", to: path) } == .outsideContainer)
            #expect(code { try access.copy("f", to: path) } == .outsideContainer)
            #expect(code { try access.createDirectory(path) } == .outsideContainer)
        }
        try tester.transaction(.writing("d", .forMoving), .writing("f", .forMoving)) { access in
            #expect(code { try access.readBytes(path) } == .outsideContainer)
            #expect(code { try access.write(bytes: [3], to: path) } == .outsideContainer)
            #expect(code { try access.remove(path) } == .outsideContainer)
            #expect(code { try access.move("f", to: path) } == .outsideContainer)
            #expect(code { try access.copy("f", to: path) } == .outsideContainer)
            #expect(code { try access.createDirectory(path) } == .outsideContainer)
        }
        #expect(try inner.coordinator(purpose: "inner").blocking.readBytes("e/in") == [2])
    }

    @Test func `a nested container keeps its mode, and is in no copy or snapshot`() throws {
        #expect(code { try tester.setMode(0o755, of: "d/sub") } == .outsideContainer)
        for path: ItemPath in ["d", "d/sub"] {
            #expect(code { try tester.copy(path, to: "copy", recursively: true) } == .outsideContainer)
            #expect(code { try tester.coordinate(.reading(path, .forUploading)) { _ in } } == .outsideContainer)
        }
        #expect(try tester.coordinate(.reading("d/sub")) { try $0.item("d/sub")?.type } == .directory)
        #expect(
            try sample.container.opened.directory.staging.entryNames().allSatisfy {
                $0.suffix(7).elementsEqual(".intent".utf8)
            })
    }

    @Test(arguments: ["d", "d/sub"])
    func `a transaction can neither remove nor move a nested container that is open`(place: String) throws {
        let path = ItemPath(place)
        let before = try sample.history()
        #expect(
            code {
                try tester.transaction(.writing(path, .forDeleting), .writing("f")) { access in
                    try access.write(bytes: [9], to: "f")
                    try access.remove(path, recursively: true)
                }
            } == .lockTimedOut)
        #expect(
            code {
                try tester.transaction(.writing(path, .forMoving), .writing("x", .forReplacing)) { access in
                    try access.move(path, to: "x")
                }
            } == .lockTimedOut)
        #expect(try tester.readBytes("f") == [1] && sample.history() == before)
        #expect(try inner.coordinator(purpose: "inner").blocking.readBytes("e/in") == [2])
        #expect(try sample.isQuiet())
    }

    @Test func `repair of a dead member's transaction keeps a nested container made meanwhile`() throws {
        // The state that a repairer finds: the commit is there, and no step was taken.
        let transaction = TransactionChanges(
            by: sample.container.opened, purpose: Array("dead".utf8), .relaxed,
            preconditions: Preconditions(container: sample.container.opened, lock: nil, deadline: .never))
        let location = try ItemLocation(Array("d".utf8))
        transaction.remove(location, present: try sample.container.opened.status(of: location))
        let content = try transaction.describe()
        try transaction.writeManifest(content)
        let staging = try FileDescriptor.open(
            Array(".group/staging".utf8),
            in: FileDescriptor.open(path: Array(sample.temporary.path.utf8), [.pathOnly]),
            [.reading, .directory])
        try staging.rename(transaction.newManifest, to: transaction.manifest, in: staging, replacing: false)
        let before = try sample.history()
        #expect(try sample.container.opened.finishTransaction(transaction.operation) == .finished)
        #expect(try inner.coordinator(purpose: "inner").blocking.readBytes("e/in") == [2])
        #expect(try tester.readBytes("d/f") == [1])
        #expect(try staging.statusIfPresent(of: transaction.manifest) == nil)
        // The transaction's record has what was decided; what is left on the disk is reported as new.
        try sample.container.noteUncoordinatedChanges()
        let reported = try sample.history().dropFirst(before.count)
        #expect(
            reported.last == "created d/sub" || reported.contains("created d/sub") || reported.isEmpty, "\(reported)")
    }
}
