/// A subscription to a member's events for as long as it exists. The subscription keeps the process a member.
final class DiagnosticSubscription: Feed {
    typealias Element = Diagnostic

    private let queue = DiagnosticQueue()
    private let container: OpenContainer

    init(_ container: OpenContainer) {
        self.container = container
        container.diagnostics.add(queue)
    }

    deinit { container.diagnostics.remove(queue) }

    func next() -> Diagnostic? { queue.take() }
    func check() {}
    var hasMore: Bool { queue.hasMore }
    var waiter: any FeedWaiter { queue }
}

extension Diagnostic: StreamElement {
    /// Events come without fail.
    public typealias Failure = Never
    /// Events are not kept: there are no places among them.
    public typealias Position = Void
}

/// The events about this process's part in a container, as they happen, without end. The sequence collects them from
/// when it was made, and keeps the latest 256: where more come than are taken, the oldest are dropped, and one
/// `eventsDropped` has their number. For one consumer; another one gets its own from the container.
public typealias Diagnostics = FollowerSequence<Diagnostic>

extension Container {
    /// The events about this process, for operators: which process watches for external changes, watching that is
    /// incomplete, repairs of what dead members left, damage. These are events of what this process does and meets,
    /// from now on, and from while it opened the container. The library writes no log of its own: a program that has
    /// one prints the events there. Costs nothing unless a caller reads this property.
    public var diagnostics: Diagnostics { Diagnostics(.success(DiagnosticSubscription(opened))) }

    /// Returns the blocking form of `diagnostics`, for a thread that may wait.
    public func followDiagnostics() -> Follower<Diagnostic> { Follower(DiagnosticSubscription(opened)) }
}
