import AppleFileCoordination
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// How requests wait, nest, fail and end.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Requests of a file coordinator` {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
    }

    private func url(_ path: String) -> URL { URL(fileURLWithPath: "\(container.path)/\(path)") }

    /// Runs blocking code on a thread of its own.
    private func elsewhere<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) -> OneShotEvent<Answer> {
        let done = OneShotEvent<Answer>()
        Thread.detachNewThread { done.set(body()) }
        return done
    }

    private func value<Answer>(_ event: OneShotEvent<Answer>) throws -> Answer {
        guard case .happened(let answer) = event.block(until: Deadline(after: patience)) else {
            throw WaitedInVain(description: "the request did not end")
        }
        return answer
    }

    @Test func `a write excludes reads and writes of other processes, a read only writes`() throws {
        var error: NSError?
        NSFileCoordinator().coordinate(writingItemAt: url("a"), error: &error) { _ in
            #expect((try? container.groupctl("read", "a", "--timeout", "0"))?.status == 75)
        }
        NSFileCoordinator().coordinate(readingItemAt: url("a"), error: &error) { _ in
            #expect((try? container.groupctl("read", "a", "--timeout", "0"))?.status == 0)
            #expect((try? container.groupctl("write", "a", "--timeout", "0"))?.status == 75)
        }
        #expect(error == nil)
    }

    @Test func `a cancelled request ends with the user's error, and its accessor is not called`() throws {
        let holder = try container.member("hold", "a")
        try holder.waitForText("held\n")
        let coordinator = NSFileCoordinator()
        let url = url("a")
        let ended = elsewhere { () -> (code: Int, domain: String, calls: Int) in
            var error: NSError?
            var calls = 0
            coordinator.coordinate(writingItemAt: url, error: &error) { _ in calls += 1 }
            return (error?.code ?? 0, error?.domain ?? "", calls)
        }
        try container.waitForWaiters(1, in: try container.open())
        coordinator.cancel()
        let (code, domain, calls) = try value(ended)
        #expect(code == CocoaError.userCancelled.rawValue && domain == NSCocoaErrorDomain && calls == 0)
        // The next request of the same coordinator is another one.
        holder.closeInput()
        var error: NSError?
        coordinator.coordinate(writingItemAt: url, error: &error) { _ in }
        #expect(error == nil)
    }

    @Test func `a request that waits for presenters can be cancelled, and they reacquire`() throws {
        let presenter = try container.member("present", "a")
        try presenter.waitForText("presenting\n")
        let coordinator = NSFileCoordinator()
        let url = url("a")
        let ended = elsewhere { () -> Int in
            var error: NSError?
            coordinator.coordinate(readingItemAt: url, error: &error) { _ in }
            return error?.code ?? 0
        }
        try presenter.waitForText { $0.contains("asked reader+save") }
        coordinator.cancel()
        #expect(try value(ended) == CocoaError.userCancelled.rawValue)
        try presenter.send("ok")
        try presenter.waitForText("reacquired after nothing\n")
    }

    @Test func `a cancel that comes while the accessor runs changes nothing`() throws {
        let coordinator = NSFileCoordinator()
        var error: NSError?
        coordinator.coordinate(writingItemAt: url("a"), error: &error) { url in
            coordinator.cancel()
            try? Data("new".utf8).write(to: url)
        }
        #expect(error == nil && container.content(of: "a") == "new")
    }

    @Test func `a file in no container is an error that says how to make one`() throws {
        var error: NSError?
        let outside = URL(fileURLWithPath: container.directory + "/outside")
        NSFileCoordinator().coordinate(writingItemAt: outside, error: &error) { _ in
            Issue.record("the accessor was called")
        }
        let found = try #require(error)
        #expect(found.domain == NSCocoaErrorDomain && found.code == CocoaError.fileWriteUnknown.rawValue)
        #expect(found.localizedFailureReason == "no container contains it")
        #expect(found.localizedRecoverySuggestion?.contains("groupctl create") == true)
        #expect(found.userInfo[NSFilePathErrorKey] as? String == outside.path)
        #expect(found.userInfo[NSUnderlyingErrorKey] is CoordinationError)
    }

    @Test(arguments: ["https://example.com/a", "file:///"])
    func `a URL that names no item is an error`(text: String) throws {
        var error: NSError?
        NSFileCoordinator().coordinate(readingItemAt: try #require(URL(string: text)), error: &error) { _ in
            Issue.record("the accessor was called")
        }
        #expect(error?.domain == NSCocoaErrorDomain)
    }

    @Test func `the files of the library are refused`() throws {
        var error: NSError?
        NSFileCoordinator().coordinate(writingItemAt: url(".group/journal"), error: &error) { _ in
            Issue.record("the accessor was called")
        }
        #expect(error?.domain == NSCocoaErrorDomain)
    }

    @Test func `an accessor may request again what its coordinator has`() throws {
        let coordinator = NSFileCoordinator()
        var (error, inner): (NSError?, NSError?) = (nil, nil)
        coordinator.coordinate(writingItemAt: url("a"), error: &error) { _ in
            coordinator.coordinate(writingItemAt: url("a"), error: &inner) {
                try? Data("nested".utf8).write(to: $0)
            }
            // The outer request holds it still.
            #expect((try? container.groupctl("read", "a", "--timeout", "0"))?.status == 75)
        }
        #expect(error == nil && inner == nil && container.content(of: "a") == "nested")
        #expect(try container.changes().last?.isCoordinated == true)
    }

    @Test func `another coordinator in the accessor shares the access by its purpose, and otherwise gets a deadlock`()
        throws
    {
        let (one, other) = (NSFileCoordinator(), NSFileCoordinator())
        var (error, inner): (NSError?, NSError?) = (nil, nil)
        one.coordinate(writingItemAt: url("a"), error: &error) { _ in
            other.coordinate(writingItemAt: url("a"), error: &inner) { _ in Issue.record("it was called") }
        }
        #expect(error == nil && inner?.code == CocoaError.fileLocking.rawValue)
        #expect((inner?.userInfo[NSUnderlyingErrorKey] as? CoordinationError)?.code == .deadlock)
        (one.purposeIdentifier, other.purposeIdentifier, inner) = ("com.example.one", "com.example.one", nil)
        one.coordinate(writingItemAt: url("a"), error: &error) { _ in
            other.coordinate(readingItemAt: url("a"), error: &inner) { _ in }
        }
        #expect(error == nil && inner == nil)
    }

    @Test func `an accessor may request more than its coordinator has, and a copy of it`() throws {
        let coordinator = NSFileCoordinator()
        var (error, inner): (NSError?, NSError?) = (nil, nil)
        coordinator.coordinate(writingItemAt: url("a"), error: &error) { _ in
            coordinator.coordinate(
                writingItemAt: url("a"), writingItemAt: url("b"), error: &inner
            ) { one, other in
                #expect((try? container.groupctl("read", "b", "--timeout", "0"))?.status == 75)
                try? FileManager.default.copyItem(at: one, to: other)
            }
            #expect(inner == nil && (try? container.groupctl("read", "b", "--timeout", "0"))?.status == 0)
            coordinator.coordinate(readingItemAt: url("a"), options: .forUploading, error: &inner) {
                #expect($0 != url("a"))
            }
            #expect(inner == nil)
        }
        #expect(error == nil && container.content(of: "b") == "old")
    }

    @Test func `a lock is found to be the caller's own through an access that is shared`() throws {
        let (one, other) = (NSFileCoordinator(), NSFileCoordinator())
        var (error, second, third, inner): (NSError?, NSError?, NSError?, NSError?) = (nil, nil, nil, nil)
        one.coordinate(writingItemAt: url("a"), error: &error) { _ in
            other.coordinate(writingItemAt: url("b"), error: &second) { _ in
                one.coordinate(readingItemAt: url("a"), error: &third) { _ in
                    NSFileCoordinator().coordinate(writingItemAt: url("b"), error: &inner) { _ in }
                }
            }
        }
        #expect(error == nil && second == nil && third == nil && inner?.code == CocoaError.fileLocking.rawValue)
    }

    @Test func `metadata of another item keeps no access`() throws {
        let coordinator = NSFileCoordinator()
        let (url, other) = (url("a"), url("b"))
        let (begun, ended) = (OneShotEvent<Void>(), OneShotEvent<Void>())
        let reader = Guarded<OneShotEvent<Void>?>(nil)
        var error: NSError?
        coordinator.coordinate(writingItemAt: url, error: &error) { _ in
            let done = elsewhere {
                var error: NSError?
                coordinator.coordinate(
                    readingItemAt: other, options: .immediatelyAvailableMetadataOnly, error: &error
                ) { _ in
                    begun.set(())
                    _ = ended.block(until: Deadline(after: patience))
                }
            }
            reader.withLock { $0 = done }
            _ = begun.block(until: Deadline(after: patience))
        }
        #expect(error == nil)
        #expect(try container.groupctl("write", "a", "--timeout", "0", input: "new").status == 0)
        ended.set(())
        if let done = reader.withLock({ $0 }) { try value(done) }
    }

    @Test func `an accessor that is never called holds nothing, and one that is cancelled before is not called`() throws
    {
        let queue = OperationQueue()
        queue.isSuspended = true
        let coordinator = NSFileCoordinator()
        let codes = Guarded([Int]())
        for name in ["a", "b"] {
            coordinator.coordinate(with: [.writingIntent(with: url(name))], queue: queue) { error in
                codes.withLock { $0.append((error as NSError?)?.code ?? 0) }
            }
        }
        #expect(eventually { queue.operationCount == 2 })
        #expect(try container.groupctl("write", "a", "--timeout", "0").status == 75)
        queue.operations.first?.cancel()
        coordinator.cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(codes.withLock { $0 } == [CocoaError.userCancelled.rawValue])
        for name in ["a", "b"] {
            #expect(eventually { (try? container.groupctl("write", name, "--timeout", "0"))?.status == 0 })
        }
    }

    @Test func `a batch holds its items until it is completed, and its requests do not wait`() throws {
        let coordinator = NSFileCoordinator()
        let later = Guarded<(@Sendable () -> Void)?>(nil)
        var (error, inner): (NSError?, NSError?) = (nil, nil)
        coordinator.prepare(
            forReadingItemsAt: [url("a")], writingItemsAt: [url("b"), url("c")], error: &error
        ) { complete in
            for name in ["b", "c"] {
                coordinator.coordinate(writingItemAt: url(name), error: &inner) {
                    try? Data(name.utf8).write(to: $0)
                }
            }
            later.withLock { $0 = complete }
        }
        #expect(error == nil && inner == nil)
        #expect(try container.groupctl("write", "b", "--timeout", "0").status == 75)
        later.withLock { $0.take() }?()
        #expect(try container.groupctl("write", "b", "--timeout", "0").status == 0)
        #expect(try container.changes().filter { ["b", "c"].contains($0.path) }.allSatisfy(\.isCoordinated))
    }

    @Test func `a batch whose handler is forgotten ends`() throws {
        var error: NSError?
        NSFileCoordinator().prepare(forReadingItemsAt: [], writingItemsAt: [url("b")], error: &error) { _ in }
        #expect(error == nil)
        #expect(try container.groupctl("write", "b", "--timeout", "0").status == 0)
    }

    @Test func `an accessor on a queue gets the present URLs, or the error`() throws {
        let queue = OperationQueue()
        let read = NSFileAccessIntent.readingIntent(with: url("a"))
        let write = NSFileAccessIntent.writingIntent(with: url("b"), options: .forReplacing)
        let done = OneShotEvent<String>()
        NSFileCoordinator().coordinate(with: [read, write], queue: queue) { error in
            let isThere = OperationQueue.current === queue && error == nil
            try? FileManager.default.copyItem(at: read.url, to: write.url)
            done.set(isThere ? "granted" : "\(String(describing: error))")
        }
        #expect(try value(done) == "granted")
        queue.waitUntilAllOperationsAreFinished()
        #expect(try container.changes().last { $0.path == "b" }?.isCoordinated == true)
        let failed = OneShotEvent<Int>()
        let outside = NSFileAccessIntent.readingIntent(with: URL(fileURLWithPath: "/none/at/all"))
        NSFileCoordinator().coordinate(with: [outside], queue: queue) { failed.set(($0 as NSError?)?.code ?? 0) }
        #expect(try value(failed) == CocoaError.fileReadUnknown.rawValue)
    }

    @Test func `a request on a queue can be cancelled`() throws {
        let holder = try container.member("hold", "a")
        try holder.waitForText("held\n")
        let coordinator = NSFileCoordinator()
        let failed = OneShotEvent<Int>()
        coordinator.coordinate(with: [.writingIntent(with: url("a"))], queue: OperationQueue()) {
            failed.set(($0 as NSError?)?.code ?? 0)
        }
        try container.waitForWaiters(1, in: try container.open())
        coordinator.cancel()
        #expect(try value(failed) == CocoaError.userCancelled.rawValue)
    }

    @Test func `options have Apple's bits`() {
        let reading: NSFileCoordinator.ReadingOptions = [
            .withoutChanges, .resolvesSymbolicLink, .immediatelyAvailableMetadataOnly, .forUploading,
        ]
        #expect(reading.rawValue == 15 && NSFileCoordinator.ReadingOptions.forUploading.rawValue == 8)
        let writing: NSFileCoordinator.WritingOptions = [
            .forDeleting, .forMoving, .forMerging, .forReplacing, .contentIndependentMetadataOnly,
        ]
        #expect(writing.rawValue == 31 && NSFileCoordinator.WritingOptions.forReplacing.rawValue == 8)
    }
}
