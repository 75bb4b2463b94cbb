import AppleFileCoordination
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// A document as apps have it: a text with changes that are not saved yet, and a list of what it was called for.
private final class Document: NSObject, NSFilePresenter, @unchecked Sendable {
    let presentedItemOperationQueue = OperationQueue()
    /// Whether it saves on its queue, by a coordinator that was not made for it.
    private let savesByAnother: Bool
    private let state: Guarded<(url: URL, unsaved: String?, calls: [String], failure: CocoaError?)>

    init(_ url: URL, unsaved: String? = nil, savesByAnother: Bool = false) {
        self.savesByAnother = savesByAnother
        state = Guarded((url, unsaved, [], nil))
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
    }

    var presentedItemURL: URL? { state.withLock { $0.url } }
    var calls: [String] { state.withLock { $0.calls } }
    func fail(with error: CocoaError) { state.withLock { $0.failure = error } }

    private func note(_ call: String) {
        let isOnQueue = OperationQueue.current === presentedItemOperationQueue
        state.withLock { $0.calls.append(isOnQueue ? call : "\(call) elsewhere") }
    }

    func waitFor(_ call: String) throws {
        if !eventually({ calls.contains(call) }) { throw WaitedInVain(description: "no '\(call)' in \(calls)") }
    }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        note("to reader")
        reader { self.note("reacquired") }
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        note("to writer")
        writer { self.note("reacquired") }
    }

    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        note("save")
        let (url, unsaved, failure) = state.withLock { state in
            defer { state.unsaved = nil }
            return (state.url, state.unsaved, state.failure)
        }
        if let failure { return completionHandler(failure) }
        guard let unsaved else { return completionHandler(nil) }
        let save: @Sendable (NSFileCoordinator) -> Void = { coordinator in
            var error: NSError?
            coordinator.coordinate(writingItemAt: url, error: &error) {
                try? Data(unsaved.utf8).write(to: $0, options: .atomic)
            }
            completionHandler(error)
        }
        if savesByAnother { return save(NSFileCoordinator()) }
        // As apps do: not on the queue, and the handler is called there.
        Thread.detachNewThread { save(NSFileCoordinator(filePresenter: self)) }
    }

    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        note("deletion")
        completionHandler(nil)
    }

    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        note("deletion of \(url.lastPathComponent)")
        completionHandler(nil)
    }

    func presentedItemDidMove(to newURL: URL) {
        state.withLock { $0.url = newURL }
        note("moved to \(newURL.lastPathComponent)")
    }

    func presentedItemDidChange() { note("changed") }
    func presentedSubitemDidAppear(at url: URL) { note("appeared \(url.lastPathComponent)") }
    func presentedSubitemDidChange(at url: URL) { note("changed \(url.lastPathComponent)") }
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        note("moved \(oldURL.lastPathComponent) to \(newURL.lastPathComponent)")
    }
}

/// A presenter that implements only what it must.
private final class Bystander: NSObject, NSFilePresenter, @unchecked Sendable {
    var presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    init(_ url: URL?) { presentedItemURL = url }
}

/// A presenter that never completes anything.
private final class Mute: NSObject, NSFilePresenter, @unchecked Sendable {
    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    init(_ url: URL?) { presentedItemURL = url }
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {}
}

/// A base class that adopts the protocol, as apps have it, with a method that its subclass overrides.
private class BaseDocument: NSObject, NSFilePresenter, @unchecked Sendable {
    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    let calls = Guarded<[String]>([])

    init(_ url: URL) { presentedItemURL = url }

    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        calls.withLock { $0.append("save by the base") }
        completionHandler(nil)
    }
}

