import Foundation
import GroupContainer
import GroupSystemCalls

/// A registered presenter: passes the questions and changes of its item on to it, on its queue.
final class RegisteredPresenter: Sendable {
    /// The presenter is used on its queue only, so it need not be `Sendable` itself.
    private struct Box: @unchecked Sendable { let presenter: any NSFilePresenter }
    private let box: Box
    private let queue: OperationQueue
    private let item: LocatedItem
    /// The purpose of the presenter's coordinators.
    let purposeIdentifier = UUID().uuidString
    private let state: Guarded<State>
    /// Ends the waits for the presenter's methods.
    private let ended = Cancellation()

    private struct State: Sendable {
        /// The path of the item, after the changes that the presenter has got.
        var path: ItemPath
        var presentation: Presentation?
        /// The question that is being answered.
        var question: AnsweredQuestion?
        /// For each question that is open: what is to be called when the presenter may have its item back.
        var reacquirers: [Reacquirer] = []
    }

    var presenter: any NSFilePresenter { box.presenter }
    var container: Container { item.container }

    /// Registers a presenter. Errors: those of `Container.present`
    init(_ presenter: any NSFilePresenter, of item: LocatedItem) throws(CoordinationError) {
        box = Box(presenter: presenter)
        queue = presenter.presentedItemOperationQueue
        self.item = item
        state = Guarded(State(path: item.path))
        let presentation = try item.container.present(calls, at: item.path)
        state.withLock { $0.presentation = presentation }
    }

    /// Ends the registration, and calls the blocks by which the presenter gets back what it has relinquished.
    func end() {
        let (presentation, reacquirers) = state.withLock { state in
            defer { (state.presentation, state.question, state.reacquirers) = (nil, nil, []) }
            return (state.presentation, state.reacquirers)
        }
        ended.cancel()
        presentation?.end()
        for block in reacquirers.compactMap({ $0.fallDue() }) { queue.addOperation(block) }
    }

    /// The URL of the item where the presenter knows it.
    var presentURL: URL { present.url(of: present.path) }

    /// Checks that the presenter is registered for an item, where it knows it. Errors: `conflict`
    func checkIsPresenting(_ item: LocatedItem, _ url: URL) throws(CoordinationError) {
        if (container.path, present.path) == (item.container.path, item.path) { return }
        throw CoordinationError(
            .conflict, operation: "present", item: url.path,
            reason: "the presenter is registered for '\(presentURL.path)', and stays so",
            remedy: .init(.choosePath, "remove the presenter, and add it again"))
    }

    /// Returns the coordinator of requests that this presenter makes, and the question that they help to answer, if
    /// any.
    func coordinator(purpose: String) -> (Coordinator?, AnsweredQuestion?) {
        let (presentation, question) = state.withLock { ($0.presentation, $0.question) }
        return (presentation?.coordinator(purpose: purpose), question.flatMap { $0.stands ? $0 : nil })
    }

    // MARK: Calls

    private var calls: PresenterCalls {
        PresenterCalls(
            answers: .all,
            answer: { [weak self] in try self?.answer($0, $1, $2) },
            reacquire: { [weak self] _ in self?.reacquire() },
            didChange: { [weak self] in self?.didChange($0) },
            didMove: { [weak self] path, isOwn in
                self?.state.withLock { $0.path = path }
                if isOwn { return }
                self?.perform { presenter, item in presenter.presentedItemDidMove(to: item.url(of: path)) }
            },
            didEnd: { [weak self] _ in self?.perform { presenter, _ in presenter.presentedItemDidChange() } })
    }

    private func answer(
        _ wanted: PresenterQuestions, _ accessor: PresenterAccessor, _ question: AnsweredQuestion
    ) throws {
        state.withLock { $0.question = question }
        defer { state.withLock { $0.question = nil } }
        if wanted.contains(.relinquishToReader) || wanted.contains(.relinquishToWriter) {
            let (reacquirer, queue) = (Reacquirer(), queue)
            state.withLock { $0.reacquirers.append(reacquirer) }
            call(for: question) { presenter, _, completed in
                let completion: @Sendable ((@Sendable () -> Void)?) -> Void = {
                    reacquirer.give($0, on: queue)
                    completed(nil)
                }
                if wanted.contains(.relinquishToWriter) {
                    presenter.relinquishPresentedItem(toWriter: completion)
                } else {
                    presenter.relinquishPresentedItem(toReader: completion)
                }
            }
        }
        if wanted.contains(.saveChanges) {
            let error = call(for: question) { presenter, _, completed in
                presenter.savePresentedItemChanges(completionHandler: completed)
            }
            if let error { throw error }
        }
        if wanted.contains(.accommodateDeletion) {
            let error = call(for: question) { presenter, item, completed in
                if accessor.item.isBelow(item.path) {
                    presenter.accommodatePresentedSubitemDeletion(
                        at: item.url(of: accessor.item), completionHandler: completed)
                } else {
                    presenter.accommodatePresentedItemDeletion(completionHandler: completed)
                }
            }
            if let error { throw error }
        }
    }

