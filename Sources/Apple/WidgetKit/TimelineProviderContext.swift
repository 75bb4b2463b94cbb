public import Foundation
import Widgets

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
