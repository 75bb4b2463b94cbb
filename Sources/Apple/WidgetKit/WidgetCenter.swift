import Dispatch
public import GroupContainer
import GroupSystemCalls
import GroupWidgetAdapters
import Widgets

/// A widget that a host shows, or could show.
public struct WidgetInfo: Hashable, Sendable, Identifiable, CustomDebugStringConvertible {
    /// The widget's kind.
    public let kind: String
    /// The widget's size, from its display mode.
    public let family: WidgetFamily

    init(_ widget: PresentWidget) { (kind, family) = (widget.kind, WidgetFamily(widget.displayMode)) }

    /// The value itself.
    public var id: Self { self }

    /// The kind and the size.
    public var debugDescription: String { "WidgetInfo(kind: \(kind), family: \(family))" }
}

/// An app's access to the widgets of its container, whichever hosts show them.
///
/// An app sets the container once, when it starts:
///
///     import GroupContainer
///
///     WidgetCenter.shared.container = try Container(group: "group.com.example.todo")
///
/// In a widget's process, which a host has started, the container is that of the host.
public final class WidgetCenter: Sendable {
    /// The center of this process.
    public static let shared = WidgetCenter()

    private let chosen = Guarded<Container?>(nil)

    init() {}

    /// The container whose widgets the calls are about; nil, the default, means that of the host that started this
    /// process.
    public var container: Container? {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }

    /// Requests that the widgets of a kind are rendered anew, although nothing that concerns them has changed.
    ///
    /// An error (there is no container, `kind` is not a valid kind, those of `GroupDefaults.set`) is written to
    /// standard error.
    public func reloadTimelines(ofKind kind: String) {
        reportingErrors { try center(for: "reload timelines").reloadTimelines(ofKind: kind) }
    }

    /// Requests that the widgets of all kinds are rendered anew. An error (there is no container, those of
    /// `GroupDefaults.set`) is written to standard error.
    public func reloadAllTimelines() {
        reportingErrors { try center(for: "reload timelines").reloadAllTimelines() }
    }

    /// Calls the handler once, on another thread, with the widgets that hosts show, sorted by kind, or with the error:
    /// `notFound` if there is no container, and those of `Widgets.WidgetCenter.presentWidgets`.
    public func getCurrentConfigurations(_ completion: @escaping @Sendable (Result<[WidgetInfo], any Error>) -> Void) {
        DispatchQueue.global().async {
            completion(
                Result { try self.center(for: "list the widgets").presentWidgets().map { WidgetInfo($0) } })
        }
    }

    /// Returns the widgets that hosts show, sorted by kind. Errors: `notFound` if there is no container, and those of
    /// `Widgets.WidgetCenter.presentWidgets`.
    public func currentConfigurations() async throws -> [WidgetInfo] {
        try await withCheckedThrowingContinuation { continuation in
            getCurrentConfigurations { continuation.resume(with: $0) }
        }
    }

    private func center(for operation: String) throws(CoordinationError) -> Widgets.WidgetCenter {
        try Widgets.WidgetCenter(
            Container.chosen(container, for: operation, advice: "set WidgetCenter.shared.container"))
    }
}
