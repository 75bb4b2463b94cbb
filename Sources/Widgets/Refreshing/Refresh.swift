import FoundationEssentials
public import GroupContainer

/// A widget's question: is there something new for me?
///
/// Guarantees: what changed between two refreshes is never missed, whether or not anybody ran in between, and whether
/// it was made with or without coordination. The widget's place moves on only after the snapshot was delivered, so
/// after a crash the same change is answered again. Refreshes of one kind exclude each other between processes.
public struct Refresh<Provider: WidgetProvider>: Sendable {
    private let provider: Provider
    private let container: Container
    private let timeout: Duration?
    private let onFailure: @Sendable (any Error) -> Void

    /// `timeout` is how long to wait for another refresh of the same kind; nil: for ever.
    /// `onFailure` gets what the provider threw, when the answer is `failed`.
    public init(
        _ provider: Provider, in container: Container, timeout: Duration? = .seconds(30),
        onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        (self.provider, self.container, self.timeout, self.onFailure) = (provider, container, timeout, onFailure)
    }

    /// Refreshes once. `deliver` gets a snapshot that is another one than the last. Throws what `deliver` throws, and
    /// `CoordinationError`: `leaseTimedOut`, `damaged` (once, if it is the widget's record: it is put aside, and the
    /// next refresh begins anew), `newerFormat`, `invalidArgument` (its kind, or a suite's name). What the provider throws
    /// is `failed`.
    public func performUpdate(_ deliver: (Provider.Snapshot) throws -> Void = { _ in }) async throws -> UpdateResult {
        let file = try RefreshSession.file(ofKind: provider.kind, in: container)
        let holding = try await file.hold("refresh", timeout: timeout)
        defer { holding.end() }
        let session = try RefreshSession(file, container, interests: provider.interests)
        if let answer = try session.answerWithoutRendering() { return answer }
        let coordinator = container.coordinator(purpose: provider.kind)
        let context = Context(
            container: container, coordinator: coordinator, changes: session.changes, keyChanges: session.keyChanges)
        let (snapshot, encoded): (Provider.Snapshot, [UInt8])
        do {
            snapshot = try await provider.snapshot(in: context)
            encoded = try Self.encode(snapshot)
        } catch {
            onFailure(error)
            return try session.finish(.failed) {}
        }
        return try session.finish(.rendered(encoded)) { try deliver(snapshot) }
    }

    private static func encode(_ snapshot: Provider.Snapshot) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(snapshot))
    }
}
