public import Foundation
import Dispatch
import GroupContainer
import GroupSystemCalls

/// The place for an error, which a call fills that does not throw: `&error` of a variable of type `NSError?`, or nil.
@unsafe public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Coordinated reading and writing of files by their URLs, between all processes of a container and between the parts
/// of one: `NSFileCoordinator` of Apple's systems, over `Coordinator`.
///
/// The files are read and written by any other call, in the accessor, at the URLs that it gets. What the accessor has
/// changed in the items that the request writes is recorded as a coordinated change when the accessor has ended.
///
/// A file that is in no container cannot be coordinated: the error's recovery suggestion says how to make one.
open class NSFileCoordinator: NSObject, @unchecked Sendable {
    private weak let presenter: (any NSFilePresenter)?
    private let state = Guarded(State())

    private struct State: Sendable {
        /// The purpose that was set.
        var purposeIdentifier: String?
        /// The requests that wait, or have been granted.
        var requests: [UUID: Cancellation] = [:]
    }

    /// Creates a coordinator whose requests do not ask `filePresenter`, and inform it of none of their changes.
    public init(filePresenter: (any NSFilePresenter)?) {
        presenter = filePresenter
    }

    /// Creates a coordinator that is not made for a presenter.
    public override convenience init() { self.init(filePresenter: nil) }

    /// The purpose of the requests. Coordinators of this process with the same purpose do not wait for one another
    /// where one has already what the other requests. Unless another one is set, all coordinators for one presenter
    /// have the same purpose, and every other one has its own. A purpose that was set is also the name by which the
    /// journal and errors of other processes know the request; otherwise that is the name of the program.
    open var purposeIdentifier: String {
        get { state.withLock { $0.purposeIdentifier } ?? registered?.purposeIdentifier ?? ownIdentifier }
        set { state.withLock { $0.purposeIdentifier = newValue } }
    }

    private let ownIdentifier = UUID().uuidString
    /// The presenter, as long as it is registered.
    private var registered: RegisteredPresenter? { presenter.flatMap { FilePresenters.find($0) } }

    // MARK: Presenters

    /// Registers a presenter, which is kept until `removeFilePresenter(_:)`. Its URL is read now, and not again: a
    /// presenter that gets one later is to be added then. An error (the URL is nil, or in no container; the presenter
    /// is registered with another one; those of `Container.present`) goes to `UnreportedErrors`, and changes nothing.
    open class func addFilePresenter(_ filePresenter: any NSFilePresenter) {
        reportingErrors { try FilePresenters.add(filePresenter) }
    }

    /// Ends the registration of a presenter.
    open class func removeFilePresenter(_ filePresenter: any NSFilePresenter) { FilePresenters.remove(filePresenter) }

    /// The presenters that this process has registered.
    open class var filePresenters: [any NSFilePresenter] { FilePresenters.all }

    // MARK: Requests that block

    /// Waits for a coordinated read, and calls the accessor on this thread with the item's present URL. With an error
    /// the accessor is not called.
    @safe
    open func coordinate(
        readingItemAt url: URL, options: ReadingOptions = [], error: NSErrorPointer, byAccessor reader: (URL) -> Void
    ) {
        unsafe coordinate([.reading(url, options)], error) { reader($0[0]) }
    }

    /// Waits for a coordinated write, and calls the accessor on this thread with the item's present URL. With an error
    /// the accessor is not called.
    @safe
    open func coordinate(
        writingItemAt url: URL, options: WritingOptions = [], error: NSErrorPointer, byAccessor writer: (URL) -> Void
    ) {
        unsafe coordinate([.writing(url, options)], error) { writer($0[0]) }
    }

    /// Waits for a coordinated read of one item and a coordinated write of another one, together.
    @safe
    open func coordinate(
        readingItemAt readingURL: URL, options readingOptions: ReadingOptions = [], writingItemAt writingURL: URL,
        options writingOptions: WritingOptions = [], error: NSErrorPointer,
        byAccessor readerWriter: (URL, URL) -> Void
    ) {
        unsafe coordinate([.reading(readingURL, readingOptions), .writing(writingURL, writingOptions)], error) {
            readerWriter($0[0], $0[1])
        }
    }

    /// Waits for coordinated writes of two items, together: the safe form of a move.
    @safe
    open func coordinate(
        writingItemAt url1: URL, options options1: WritingOptions = [], writingItemAt url2: URL,
        options options2: WritingOptions = [], error: NSErrorPointer, byAccessor writer: (URL, URL) -> Void
    ) {
        unsafe coordinate([.writing(url1, options1), .writing(url2, options2)], error) { writer($0[0], $0[1]) }
    }

    /// Waits for all items of a batch, and calls the accessor on this thread, in which this coordinator's requests for
    /// them do not wait. The batch ends when the accessor has returned and has called its completion handler, on any
    /// thread, or has released it.
    @safe
    open func prepare(
        forReadingItemsAt readingURLs: [URL], options readingOptions: ReadingOptions = [],
        writingItemsAt writingURLs: [URL], options writingOptions: WritingOptions = [], error: NSErrorPointer,
        byAccessor batchAccessor: (_ completionHandler: @escaping @Sendable () -> Void) -> Void
    ) {
        let requested =
            readingURLs.map { RequestedAccess.reading($0, readingOptions) }
            + writingURLs.map { RequestedAccess.writing($0, writingOptions) }
        do {
            let batch = Batch(try begin(requested))
            defer { withExtendedLifetime(batch) {} }
            batch.granted.within { batchAccessor { batch.complete() } }
            batch.accessorHasReturned()
        } catch let failure {
            unsafe error?.pointee = NSError(failure, requested)
        }
    }

