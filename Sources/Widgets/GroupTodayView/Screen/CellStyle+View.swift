// Imports nothing: no file, clock or process.

extension CellStyle {
    /// Creates the style of a widget's line.
    package init(_ style: WidgetView.Style) {
        switch style {
        case .normal: self = .plain
        case .prominent: self = .bold
        case .secondary: self = .faint
        case .good: self = CellStyle(.green)
        case .warning: self = CellStyle(.yellow, isBold: true)
        }
    }
}
