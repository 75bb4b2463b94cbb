/// How much of a widget is shown.
public enum DisplayMode: String, Codable, Hashable, Sendable, CaseIterable {
    /// A glance: the host decides how much room there is.
    case compact
    /// Everything that the widget has, up to the host's maximum.
    case expanded
}

/// Room in character cells.
public struct WidgetSize: Codable, Hashable, Sendable {
    /// Of a terminal: a wide character takes two.
    public var columns: Int
    /// Lines.
    public var rows: Int

    /// In cells.
    public init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }

    /// No more than that in either direction, and nothing negative.
    public func clipped(to maximum: WidgetSize) -> WidgetSize {
        WidgetSize(columns: max(0, min(columns, maximum.columns)), rows: max(0, min(rows, maximum.rows)))
    }
}

/// What a widget is shown in. The same data may look another way in another environment.
public struct WidgetEnvironment: Codable, Hashable, Sendable {
    /// How much is asked for.
    public var displayMode: DisplayMode
    /// The most that can be shown; what is larger is clipped.
    public var maximumSize: WidgetSize

    /// A glance, three lines of a terminal, unless told.
    public init(
        displayMode: DisplayMode = .compact, maximumSize: WidgetSize = WidgetSize(columns: 80, rows: 3)
    ) {
        (self.displayMode, self.maximumSize) = (displayMode, maximumSize)
    }
}
