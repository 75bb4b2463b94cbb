/// How much of a widget is shown.
public enum WidgetDisplayMode: String, Codable, Hashable, Sendable, CaseIterable {
    /// A summary: the host decides how much room there is.
    case compact
    /// The whole widget, up to the host's maximum.
    case expanded
}

/// A size in character cells.
public struct WidgetSize: Codable, Hashable, Sendable {
    /// The columns of a terminal: a wide character takes two.
    public var columns: Int
    /// The lines.
    public var rows: Int

    /// Creates a size in cells.
    public init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }

    /// Returns the size, limited to `maximum` in each direction, and never negative.
    public func clipped(to maximum: WidgetSize) -> WidgetSize {
        WidgetSize(columns: max(0, min(columns, maximum.columns)), rows: max(0, min(rows, maximum.rows)))
    }
}

/// The environment of a widget. The same data may look different in another environment.
public struct WidgetEnvironment: Codable, Hashable, Sendable {
    /// How much of the widget to show.
    public var displayMode: WidgetDisplayMode
    /// The largest size that can be shown; a larger view is clipped.
    public var maximumSize: WidgetSize

    /// Creates an environment: by default compact, with three lines of a terminal.
    public init(
        displayMode: WidgetDisplayMode = .compact, maximumSize: WidgetSize = WidgetSize(columns: 80, rows: 3)
    ) {
        self.displayMode = displayMode
        self.maximumSize = maximumSize
    }
}
