public import Foundation

// Forms of the methods of `NSFilePresenter` that older code and misremembered code have, each of which is called where the
// present form is not implemented. Without them such a method would compile and never be called. A method whose block is
// implicitly unwrapped (`!`) is no witness of a requirement with an optional one (`?`), so these forms have a protocol of
// their own.

/// The forms with implicitly unwrapped blocks.
@preconcurrency
public protocol UnwrappedPresenterNames: NSObjectProtocol {
    /// Lets go of the item for a reader.
    func relinquishPresentedItemToReader(reader: (@Sendable ((@Sendable () -> Void)?) -> Void)!)
    /// Lets go of the item for a writer.
    func relinquishPresentedItemToWriter(writer: (@Sendable ((@Sendable () -> Void)?) -> Void)!)
    /// Saves.
    func savePresentedItemChangesWithCompletionHandler(completionHandler: (@Sendable (NSError?) -> Void)!)
    /// Closes the item.
    func accommodatePresentedItemDeletionWithCompletionHandler(completionHandler: (@Sendable (NSError?) -> Void)!)
    /// Closes an item of the directory.
    func accommodatePresentedSubitemDeletionAtURL(url: NSURL, completionHandler: (@Sendable (NSError?) -> Void)!)
    /// The same with a `URL`.
    func accommodatePresentedSubitemDeletionAtURL(url: URL, completionHandler: (@Sendable (NSError?) -> Void)!)

    // The present names.

    /// Lets go of the item for a reader.
    func relinquishPresentedItem(toReader reader: (@Sendable ((@Sendable () -> Void)?) -> Void)!)
    /// Lets go of the item for a writer.
    func relinquishPresentedItem(toWriter writer: (@Sendable ((@Sendable () -> Void)?) -> Void)!)
    /// Saves.
    func savePresentedItemChanges(completionHandler: (@Sendable ((any Error)?) -> Void)!)
    /// Closes the item.
    func accommodatePresentedItemDeletion(completionHandler: (@Sendable ((any Error)?) -> Void)!)
    /// Closes an item of the directory.
    func accommodatePresentedSubitemDeletion(at url: URL, completionHandler: (@Sendable ((any Error)?) -> Void)!)
}

/// The forms with optional blocks.
@preconcurrency
public protocol OptionalPresenterNames: NSObjectProtocol {
    /// Lets go of the item for a reader.
    func relinquishPresentedItemToReader(reader: (@Sendable ((@Sendable () -> Void)?) -> Void)?)
    /// Lets go of the item for a writer.
    func relinquishPresentedItemToWriter(writer: (@Sendable ((@Sendable () -> Void)?) -> Void)?)
    /// Saves.
    func savePresentedItemChangesWithCompletionHandler(completionHandler: (@Sendable (NSError?) -> Void)?)
    /// Closes the item.
    func accommodatePresentedItemDeletionWithCompletionHandler(completionHandler: (@Sendable (NSError?) -> Void)?)
    /// Closes an item of the directory.
    func accommodatePresentedSubitemDeletionAtURL(url: NSURL, completionHandler: (@Sendable (NSError?) -> Void)?)
    /// The same with a `URL`.
    func accommodatePresentedSubitemDeletionAtURL(url: URL, completionHandler: (@Sendable (NSError?) -> Void)?)

    // The present names.

    /// Lets go of the item for a reader.
    func relinquishPresentedItem(toReader reader: (@Sendable ((@Sendable () -> Void)?) -> Void)?)
    /// Lets go of the item for a writer.
    func relinquishPresentedItem(toWriter writer: (@Sendable ((@Sendable () -> Void)?) -> Void)?)
    /// Saves.
    func savePresentedItemChanges(completionHandler: (@Sendable ((any Error)?) -> Void)?)
    /// Closes the item.
    func accommodatePresentedItemDeletion(completionHandler: (@Sendable ((any Error)?) -> Void)?)
    /// Closes an item of the directory.
    func accommodatePresentedSubitemDeletion(at url: URL, completionHandler: (@Sendable ((any Error)?) -> Void)?)
}

/// The other forms of before Swift 3, and those whose block is never nil.
@preconcurrency
public protocol OldPresenterNames: OptionalPresenterNames, UnwrappedPresenterNames {
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

    // The same with `NSURL`.