    @unsafe
    private func coordinate(_ requested: [RequestedAccess], _ error: NSErrorPointer, _ accessor: ([URL]) -> Void) {
        do {
            let granted = try begin(requested)
            granted.within { accessor(granted.urls) }
            granted.leave()
        } catch let failure {
            unsafe error?.pointee = NSError(failure, requested)
        }
    }

    private func begin(_ requested: [RequestedAccess]) throws -> GrantedAccess {
        let cancellation = Cancellation()
        let (number, requester) = enter(cancellation)
        defer { leave(number) }
        return try GrantedAccess(requested, by: requester, orUntil: cancellation)
    }

    private func enter(_ cancellation: Cancellation) -> (number: UUID, requester: Requester) {
        let number = UUID()
        let name = state.withLock { state in
            state.requests[number] = cancellation
            return state.purposeIdentifier
        }
        return (
            number,
            Requester(
                purposeIdentifier: purposeIdentifier, label: name ?? programName(), presenter: registered)
        )
    }

    private func leave(_ number: UUID) { state.withLock { _ = $0.requests.removeValue(forKey: number) } }

    // MARK: Requests that do not block

    /// Requests access to all items and returns; the accessor is called on `queue`, with nil once all are granted, and
    /// otherwise with the error. The present URLs are those of the intents.
    open func coordinate(
        with intents: [NSFileAccessIntent], queue: OperationQueue,
        byAccessor accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let cancellation = Cancellation()
        let (number, requester) = enter(cancellation)
        let requested = intents.map(\.access)
        let answering = AnsweredQuestion.ofCaller
        let fail: @Sendable (any Error) -> Void = { error in
            self.leave(number)
            let failure = NSError(error, requested)
            queue.addOperation { accessor(failure) }
        }
        let work: @Sendable () -> Void = {
            do {
                let granted = try AnsweredQuestion.within(answering) {
                    try GrantedAccess(requested, by: requester, orUntil: cancellation)
                }
                for (intent, url) in zip(intents, granted.urls) { intent.setPresentURL(url) }
                queue.addOperation {
                    self.leave(number)
                    do {
                        try GrantedAccess.check(cancellation)
                        granted.within { accessor(nil) }
                    } catch {
                        accessor(NSError(error, requested))
                    }
                    granted.leave()
                }
            } catch {
                fail(error)
            }
        }
        do {
            try WorkThread.start(work)
        } catch {
            fail(CoordinationError.noThread(error))
        }
    }

    // MARK: In an accessor

    /// Announces a move that the accessor is about to make. Nothing is needed for it here.
    open func item(at oldURL: URL, willMoveTo newURL: URL) {}

    /// Notes a move that the accessor has made: presenters and followers get it as one, also where the item was written
    /// besides, and where `newURL` is no item of the request.
    open func item(at oldURL: URL, didMoveTo newURL: URL) {
        reportingErrors {
            CoordinatedAccess.noteMove(
                from: try LocatedItem(oldURL, for: "move"), to: try LocatedItem(newURL, for: "move"),
                in: purposeIdentifier)
        }
    }

    /// Ends the waits of this coordinator's requests, on any thread: they fail with `NSUserCancelledError`. A request
    /// whose accessor was called goes on.
    open func cancel() {
        for cancellation in state.withLock({ Array($0.requests.values) }) { cancellation.cancel() }
    }
}

/// The access of a batch, which ends when its accessor has returned and has completed it, or with the last reference.
private final class Batch: Sendable {
    let granted: GrantedAccess
    private let state = Guarded((hasReturned: false, isComplete: false))

    init(_ granted: GrantedAccess) { self.granted = granted }

    func accessorHasReturned() { end { $0.hasReturned = true } }
    func complete() { end { $0.isComplete = true } }

    private func end(_ note: (inout (hasReturned: Bool, isComplete: Bool)) -> Void) {
        let isOver = state.withLock { state in
            note(&state)
            return state.hasReturned && state.isComplete
        }
        if isOver { granted.leave() }
    }
}

extension NSFileCoordinator {
    /// The purpose of a coordinated read.
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as on Apple's systems.
        public let rawValue: UInt
        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Reads the item as it is on the disk: presenters let go of it, but do not save first.
        public static let withoutChanges = ReadingOptions(rawValue: 1)
        /// Reads what a symbolic link leads to, as every coordinated read does here.
        public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
        /// Reads only what the directory reports of the item at this moment: no lock, no wait.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
        /// Reads a private copy, which is made under the lock and deleted after the accessor. The accessor's URL is
        /// that of the copy, which has the item's name, in a private directory. A directory is copied as a directory.
        public static let forUploading = ReadingOptions(rawValue: 8)
    }

    /// The purpose of a coordinated write.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as on Apple's systems.
        public let rawValue: UInt
        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Removes the item: its presenters are asked to close it. A directory is granted with everything in it.
        public static let forDeleting = WritingOptions(rawValue: 1)
        /// Moves the item away. A directory is granted with everything in it.
        public static let forMoving = WritingOptions(rawValue: 2)
        /// Reads the item and writes it anew: its presenters are asked to save first.
        public static let forMerging = WritingOptions(rawValue: 4)
        /// Puts another item in its place. A directory is granted with everything in it.
        public static let forReplacing = WritingOptions(rawValue: 8)
        /// Changes only metadata that does not concern presenters.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 16)
    }
}