private final class SubclassedDocument: BaseDocument, @unchecked Sendable {
    override func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        calls.withLock { $0.append("save") }
        completionHandler(nil)
    }
}

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `File presenters` {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
    }

    private func url(_ path: String) -> URL { URL(fileURLWithPath: "\(container.path)/\(path)") }

    /// How often a presenter is registered; other tests have theirs.
    private func registrations(of presenter: any NSFilePresenter) -> Int {
        NSFileCoordinator.filePresenters.count { $0 === presenter }
    }

    /// Presents an item while `body` runs.
    private func presenting(_ path: String, unsaved: String? = nil, _ body: (Document) throws -> Void) throws {
        let document = Document(url(path), unsaved: unsaved)
        NSFileCoordinator.addFilePresenter(document)
        defer { NSFileCoordinator.removeFilePresenter(document) }
        #expect(registrations(of: document) == 1)
        try body(document)
    }

    @Test func `a reader in another process gets what was not saved yet`() throws {
        try presenting("a", unsaved: "typed") { document in
            let read = try container.groupctl("read", "a")
            #expect(read.status == 0 && read.text == "typed", "\(read.text)")
            try document.waitFor("reacquired")
            #expect(document.calls == ["to reader", "save", "reacquired"])
            // Of the file that Foundation writes first, the leader may have reported something, too.
            let change = try #require(try container.changes().last { $0.path == "a" })
            #expect(change.kind == .modified && change.isCoordinated)
        }
        // Nothing is asked once it is removed.
        #expect(try container.groupctl("read", "a", "--timeout", "0").status == 0)
    }

    @Test func `a presenter with the names of before Swift 3 is called`() throws {
        try callAll(OldDocument(url("a")), OldDocument(url("d")))
    }

    @Test func `a presenter as Xcode 6 wrote it, with unwrapped blocks and NSURL, is called`() throws {
        try callAll(OldestDocument(url("a")), OldestDocument(url("d")))
    }

    @Test func `a presenter whose blocks may be nil is called`() throws {
        let document = UnsureDocument(url("a"))
        NSFileCoordinator.addFilePresenter(document)
        defer { NSFileCoordinator.removeFilePresenter(document) }
        #expect(try container.groupctl("read", "a").status == 0)
        #expect(document.calls.withLock { $0 } == ["to reader", "save"])
    }

    @Test func `a presenter with present names, and blocks that may be nil or are unwrapped, is called`() throws {
        try callEach(UnwrappedDocument(url("a")), UnwrappedDocument(url("d")))
        _ = try container.groupctl("write", "a", input: "again")
        try callEach(OptionalDocument(url("a")), OptionalDocument(url("d")))
    }

    private func callEach<Document: NotingDocument & NSFilePresenter>(_ item: Document, _ directory: Document) throws {
        _ = try container.groupctl("write", "d/y", input: "y")
        for document in [item, directory] { NSFileCoordinator.addFilePresenter(document) }
        defer { for document in [item, directory] { NSFileCoordinator.removeFilePresenter(document) } }
        #expect(try container.groupctl("read", "a").status == 0)
        #expect(item.calls.withLock { $0 } == ["to reader", "save"])
        #expect(try container.groupctl("remove", "a").status == 0)
        try item.waitFor("deletion")
        #expect(item.calls.withLock { $0.contains("to writer") })
        #expect(try container.groupctl("remove", "d/y").status == 0)
        try directory.waitFor("deletion of y")
    }

    private func callAll<Document: NotingDocument & NSFilePresenter>(_ item: Document, _ directory: Document) throws {
        for name in ["d/x", "d/y"] { _ = try container.groupctl("write", name, input: name) }
        for document in [item, directory] { NSFileCoordinator.addFilePresenter(document) }
        defer { for document in [item, directory] { NSFileCoordinator.removeFilePresenter(document) } }
        #expect(try container.groupctl("read", "a").status == 0)
        try item.waitFor("reacquired")
        #expect(item.calls.withLock { $0 } == ["to reader", "save", "reacquired"])
        #expect(try container.groupctl("move", "a", "b").status == 0)
        try item.waitFor("moved to b")
        #expect(try container.groupctl("remove", "b").status == 0)
        try item.waitFor("deletion")
        #expect(item.calls.withLock { $0.contains("to writer") })
        #expect(try container.groupctl("write", "d/z", input: "new").status == 0)
        try directory.waitFor("appeared z")
        #expect(try container.groupctl("write", "d/x", input: "other").status == 0)
        try directory.waitFor("changed x")
        #expect(try container.groupctl("move", "d/x", "d/w").status == 0)
        try directory.waitFor("moved x to w")
        #expect(try container.groupctl("remove", "d/y").status == 0)
        try directory.waitFor("deletion of y")
    }

    @Test func `a presenter whose blocks are never nil is called`() throws {
        let document = PlainDocument(url("a"))
        NSFileCoordinator.addFilePresenter(document)
        defer { NSFileCoordinator.removeFilePresenter(document) }
        #expect(try container.groupctl("read", "a").status == 0)
        #expect(try container.groupctl("write", "a", input: "new").status == 0)
        #expect(document.calls.withLock { $0 } == ["to reader", "to writer"])
    }

    @Test func `a method of a presenter's subclass is called that overrides one of the class that adopts the protocol`()
        throws
    {
        let document = SubclassedDocument(url("a"))
        NSFileCoordinator.addFilePresenter(document)
        defer { NSFileCoordinator.removeFilePresenter(document) }
        #expect(try container.groupctl("read", "a").status == 0)
        #expect(document.calls.withLock { $0 } == ["save"])
    }

    @Test func `a reader that wants no changes asks for none`() throws {
        try presenting("a", unsaved: "typed") { document in
            var (error, text): (NSError?, String?) = (nil, nil)
            NSFileCoordinator().coordinate(readingItemAt: url("a"), options: .withoutChanges, error: &error) {
                text = try? String(contentsOf: $0, encoding: .utf8)
            }
            #expect(error == nil && text == "old")
            try document.waitFor("reacquired")
            #expect(document.calls == ["to reader", "reacquired"])
        }
    }

    @Test func `a writer is let in, and its change comes before the item is reacquired`() throws {
        try presenting("a") { document in
            #expect(try container.groupctl("write", "a", input: "new").status == 0)
            try document.waitFor("reacquired")
            #expect(document.calls == ["to writer", "changed", "reacquired"])
        }
    }

    @Test(arguments: [false, true])
    func `an accessor's change comes before the item is reacquired`(isBatch: Bool) throws {
        try presenting("a") { document in
            let url = url("a")
            let write: @Sendable () -> Void = { try? Data("new".utf8).write(to: url) }
            if isBatch {
                let done = DispatchSemaphore(value: 0)
                NSFileCoordinator().coordinate(with: [.writingIntent(with: url)], queue: OperationQueue()) { _ in
                    write()
                    done.signal()
                }
                done.wait()
            } else {
                var error: NSError?
                NSFileCoordinator().coordinate(writingItemAt: url, error: &error) { _ in write() }
                #expect(error == nil)
            }
            try document.waitFor("reacquired")
            #expect(document.calls == ["to writer", "changed", "reacquired"])
        }
    }

    @Test func `a presenter is not informed of what was written before it was added`() throws {
        try Data("written by a plain program".utf8).write(to: url("a"))
        try presenting("a") { document in
            #expect(try container.groupctl("write", "a", input: "new").status == 0)
            try document.waitFor("reacquired")
            #expect(document.calls == ["to writer", "changed", "reacquired"])
        }
    }

    @Test func `a merging writer asks to save, a removal to close, a move gives the new URL`() throws {
        try presenting("a", unsaved: "typed") { document in
            #expect(try container.groupctl("update", "a", "--", "sed", "s/$/ and merged/").status == 0)
            try document.waitFor("reacquired")
            #expect(document.calls == ["to writer", "save", "changed", "reacquired"])
            #expect(
                container.content(of: "a") == "typed and merged\n" || container.content(of: "a") == "typed and merged")
            #expect(try container.groupctl("move", "a", "b").status == 0)
            try document.waitFor("moved to b")
            #expect(try container.groupctl("remove", "b").status == 0)
            try document.waitFor("deletion")
        }
    }

    @Test func `an error of a presenter makes the request fail`() throws {
        try presenting("a", unsaved: "typed") { document in
            document.fail(with: CocoaError(.fileWriteOutOfSpace))
            var error: NSError?
            NSFileCoordinator().coordinate(readingItemAt: url("a"), error: &error) { _ in
                Issue.record("the accessor was called")
            }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? CoordinationError)?.code == .presenterFailed)
            try document.waitFor("reacquired")
        }
    }

    @Test func `a presenter of a directory is informed of each item in it`() throws {
        for name in ["d/x", "d/y"] { _ = try container.groupctl("write", name, input: name) }
        try presenting("d") { document in
            #expect(try container.groupctl("write", "d/x", input: "other").status == 0)
            try document.waitFor("changed x")
            #expect(try container.groupctl("write", "d/z", input: "new").status == 0)
            try document.waitFor("appeared z")
            #expect(try container.groupctl("move", "d/x", "d/w").status == 0)
            try document.waitFor("moved x to w")
            #expect(try container.groupctl("move", "d/y", "out").status == 0)
            try document.waitFor("moved y to out")
            #expect(try container.groupctl("move", "out", "d/in").status == 0)
            try document.waitFor("appeared in")
            #expect(try container.groupctl("remove", "d/z").status == 0)
            try document.waitFor("deletion of z")
            try document.waitFor("changed z")
            try Data("from outside".utf8).write(to: url("d/w"))
            try document.waitFor("changed w")
            #expect(!document.calls.contains { $0.hasSuffix("elsewhere") })
        }
    }

    @Test func `requests of its own coordinator ask a presenter nothing, and it is not informed of them`() throws {
        try presenting("a") { document in
            var error: NSError?
            NSFileCoordinator(filePresenter: document).coordinate(writingItemAt: url("a"), error: &error) {
                try? Data("own".utf8).write(to: $0)
            }
            #expect(error == nil)
            // The change of another one comes after those that it would have been informed of.
            #expect(try container.groupctl("write", "a", input: "other").status == 0)
            try document.waitFor("reacquired")
            #expect(document.calls == ["to writer", "changed", "reacquired"])
        }
    }

    /// Moves an item by a coordinator of a presenter.
    private func move(_ old: String, to new: String, for document: Document, isAnnounced: Bool = true) {
        let coordinator = NSFileCoordinator(filePresenter: document)
        var error: NSError?
        coordinator.coordinate(
            writingItemAt: url(old), options: .forMoving, writingItemAt: url(new), options: .forReplacing, error: &error
        ) { old, new in
            try? FileManager.default.moveItem(at: old, to: new)
            if isAnnounced { coordinator.item(at: old, didMoveTo: new) }
        }
        #expect(error == nil)
    }

    @Test(arguments: [true, false])
    func `a presenter is not informed of a move by its own coordinator, and of the same move by another one`(
        isAnnounced: Bool
    ) throws {
        try presenting("a") { document in
            move("a", to: "b", for: document, isAnnounced: isAnnounced)
            for (old, new) in [("b", "a"), ("a", "b")] {
                #expect(try container.groupctl("move", old, new).status == 0)
                try document.waitFor("moved to \(new)")
            }
            #expect(document.calls.filter { $0.hasPrefix("moved") } == ["moved to a", "moved to b"])
        }
    }

    @Test func `a presenter is not informed of its own move of the directory around its item`() throws {
        _ = try container.groupctl("write", "d/x", input: "x")
        try presenting("d/x") { document in
            move("d", to: "e", for: document)
            #expect(try container.groupctl("write", "e/x", input: "other").status == 0)
            try document.waitFor("reacquired")
            #expect(document.calls == ["to writer", "changed", "reacquired"])
        }
    }

    @Test func `a move by another one is reported where a coordinator of the presenter has announced one in vain`()
        throws
    {
        try presenting("a") { document in
            let coordinator = NSFileCoordinator(filePresenter: document)
            var error: NSError?
            coordinator.coordinate(writingItemAt: url("a"), options: .forDeleting, error: &error) { old in
                try? FileManager.default.createDirectory(at: url("c"), withIntermediateDirectories: false)
                try? FileManager.default.removeItem(at: old)
                // A directory is not what the file has become.
                coordinator.item(at: old, didMoveTo: url("c"))
            }
            #expect(error == nil)
            #expect(try container.groupctl("remove", "-r", "c").status == 0)
            #expect(try container.groupctl("write", "a", input: "again").status == 0)
            try document.waitFor("changed")
            #expect(try container.groupctl("move", "a", "c").status == 0)
            try document.waitFor("moved to c")
        }
    }

    @Test func `an item that a program moves without coordination is presented where it is then`() throws {
        try presenting("a", unsaved: "typed") { document in
            try FileManager.default.moveItem(at: url("a"), to: url("b"))
            try document.waitFor("moved to b")
            #expect(try container.groupctl("read", "b").text == "typed")
        }
    }

    @Test func `an answer asks neither its presenter nor another one that is asked, whichever coordinator it uses`()
        throws
    {
        let document = Document(url("a"), unsaved: "typed", savesByAnother: true)
        NSFileCoordinator.addFilePresenter(document)
        defer { NSFileCoordinator.removeFilePresenter(document) }
        try presenting("a") { other in
            var reader = try container.open().coordinator(purpose: "reader")
            // An answer that waited for one of them would fail the request.
            reader.needsAnswers = true
            #expect(try reader.blocking.readBytes("a") == Array("typed".utf8))
            for one in [document, other] {
                try one.waitFor("reacquired")
                #expect(one.calls.filter { $0 == "save" }.count == 1 && !one.calls.contains("to writer"))
            }
        }
    }

    @Test func `a coordinator that was made before its presenter was added does not ask it`() throws {
        let document = Document(url("a"))
        let (coordinator, another) = (
            NSFileCoordinator(filePresenter: document), NSFileCoordinator(filePresenter: document)
        )
        NSFileCoordinator.addFilePresenter(document)
        defer { NSFileCoordinator.removeFilePresenter(document) }
        #expect(coordinator.purposeIdentifier == another.purposeIdentifier)
        #expect(coordinator.purposeIdentifier != NSFileCoordinator().purposeIdentifier)
        var (error, inner): (NSError?, NSError?) = (nil, nil)
        coordinator.coordinate(writingItemAt: url("a"), error: &error) { _ in
            // As methods that call one another do.
            another.coordinate(writingItemAt: url("a"), error: &inner) { try? Data("own".utf8).write(to: $0) }
        }
        #expect(error == nil && inner == nil && document.calls == [])
    }

    @Test func `each of two readers at once lets a presenter reacquire once`() throws {
        try presenting("a") { document in
            let readers = try (0..<2).map { _ in try container.member("share", "a") }
            for reader in readers { try reader.waitForText("sharing\n") }
            for reader in readers { reader.closeInput() }
            _ = eventually { document.calls.count { $0 == "reacquired" } >= 2 }
            #expect(document.calls == ["to reader", "save", "to reader", "save", "reacquired", "reacquired"])
        }
    }

    @Test func `a presenter that is removed while another process writes may have its item back`() throws {
        let document = Document(url("a"))
        NSFileCoordinator.addFilePresenter(document)
        let holder = try container.member("hold", "a")
        try holder.waitForText("held\n")
        #expect(document.calls == ["to writer"])
        NSFileCoordinator.removeFilePresenter(document)
        try document.waitFor("reacquired")
    }

    @Test func `a presenter that never completes is passed over, and saves on its own afterwards`() throws {
        let mute = Mute(url("a"))
        NSFileCoordinator.addFilePresenter(mute)
        defer { NSFileCoordinator.removeFilePresenter(mute) }
        var reader = try container.open().coordinator(purpose: "reader")
        reader.presenterGrace = .milliseconds(300)
        for _ in 0..<2 { #expect(try reader.blocking.readBytes("a") == Array("old".utf8)) }
        var error: NSError?
        NSFileCoordinator(filePresenter: mute).coordinate(writingItemAt: url("a"), error: &error) {
            try? Data("saved".utf8).write(to: $0)
        }
        #expect(error == nil && container.content(of: "a") == "saved")
    }

    @Test func `of a rename in a presented directory only what is replaced is to be closed`() throws {
        _ = try container.groupctl("write", "d/x", input: "x")
        try presenting("d") { document in
            #expect(try container.groupctl("move", "d/x", "d/y").status == 0)
            try document.waitFor("moved x to y")
            #expect(!document.calls.contains("deletion of x"), "\(document.calls)")
        }
    }

    @Test func `methods without implementation complete at once`() throws {
        let bystander = Bystander(url("a"))
        NSFileCoordinator.addFilePresenter(bystander)
        // A second time does nothing.
        NSFileCoordinator.addFilePresenter(bystander)
        #expect(registrations(of: bystander) == 1)
        for words in [["read", "a"], ["update", "a", "--", "cat"], ["move", "a", "b"], ["remove", "b"]] {
            let result = try RunningProcess(["groupctl", words[0], container.path] + words.dropFirst()).finish()
            #expect(result.status == 0, "\(result.text)")
        }
        NSFileCoordinator.removeFilePresenter(bystander)
        NSFileCoordinator.removeFilePresenter(bystander)
        #expect(registrations(of: bystander) == 0)
    }

    @Test func `a presenter without a URL, or of a file in no container, is not registered, and an error says so`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            limitLifetime()
            for presenter in [Bystander(nil), Bystander(URL(fileURLWithPath: "/none/at/all"))] {
                NSFileCoordinator.addFilePresenter(presenter)
                #expect(!NSFileCoordinator.filePresenters.contains { $0 === presenter })
            }
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
        #expect(
            lines.first?.hasSuffix(
                "cannot present 'Bystander': its presentedItemURL is nil; add the presenter once it has a URL"
            ) == true, "\(lines)")
        #expect(lines.count == 2 && lines.last?.contains("no container contains it") == true, "\(lines)")
    }

    @Test func `a presenter that gets its URL later is registered when it is added again`() throws {
        let presenter = Bystander(nil)
        NSFileCoordinator.addFilePresenter(presenter)
        presenter.presentedItemURL = url("a")
        NSFileCoordinator.addFilePresenter(presenter)
        defer { NSFileCoordinator.removeFilePresenter(presenter) }
        #expect(registrations(of: presenter) == 1)
    }

    @Test func `a presenter that is added with another URL keeps the first one, and an error says so`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = container.path as String] in
            limitLifetime()
            let presenter = Bystander(URL(fileURLWithPath: path + "/a"))
            for name in ["a", "a", "b"] {
                presenter.presentedItemURL = URL(fileURLWithPath: "\(path)/\(name)")
                NSFileCoordinator.addFilePresenter(presenter)
            }
            #expect(NSFileCoordinator.filePresenters.count { $0 === presenter } == 1)
            NSFileCoordinator.removeFilePresenter(presenter)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.split(separator: "\n").count == 1, "\(text)")
        #expect(text.contains("/b': the presenter is registered for '\(container.path)/a', and stays so; remove the"))
    }
}