    /// Closes an item of the directory.
    func accommodatePresentedSubitemDeletionAtURL(url: NSURL, completionHandler: @escaping @Sendable (NSError?) -> Void)
    /// Takes note of the change.
    func presentedItemDidMoveToURL(newURL: NSURL)
    /// Takes note of the change.
    func presentedSubitemDidAppearAtURL(url: NSURL)
    /// Takes note of the change.
    func presentedSubitemAtURL(oldURL: NSURL, didMoveToURL newURL: NSURL)
    /// Takes note of the change.
    func presentedSubitemDidChangeAtURL(url: NSURL)
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
    /// Calls the form with an optional block.
    public func relinquishPresentedItemToReader(reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        (self as any OptionalPresenterNames).relinquishPresentedItemToReader(reader: reader)
    }
    /// Calls the form with an optional block.
    public func relinquishPresentedItemToWriter(writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        (self as any OptionalPresenterNames).relinquishPresentedItemToWriter(writer: writer)
    }
    /// Calls the form with an optional block.
    public func savePresentedItemChangesWithCompletionHandler(
        completionHandler: @escaping @Sendable (NSError?) -> Void
    ) {
        (self as any OptionalPresenterNames).savePresentedItemChangesWithCompletionHandler(
            completionHandler: completionHandler)
    }
    /// Calls the form with an optional block.
    public func accommodatePresentedItemDeletionWithCompletionHandler(
        completionHandler: @escaping @Sendable (NSError?) -> Void
    ) {
        (self as any OptionalPresenterNames).accommodatePresentedItemDeletionWithCompletionHandler(
            completionHandler: completionHandler)
    }
    /// Calls the form with an `NSURL`.
    public func accommodatePresentedSubitemDeletionAtURL(
        url: URL, completionHandler: @escaping @Sendable (NSError?) -> Void
    ) { accommodatePresentedSubitemDeletionAtURL(url: url as NSURL, completionHandler: completionHandler) }
    /// Calls the form with an optional block.
    public func accommodatePresentedSubitemDeletionAtURL(
        url: NSURL, completionHandler: @escaping @Sendable (NSError?) -> Void
    ) {
        (self as any OptionalPresenterNames).accommodatePresentedSubitemDeletionAtURL(
            url: url, completionHandler: completionHandler)
    }
    /// Calls the form with an `NSURL`.
    public func presentedItemDidMoveToURL(newURL: URL) { presentedItemDidMoveToURL(newURL: newURL as NSURL) }
    /// Calls the form with an `NSURL`.
    public func presentedSubitemDidAppearAtURL(url: URL) { presentedSubitemDidAppearAtURL(url: url as NSURL) }
    /// Calls the form with an `NSURL`.
    public func presentedSubitemAtURL(oldURL: URL, didMoveToURL newURL: URL) {
        presentedSubitemAtURL(oldURL: oldURL as NSURL, didMoveToURL: newURL as NSURL)
    }
    /// Calls the form with an `NSURL`.
    public func presentedSubitemDidChangeAtURL(url: URL) { presentedSubitemDidChangeAtURL(url: url as NSURL) }

    /// Does nothing.
    public func presentedItemDidMoveToURL(newURL: NSURL) {}
    /// Calls `presentedItemDidChange()`.
    public func presentedSubitemDidAppearAtURL(url: NSURL) { presentedItemDidChange() }
    /// Calls `presentedItemDidChange()`.
    public func presentedSubitemAtURL(oldURL: NSURL, didMoveToURL newURL: NSURL) { presentedItemDidChange() }
    /// Calls `presentedItemDidChange()`.
    public func presentedSubitemDidChangeAtURL(url: NSURL) { presentedItemDidChange() }
}