    /// Calls a method of the presenter, and waits until it calls its completion handler, for as long as the answer is
    /// awaited. Returns the error of the handler.
    @discardableResult
    private func call(
        for question: AnsweredQuestion,
        _ method:
            @escaping @Sendable (any NSFilePresenter, LocatedItem, @escaping @Sendable ((any Error)?) -> Void) -> Void
    ) -> (any Error)? {
        let replied = OneShotEvent<(any Error)?>()
        let (box, item) = (box, present)
        queue.addOperation { question.within { method(box.presenter, item) { replied.set($0) } } }
        while true {
            switch replied.block(until: Deadline(after: Self.period), orUntil: ended) {
            case .happened(let error): return error
            case .cancelled: return nil
            case .timedOut: if !question.stands { return nil }
            }
        }
    }

    /// How often a method that takes long is looked at: whether its answer is still awaited.
    private static let period = Duration.milliseconds(100)

    private func reacquire() {
        let reacquirer = state.withLock { $0.reacquirers.isEmpty ? nil : $0.reacquirers.removeFirst() }
        if let block = reacquirer?.fallDue() { perform { _, _ in block() } }
    }

    private func didChange(_ change: Change) {
        perform { presenter, item in
            let events = SubitemEvent.events(of: change, in: item.path)
            if events.isEmpty { presenter.presentedItemDidChange() }
            for event in events {
                switch event {
                case .appeared(let path): presenter.presentedSubitemDidAppear(at: item.url(of: path))
                case .changed(let path): presenter.presentedSubitemDidChange(at: item.url(of: path))
                case .moved(let old, let new):
                    presenter.presentedSubitem(at: item.url(of: old), didMoveTo: item.url(of: new))
                }
            }
        }
    }

    /// Calls methods of the presenter on its queue, and waits until they have returned.
    private func perform(_ call: @escaping @Sendable (any NSFilePresenter, LocatedItem) -> Void) {
        let done = OneShotEvent<Void>()
        let (box, item) = (box, present)
        queue.addOperation {
            call(box.presenter, item)
            done.set(())
        }
        _ = done.block(orUntil: ended)
    }

    /// The item where the presenter knows it.
    private var present: LocatedItem { LocatedItem(state.withLock(\.path), beside: item) }
}

/// What a presenter wants to be called when it may have its item back. The presenter may give it late: when its item
/// was granted without its answer.
private final class Reacquirer: Sendable {
    private let state = Guarded((block: (@Sendable () -> Void)?.none, isDue: false))

    func give(_ block: (@Sendable () -> Void)?, on queue: OperationQueue) {
        let isDue = state.withLock { state in
            if !state.isDue { state.block = block }
            return state.isDue
        }
        if isDue, let block { queue.addOperation(block) }
    }

    /// Returns the block, if the presenter has given one. A block that it gives later is called at once.
    func fallDue() -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.isDue = true
            return state.block.take()
        }
    }
}

/// What happened to an item in a presented directory.
enum SubitemEvent: Equatable {
    case appeared(ItemPath)
    case changed(ItemPath)
    case moved(ItemPath, ItemPath)

    /// Returns nothing for a change of the presented item itself, or of a directory around it, or of which nothing more
    /// is known.
    static func events(of change: Change, in presented: ItemPath) -> [SubitemEvent] {
        if change.kind.isMarker { return [] }
        let isInside = change.path.isBelow(presented)
        switch change.kind {
        case .moved(let old):
            return old.isBelow(presented) ? [.moved(old, change.path)] : isInside ? [.appeared(change.path)] : []
        case .exchanged(let other):
            return [change.path, other].filter { $0.isBelow(presented) }.map { .changed($0) }
        case .created: return isInside ? [.appeared(change.path)] : []
        case .modified, .touched, .removed, .present: return isInside ? [.changed(change.path)] : []
        case .bookmark, .rescan, .degraded: return []
        }
    }
}

/// The presenters that this process has registered.
enum FilePresenters {
    private static let registered = Guarded([RegisteredPresenter]())

    static var all: [any NSFilePresenter] { registered.withLock { $0 }.map(\.presenter) }

    /// Registers a presenter. A presenter that is registered with its present URL stays as it is. Errors:
    /// `invalidArgument` without a URL, `conflict` if it is registered with another one; those of `LocatedItem.init`
    /// and `Container.present`
    static func add(_ presenter: any NSFilePresenter) throws(CoordinationError) {
        guard let url = presenter.presentedItemURL else {
            throw CoordinationError(
                .invalidArgument, operation: "present", item: "\(type(of: presenter))",
                reason: "its presentedItemURL is nil",
                remedy: .init(.choosePath, "add the presenter once it has a URL"))
        }
        let item = try LocatedItem(url, for: "present")
        if let known = find(presenter) { return try known.checkIsPresenting(item, url) }
        let new = try RegisteredPresenter(presenter, of: item)
        // Another thread may have registered it meanwhile.
        let other = registered.withLock { registered -> RegisteredPresenter? in
            if let known = registered.first(where: { $0.presenter === presenter }) { return known }
            registered.append(new)
            return nil
        }
        guard let other else { return }
        new.end()
        try other.checkIsPresenting(item, url)
    }

    static func remove(_ presenter: any NSFilePresenter) {
        let removed = registered.withLock { registered in
            registered.firstIndex { $0.presenter === presenter }.map { registered.remove(at: $0) }
        }
        removed?.end()
    }

    static func find(_ presenter: any NSFilePresenter) -> RegisteredPresenter? {
        registered.withLock { $0.first { $0.presenter === presenter } }
    }
}
