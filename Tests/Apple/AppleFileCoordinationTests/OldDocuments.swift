import AppleFileCoordination
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// The document of a presenter, and a list of what the presenter was called for.
class NotingDocument: NSObject, @unchecked Sendable {
    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    let calls = Guarded<[String]>([])

    init(_ url: URL) {
        presentedItemURL = url
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
    }

    func note(_ call: String) { calls.withLock { $0.append(call) } }

    func waitFor(_ call: String) throws {
        if !eventually({ calls.withLock { $0.contains(call) } }) {
            throw WaitedInVain(description: "no '\(call)' in \(calls.withLock { $0 })")
        }
    }
}

/// A presenter with the names of before Swift 3, as Xcode 6 wrote them.
final class OldestDocument: NotingDocument, NSFilePresenter, @unchecked Sendable {
    func relinquishPresentedItemToReader(reader: (((@Sendable () -> Void)?) -> Void)!) {
        note("to reader")
        reader { self.note("reacquired") }
    }
    func relinquishPresentedItemToWriter(writer: (((@Sendable () -> Void)?) -> Void)!) {
        note("to writer")
        writer(nil)
    }
    func savePresentedItemChangesWithCompletionHandler(completionHandler: ((NSError?) -> Void)!) {
        note("save")
        completionHandler(nil)
    }
    func accommodatePresentedItemDeletionWithCompletionHandler(completionHandler: ((NSError?) -> Void)!) {
        note("deletion")
        completionHandler(nil)
    }
    func accommodatePresentedSubitemDeletionAtURL(url: NSURL, completionHandler: ((NSError?) -> Void)!) {
        note("deletion of \(url.lastPathComponent ?? "")")
        completionHandler(nil)
    }
    func presentedItemDidMoveToURL(newURL: NSURL) { note("moved to \(newURL.lastPathComponent ?? "")") }
    func presentedSubitemDidAppearAtURL(url: NSURL) { note("appeared \(url.lastPathComponent ?? "")") }
    func presentedSubitemDidChangeAtURL(url: NSURL) { note("changed \(url.lastPathComponent ?? "")") }
    func presentedSubitemAtURL(oldURL: NSURL, didMoveToURL newURL: NSURL) {
        note("moved \(oldURL.lastPathComponent ?? "") to \(newURL.lastPathComponent ?? "")")
    }
}

/// A presenter whose blocks may be nil.
final class UnsureDocument: NotingDocument, NSFilePresenter, @unchecked Sendable {
    func relinquishPresentedItemToReader(reader: (((@Sendable () -> Void)?) -> Void)?) {
        note("to reader")
        reader?(nil)
    }
    func savePresentedItemChangesWithCompletionHandler(completionHandler: ((NSError?) -> Void)?) {
        note("save")
        completionHandler?(nil)
    }
}

/// A presenter with the present names, and blocks that are implicitly unwrapped.
final class UnwrappedDocument: NotingDocument, NSFilePresenter, @unchecked Sendable {
    func relinquishPresentedItem(toReader reader: (((@Sendable () -> Void)?) -> Void)!) {
        note("to reader")
        reader?(nil)
    }
    func relinquishPresentedItem(toWriter writer: (((@Sendable () -> Void)?) -> Void)!) {
        note("to writer")
        writer?(nil)
    }
    func savePresentedItemChanges(completionHandler: (((any Error)?) -> Void)!) {
        note("save")
        completionHandler(nil)
    }
    func accommodatePresentedItemDeletion(completionHandler: (((any Error)?) -> Void)!) {
        note("deletion")
        completionHandler(nil)
    }
    func accommodatePresentedSubitemDeletion(at url: URL, completionHandler: (((any Error)?) -> Void)!) {
        note("deletion of \(url.lastPathComponent)")
        completionHandler(nil)
    }
}

/// A presenter with the present names, and optional blocks; and one method with its name of before Swift 3, a `URL`, and an
/// optional block.
final class OptionalDocument: NotingDocument, NSFilePresenter, @unchecked Sendable {
    func relinquishPresentedItem(toReader reader: (((@Sendable () -> Void)?) -> Void)?) {
        note("to reader")
        reader?(nil)
    }
    func relinquishPresentedItem(toWriter writer: (((@Sendable () -> Void)?) -> Void)?) {
        note("to writer")
        writer?(nil)
    }
    func savePresentedItemChanges(completionHandler: (((any Error)?) -> Void)?) {
        note("save")
        completionHandler?(nil)
    }
    func accommodatePresentedItemDeletion(completionHandler: (((any Error)?) -> Void)?) {
        note("deletion")
        completionHandler?(nil)
    }
    func accommodatePresentedSubitemDeletionAtURL(url: URL, completionHandler: ((NSError?) -> Void)?) {
        note("deletion of \(url.lastPathComponent)")
        completionHandler?(nil)
    }
}

/// A presenter with the names of before Swift 3.
final class OldDocument: NotingDocument, NSFilePresenter, @unchecked Sendable {
    func relinquishPresentedItemToReader(reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        note("to reader")
        reader { self.note("reacquired") }
    }
    func relinquishPresentedItemToWriter(writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        note("to writer")
        writer(nil)
    }
    func savePresentedItemChangesWithCompletionHandler(completionHandler: @escaping @Sendable (NSError?) -> Void) {
        note("save")
        completionHandler(nil)
    }
    func accommodatePresentedItemDeletionWithCompletionHandler(
        completionHandler: @escaping @Sendable (NSError?) -> Void
    ) {
        note("deletion")
        completionHandler(nil)
    }
    func accommodatePresentedSubitemDeletionAtURL(
        url: URL, completionHandler: @escaping @Sendable (NSError?) -> Void
    ) {
        note("deletion of \(url.lastPathComponent)")
        completionHandler(nil)
    }
    func presentedItemDidMoveToURL(newURL: URL) { note("moved to \(newURL.lastPathComponent)") }
    func presentedSubitemDidAppearAtURL(url: URL) { note("appeared \(url.lastPathComponent)") }
    func presentedSubitemDidChangeAtURL(url: URL) { note("changed \(url.lastPathComponent)") }
    func presentedSubitemAtURL(oldURL: URL, didMoveToURL newURL: URL) {
        note("moved \(oldURL.lastPathComponent) to \(newURL.lastPathComponent)")
    }
}

/// A presenter whose blocks are never nil, as they are often written.
final class PlainDocument: NSObject, NSFilePresenter, @unchecked Sendable {
    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    let calls = Guarded<[String]>([])

    init(_ url: URL) { presentedItemURL = url }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        calls.withLock { $0.append("to reader") }
        reader {}
    }
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        calls.withLock { $0.append("to writer") }
        writer {}
    }
}