extension UnwrappedPresenterNames {
    /// Calls the method by its older name.
    public func relinquishPresentedItem(toReader reader: (@Sendable ((@Sendable () -> Void)?) -> Void)!) {
        guard let reader else { return }
        let form: @Sendable (@escaping @Sendable () -> Void) -> Void = { reader($0) }
        (self as? any OldPresenterNames)?.relinquishPresentedItem(toReader: form)
    }
    /// Calls the method by its older name.
    public func relinquishPresentedItem(toWriter writer: (@Sendable ((@Sendable () -> Void)?) -> Void)!) {
        guard let writer else { return }
        let form: @Sendable (@escaping @Sendable () -> Void) -> Void = { writer($0) }
        (self as? any OldPresenterNames)?.relinquishPresentedItem(toWriter: form)
    }
    /// Calls the method by its older name.
    public func savePresentedItemChanges(completionHandler: (@Sendable ((any Error)?) -> Void)!) {
        guard let completionHandler else { return }
        (self as? any OldPresenterNames)?.savePresentedItemChangesWithCompletionHandler { completionHandler($0) }
    }
    /// Calls the method by its older name.
    public func accommodatePresentedItemDeletion(completionHandler: (@Sendable ((any Error)?) -> Void)!) {
        guard let completionHandler else { return }
        (self as? any OldPresenterNames)?.accommodatePresentedItemDeletionWithCompletionHandler {
            completionHandler($0)
        }
    }
    /// Calls the method by its older name.
    public func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: (@Sendable ((any Error)?) -> Void)!
    ) {
        guard let completionHandler else { return }
        (self as? any OldPresenterNames)?.accommodatePresentedSubitemDeletionAtURL(url: url) { completionHandler($0) }
    }
    /// Completes at once.
    public func accommodatePresentedSubitemDeletionAtURL(
        url: URL, completionHandler: (@Sendable (NSError?) -> Void)!
    ) { completionHandler?(nil) }
    /// Completes at once.
    public func relinquishPresentedItemToReader(reader: (@Sendable ((@Sendable () -> Void)?) -> Void)!) { reader?(nil) }
    /// Completes at once.
    public func relinquishPresentedItemToWriter(writer: (@Sendable ((@Sendable () -> Void)?) -> Void)!) { writer?(nil) }
    /// Completes at once.
    public func savePresentedItemChangesWithCompletionHandler(completionHandler: (@Sendable (NSError?) -> Void)!) {
        completionHandler?(nil)
    }
    /// Completes at once.
    public func accommodatePresentedItemDeletionWithCompletionHandler(
        completionHandler: (@Sendable (NSError?) -> Void)!
    ) { completionHandler?(nil) }
    /// Calls the form with a `URL`.
    public func accommodatePresentedSubitemDeletionAtURL(
        url: NSURL, completionHandler: (@Sendable (NSError?) -> Void)!
    ) {
        let form: (@Sendable (NSError?) -> Void)? = completionHandler
        (self as? any OptionalPresenterNames)?.accommodatePresentedSubitemDeletionAtURL(
            url: url as URL, completionHandler: form)
    }
}

extension OptionalPresenterNames {
    /// Calls the form with an implicitly unwrapped block.
    public func relinquishPresentedItem(toReader reader: (@Sendable ((@Sendable () -> Void)?) -> Void)?) {
        (self as? any UnwrappedPresenterNames)?.relinquishPresentedItem(toReader: reader)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func relinquishPresentedItem(toWriter writer: (@Sendable ((@Sendable () -> Void)?) -> Void)?) {
        (self as? any UnwrappedPresenterNames)?.relinquishPresentedItem(toWriter: writer)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func savePresentedItemChanges(completionHandler: (@Sendable ((any Error)?) -> Void)?) {
        (self as? any UnwrappedPresenterNames)?.savePresentedItemChanges(completionHandler: completionHandler)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func accommodatePresentedItemDeletion(completionHandler: (@Sendable ((any Error)?) -> Void)?) {
        (self as? any UnwrappedPresenterNames)?.accommodatePresentedItemDeletion(completionHandler: completionHandler)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: (@Sendable ((any Error)?) -> Void)?
    ) {
        (self as? any UnwrappedPresenterNames)?.accommodatePresentedSubitemDeletion(
            at: url, completionHandler: completionHandler)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func accommodatePresentedSubitemDeletionAtURL(
        url: URL, completionHandler: (@Sendable (NSError?) -> Void)?
    ) {
        (self as? any UnwrappedPresenterNames)?.accommodatePresentedSubitemDeletionAtURL(
            url: url, completionHandler: completionHandler)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func relinquishPresentedItemToReader(reader: (@Sendable ((@Sendable () -> Void)?) -> Void)?) {
        (self as? any UnwrappedPresenterNames)?.relinquishPresentedItemToReader(reader: reader)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func relinquishPresentedItemToWriter(writer: (@Sendable ((@Sendable () -> Void)?) -> Void)?) {
        (self as? any UnwrappedPresenterNames)?.relinquishPresentedItemToWriter(writer: writer)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func savePresentedItemChangesWithCompletionHandler(completionHandler: (@Sendable (NSError?) -> Void)?) {
        (self as? any UnwrappedPresenterNames)?.savePresentedItemChangesWithCompletionHandler(
            completionHandler: completionHandler)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func accommodatePresentedItemDeletionWithCompletionHandler(
        completionHandler: (@Sendable (NSError?) -> Void)?
    ) {
        (self as? any UnwrappedPresenterNames)?.accommodatePresentedItemDeletionWithCompletionHandler(
            completionHandler: completionHandler)
    }
    /// Calls the form with an implicitly unwrapped block.
    public func accommodatePresentedSubitemDeletionAtURL(
        url: NSURL, completionHandler: (@Sendable (NSError?) -> Void)?
    ) {
        (self as? any UnwrappedPresenterNames)?.accommodatePresentedSubitemDeletionAtURL(
            url: url, completionHandler: completionHandler)
    }
}
