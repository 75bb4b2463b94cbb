import Foundation
import Widgets

/// How much of a widget is shown.
public enum NCWidgetDisplayMode: Int, Sendable {
    /// A summary.
    case compact
    /// The whole widget.
    case expanded
}

extension NCWidgetDisplayMode {
    init(_ mode: WidgetDisplayMode) {
        switch mode {
        case .compact: self = .compact
        case .expanded: self = .expanded
        }
    }
}

extension WidgetSize {
    /// The size in character cells: the width in columns, the height in rows.
    var cells: CGSize { CGSize(width: columns, height: rows) }
}
