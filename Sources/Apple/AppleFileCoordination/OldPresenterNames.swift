public import Foundation

/// Forms of the methods of `NSFilePresenter` that older code and misremembered code have, each of which is called where
/// the present form is not implemented. Without them such a method would compile and never be called.
@preconcurrency
public protocol OldPresenterNames: NSObjectProtocol {
    /// Lets go of the item for a reader; the form whose block is never nil.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void)
    /// Lets go of the item for a writer; the form whose block is never nil.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void)

    /// `relinquishPresentedItem(toReader:)` before Swift 3.
    func relinquishPresentedItemToReader(reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// `relinquishPresentedItem(toWriter:)` before Swift 3.
    func relinquishPresentedItemToWriter(writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// `savePresentedItemChanges(completionHandler:)` before Swift 3.
    func savePresentedItemChangesWithCompletionHandler(completionHandler: @escaping @Sendable (NSError?) -> Void)
    /// `accommodatePresentedItemDeletion(completionHandler:)` before Swift 3.
    func accommodatePresentedItemDeletionWithCompletionHandler(
        completionHandler: @escaping @Sendable (NSError?) -> Void)
    /// `accommodatePresentedSubitemDeletion(at:completionHandler:)` before Swift 3.
    func accommodatePresentedSubitemDeletionAtURL(
        url: URL, completionHandler: @escaping @Sendable (NSError?) -> Void)
    /// `presentedItemDidMove(to:)` before Swift 3.
    func presentedItemDidMoveToURL(newURL: URL)
    /// `presentedSubitemDidAppear(at:)` before Swift 3.
    func presentedSubitemDidAppearAtURL(url: URL)
    /// `presentedSubitem(at:didMoveTo:)` before Swift 3.
    func presentedSubitemAtURL(oldURL: URL, didMoveToURL newURL: URL)
    /// `presentedSubitemDidChange(at:)` before Swift 3.
    func presentedSubitemDidChangeAtURL(url: URL)
}

extension NSFilePresenter {
    /// Calls the method by its older name.
    public func relinquishPresentedItem(
        toReader reader: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        relinquishPresentedItemToReader { reader($0 ?? {}) }
    }
    /// Calls the method by its older name.
    public func relinquishPresentedItem(
        toWriter writer: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        relinquishPresentedItemToWriter { writer($0 ?? {}) }
    }
    /// Completes at once.
    public func relinquishPresentedItemToReader(reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        reader(nil)
    }
    /// Completes at once.
    public func relinquishPresentedItemToWriter(writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        writer(nil)
    }
    /// Completes at once.
    public func savePresentedItemChangesWithCompletionHandler(
        completionHandler: @escaping @Sendable (NSError?) -> Void
    ) { completionHandler(nil) }
    /// Completes at once.
    public func accommodatePresentedItemDeletionWithCompletionHandler(
        completionHandler: @escaping @Sendable (NSError?) -> Void
    ) { completionHandler(nil) }
    /// Completes at once.
    public func accommodatePresentedSubitemDeletionAtURL(
        url: URL, completionHandler: @escaping @Sendable (NSError?) -> Void
    ) { completionHandler(nil) }
    /// Does nothing.
    public func presentedItemDidMoveToURL(newURL: URL) {}
    /// Calls `presentedItemDidChange()`.
    public func presentedSubitemDidAppearAtURL(url: URL) { presentedItemDidChange() }
    /// Calls `presentedItemDidChange()`.
    public func presentedSubitemAtURL(oldURL: URL, didMoveToURL newURL: URL) { presentedItemDidChange() }
    /// Calls `presentedItemDidChange()`.
    public func presentedSubitemDidChangeAtURL(url: URL) { presentedItemDidChange() }
}
