public import Foundation
import Widgets

/// A type that makes the entries of a widget.
///
///     struct Provider: TimelineProvider {
///         func placeholder(in context: Context) -> NextTodo { NextTodo(date: Date(), title: "…") }
///
///         func getSnapshot(in context: Context, completion: @escaping (NextTodo) -> Void) {
///             completion(NextTodo(date: Date(), title: readTitle()))
///         }
///
///         func getTimeline(in context: Context, completion: @escaping (Timeline<NextTodo>) -> Void) {
///             completion(Timeline(entries: [NextTodo(date: Date(), title: readTitle())], policy: .never))
///         }
///     }
///
///     try await Provider().runAsWidget(ofKind: "next-todo") { WidgetView(lines: [.init($0.title)]) }
///
/// A handler may be called from any thread, also after the method has returned. The first call counts; later ones are
/// ignored. If the handler is not called before the deadline of the refresh, the refresh has failed: what is shown
/// stays, and a call after that is ignored.
public protocol TimelineProvider {
    /// What the widget shows from a date on.
    associatedtype Entry: TimelineEntry

    /// The display mode and the size for which entries are made.
    typealias Context = TimelineProviderContext

    /// Returns what is shown before the first refresh.
    func placeholder(in context: Context) -> Entry

    /// Calls the handler with an entry for the present. A refresh calls this method only if the timeline is empty.
    func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void)

    /// Calls the handler with the entries for the present and the future, and with when to refresh the widget although
    /// nothing that concerns it has changed.
    func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void)
}

/// The size of a widget.
public enum WidgetFamily: Int, Sendable, CaseIterable, CustomStringConvertible {
    /// The widget in its compact display mode.
    case systemSmall
    /// No host uses this size.
    case systemMedium
    /// The widget in its expanded display mode.
    case systemLarge
    /// No host uses this size.
    case systemExtraLarge
    /// No host uses this size.
    case accessoryCorner
    /// No host uses this size.
    case accessoryCircular
    /// No host uses this size.
    case accessoryRectangular
    /// No host uses this size.
    case accessoryInline

    /// The name of the size.
    public var description: String {
        switch self {
        case .systemSmall: "systemSmall"
        case .systemMedium: "systemMedium"
        case .systemLarge: "systemLarge"
        case .systemExtraLarge: "systemExtraLarge"
        case .accessoryCorner: "accessoryCorner"
        case .accessoryCircular: "accessoryCircular"
        case .accessoryRectangular: "accessoryRectangular"
        case .accessoryInline: "accessoryInline"
        }
    }

    init(_ mode: WidgetDisplayMode) {
        switch mode {
        case .compact: self = .systemSmall
        case .expanded: self = .systemLarge
        }
    }
}

/// The display mode and the size for which a provider makes entries.
public struct TimelineProviderContext: Sendable {
    /// The size of the widget: `systemSmall` if it is compact, `systemLarge` if it is expanded.
    public let family: WidgetFamily
    /// False: there is no gallery of widgets.
    public let isPreview: Bool
    /// The largest size that can be shown, in character cells: the width in columns, the height in rows.
    public let displaySize: CGSize

    init(_ environment: WidgetEnvironment) {
        family = WidgetFamily(environment.displayMode)
        isPreview = false
        displaySize = CGSize(width: environment.maximumSize.columns, height: environment.maximumSize.rows)
    }
}
