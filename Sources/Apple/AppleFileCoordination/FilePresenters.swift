import Foundation
import GroupContainer
import GroupSystemCalls

/// The presenters that this process has registered.
enum FilePresenters {
    private static let registered = Guarded([RegisteredPresenter]())

    static var all: [any NSFilePresenter] { registered.withLock { $0 }.map(\.presenter) }

    /// Registers a presenter. One that is registered with its present URL stays as it is. Errors: `invalidArgument`
    /// without a URL, `conflict` if it is registered with another one; those of `LocatedItem.init` and
    /// `Container.present`
    static func add(_ presenter: any NSFilePresenter) throws(CoordinationError) {
        guard let url = presenter.presentedItemURL else {
            throw CoordinationError(
                .invalidArgument, operation: "present", item: "\(type(of: presenter))",
                reason: "its presentedItemURL is nil",
                remedy: .init(.choosePath, "add the presenter once it has a URL"))
        }
        let item = try LocatedItem(url, for: "present")
        if let known = find(presenter) {
            if known.isPresenting(item) { return }
            throw CoordinationError(
                .conflict, operation: "present", item: url.path,
                reason: "the presenter is registered for '\(known.presentURL.path)', and stays so",
                remedy: .init(.choosePath, "remove the presenter, and add it again"))
        }
        let new = try RegisteredPresenter(presenter, of: item)
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
