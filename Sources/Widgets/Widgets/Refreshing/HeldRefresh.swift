public import GroupContainer
import GroupSystemCalls

/// A refresh of a widget that is begun and ended by separate calls, for code that is no `WidgetProvider`: a program in
/// another language, a loop of its own.
///
///     let refresh = try HeldRefresh(ofKind: "clock", in: container, interests: [.path("notes/**")])
///     if refresh.isNeeded {
///         let result = try refresh.finish(rendered: draw()) { snapshot in try show(snapshot) }
///     }
///
/// The guarantees are those of `WidgetRefresh`: refreshes of one kind exclude each other between processes, no change
/// between two refreshes is missed, and the widget's position moves on only after the snapshot was delivered. A refresh
/// that ends without `finish`, with the last reference to this object or with the process, has failed: the next one
/// gets the same changes again.
public final class HeldRefresh: Sendable {
    private let session: RefreshSession
    private let holding: Guarded<PrivateFile.Holding?>

    /// The most bytes of a snapshot: 32 MiB.
    public static let longestSnapshot = 32 << 20

    /// The changes of items since the last refresh that concern the widget.
    public var changes: [Change] { session.changes }
    /// The changes of keys since the last refresh that concern the widget.
    public var keyChanges: [DefaultsChange] { session.keyChanges }
    /// The snapshot that was delivered last; nil where none was.
    public var lastSnapshot: [UInt8]? { session.lastSnapshot }
    /// Whether there is something to render. Otherwise nothing that concerns the widget has changed, and the refresh
    /// has ended: its result is `noData`.
    public let isNeeded: Bool

    /// Waits for other refreshes of the kind, blocking the thread, at most `timeout` (nil: forever); then finds what
    /// changed. With `isReload`, there is something to render in any case. Errors: those of
    /// `WidgetRefresh.performUpdate`; `cancelled` when the token is.
    public init(
        ofKind kind: String, in container: Container, interests: [WidgetInterest], isReload: Bool = false,
        timeout: Duration? = Coordinator.lockTimeout, orUntil token: CancellationToken? = nil
    ) throws(CoordinationError) {
        let file = try RefreshSession.file(ofKind: kind, in: container)
        let held = try file.holdBlocking("refresh", timeout: timeout, orUntil: token)
        do throws(CoordinationError) {
            session = try RefreshSession(
                file, container, interests: interests, isReload: isReload, renderer: .purpose(kind))
            isNeeded = try session.answerWithoutRendering() == nil
        } catch {
            held.end()
            throw error
        }
        if !isNeeded { held.end() }
        holding = Guarded(isNeeded ? held : nil)
    }

    deinit { holding.withLock { $0 }?.end() }

    /// Ends the refresh with what the widget shows. Calls `deliver` if that differs from what it has shown, and only
    /// then moves the widget's position: after a crash in between, the snapshot is delivered again. Returns `newData`
    /// or `noData`. Errors: those of `deliver`, after which the refresh has failed; `invalidArgument` where the refresh
    /// has ended, or the snapshot is too large
    @discardableResult
    public func finish(
        rendered snapshot: [UInt8], delivering deliver: ([UInt8]) throws -> Void = { _ in }
    ) throws -> UpdateResult {
        if snapshot.count > Self.longestSnapshot {
            throw CoordinationError(
                .invalidArgument, operation: "refresh", reason: "a snapshot has at most \(Self.longestSnapshot) bytes",
                remedy: .init(.reduceSize, "show the path of an item that has the rest"))
        }
        let held = try take()
        defer { held.end() }
        return try session.finish(.rendered(snapshot)) { try deliver(snapshot) }
    }

    /// Ends the refresh because rendering has failed. The next refresh gets the same changes again. Error:
    /// `invalidArgument` where the refresh has ended
    public func fail() throws {
        let held = try take()
        defer { held.end() }
        _ = try session.finish(.failed) {}
    }

    private func take() throws(CoordinationError) -> PrivateFile.Holding {
        guard let held = holding.withLock({ $0.take() }) else {
            throw CoordinationError(.invalidArgument, operation: "refresh", reason: "the refresh has ended")
        }
        return held
    }
}
