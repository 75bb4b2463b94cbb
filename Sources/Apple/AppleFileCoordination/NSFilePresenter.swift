public import Foundation

/// An object that shows a file or a directory to its user, and is asked before other processes, and other coordinators
/// of this one, read or write it. Register it with `NSFileCoordinator.addFilePresenter(_:)`.
///
/// All methods are called on `presentedItemOperationQueue`, each when the one before has completed. Methods without
/// implementation complete at once. A method may also have its name of before Swift 3, or take its block as one that is
/// never nil: see `OldPresenterNames.swift`.
///
/// The methods have no `async` forms, which Swift makes of Objective-C's methods only: a method
/// `savePresentedItemChanges() async throws` is never called.
///
/// Declare each method in the class that adopts this protocol. A method that only a subclass of it declares is never
/// called; a subclass overrides the one of the adopting class.
@preconcurrency
public protocol NSFilePresenter: OldPresenterNames {
    /// The URL of the presented item, which need not exist; nil for a document that was never saved, which is to be
    /// added when it has one.
    var presentedItemURL: URL? { get }
    /// The queue on which the methods are called. Where it is the main queue, the main thread must not wait for a
    /// coordinated access to the item that was not made for this presenter.
    var presentedItemOperationQueue: OperationQueue { get }

    /// Lets go of the item while others read it. Call `reader` when that is done, with a block that is called when they
    /// have read, or with nil.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// Lets go of the item while another one writes it. Call `writer` when that is done, with a block that is called
    /// when it has written, or with nil.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// Writes what is not on the disk yet. An error makes the request fail that asked.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// Closes the item, because it is about to be removed or replaced. An error makes the request fail that asked.
    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// Closes an item in the presented directory, because it is about to be removed or replaced.
    func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// Takes note of the item's new path, to which this presenter did not move it.
    func presentedItemDidMove(to newURL: URL)
    /// Takes note of a change of the item, which this presenter did not make.
    func presentedItemDidChange()
    /// Takes note of a new item in the presented directory.
    func presentedSubitemDidAppear(at url: URL)
    /// Takes note of the new path of an item in the presented directory, which may be outside of it.
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL)
    /// Takes note of a change of an item in the presented directory; also of its removal.
    func presentedSubitemDidChange(at url: URL)
}

extension NSFilePresenter {
    /// Calls the form with an optional block.
    public func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        (self as any OptionalPresenterNames).relinquishPresentedItem(toReader: reader)
    }
    /// Calls the form with an optional block.
    public func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        (self as any OptionalPresenterNames).relinquishPresentedItem(toWriter: writer)
    }
    /// Calls the form with an optional block.
    public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        (self as any OptionalPresenterNames).savePresentedItemChanges(completionHandler: completionHandler)
    }
    /// Calls the form with an optional block.
    public func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        (self as any OptionalPresenterNames).accommodatePresentedItemDeletion(completionHandler: completionHandler)
    }
    /// Calls the form with an optional block.
    public func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        (self as any OptionalPresenterNames).accommodatePresentedSubitemDeletion(
            at: url, completionHandler: completionHandler)
    }
    /// Calls the method by its older name.
    public func presentedItemDidMove(to newURL: URL) { presentedItemDidMoveToURL(newURL: newURL) }
    /// Does nothing.
    public func presentedItemDidChange() {}
    /// Calls the method by its older name.
    public func presentedSubitemDidAppear(at url: URL) { presentedSubitemDidAppearAtURL(url: url) }
    /// Calls the method by its older name.
    public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        presentedSubitemAtURL(oldURL: oldURL, didMoveToURL: newURL)
    }
    /// Calls the method by its older name.
    public func presentedSubitemDidChange(at url: URL) { presentedSubitemDidChangeAtURL(url: url) }
}
