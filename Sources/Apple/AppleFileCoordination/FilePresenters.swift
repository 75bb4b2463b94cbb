import Foundation
import GroupContainer
import GroupSystemCalls

/// The presenters that this process has registered.
enum FilePresenters {
    private static let registered = Guarded([RegisteredPresenter]())

    static var all: [any NSFilePresenter] { registered.withLock { $0 }.map(\.presenter) }

    /// Registers a presenter, if it has a URL and is not registered yet.
    static func add(_ presenter: any NSFilePresenter) throws(CoordinationError) {
        guard let url = presenter.presentedItemURL, find(presenter) == nil else { return }
        let new = try RegisteredPresenter(presenter, of: LocatedItem(url, for: "present"))
        registered.withLock { $0.append(new) }
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
