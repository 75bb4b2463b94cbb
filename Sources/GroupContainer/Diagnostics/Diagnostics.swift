import GroupSystemCalls

/// Listens for as long as it is kept, and keeps the process a member.
final class DiagnosticSubscription: Sendable {
    let queue = DiagnosticQueue()
    private let member: Member

    init(_ member: Member) {
        self.member = member
        member.diagnostics.add(queue)
    }

    deinit { member.diagnostics.remove(queue) }
}

/// What an operator wants to know of this process's part in a container, as it happens, without end. It listens from
/// when it was made, and keeps the latest 256: where more come than are taken, the oldest go, and one `eventsDropped`
/// says how many. For one consumer; another one asks the container for its own.
public struct Diagnostics: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = Diagnostic

    private let subscription: DiagnosticSubscription

    init(_ subscription: DiagnosticSubscription) { self.subscription = subscription }

    /// Goes on where the last one stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// Where the consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: DiagnosticSubscription

        /// The next event; nil when the task is cancelled.
        public mutating func next() async -> Diagnostic? {
            while true {
                if let event = subscription.queue.take() { return event }
                if Task.isCancelled { return nil }
                await subscription.queue.wait()
            }
        }
    }
}

/// The same on the calling thread.
public struct DiagnosticFollower: Sendable {
    private let subscription: DiagnosticSubscription

    init(_ subscription: DiagnosticSubscription) { self.subscription = subscription }

    /// The next event; waits for it at most `timeout` (nil: for ever) and then returns nil.
    public mutating func next(timeout: Duration? = nil) -> Diagnostic? {
        subscription.queue.take(until: Deadline(after: timeout))
    }
}

extension Container {
    /// What an operator wants to know: which process looks after changes made without coordination, watching that is
    /// incomplete, repairs of what dead members left, damage. Of what this process does and meets, from now on, and
    /// while it opened the container. The library writes no log of its own: a program that has one prints these there.
    /// Costs nothing where no caller asks for it.
    public var diagnostics: Diagnostics { Diagnostics(DiagnosticSubscription(member)) }

    /// The same, for a thread that may wait.
    public func followDiagnostics() -> DiagnosticFollower { DiagnosticFollower(DiagnosticSubscription(member)) }
}

extension Member {
    var diagnostics: DiagnosticDesk { journal.log.surroundings.diagnostics }
}
