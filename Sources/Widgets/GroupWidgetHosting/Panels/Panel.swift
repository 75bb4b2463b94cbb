// Imports nothing: no file, clock or process.

/// What a host shows of one widget at one moment. Equal panels look the same, so only a changed panel is drawn.
package struct Panel: Hashable, Sendable {
    /// The widget's kind.
    package let kind: String
    /// The title: the view's, else the manifest's.
    package var title: String
    /// The state of the widget's process.
    package var state: Lifecycle
    /// Whether the widget is visible: neither folded away nor scrolled out.
    package var isVisible: Bool
    /// What is shown now; nil as long as there is no view.
    package var view: WidgetView?
    /// Whether the view is the placeholder.
    package var isPlaceholder: Bool
    /// When the view arrived, in nanoseconds since 1970: its age is shown with a note about a fault.
    package var renderedAt: Int64?
    /// Why the panel does not show what it should; nil if all is well.
    package var note: PanelNote?
    /// How much is shown.
    package var displayMode: WidgetDisplayMode
    /// Whether the widget has another display mode.
    package var isExpandable: Bool
    /// The size without the title; at most the host's maximum.
    package var size: WidgetSize

    package init(
        kind: String, title: String, state: Lifecycle = .notRunning, isVisible: Bool = true, view: WidgetView? = nil,
        isPlaceholder: Bool = false, renderedAt: Int64? = nil, note: PanelNote? = nil,
        displayMode: WidgetDisplayMode = .compact, isExpandable: Bool = false, size: WidgetSize = .none
    ) {
        self.kind = kind
        self.title = title
        self.state = state
        self.isVisible = isVisible
        self.view = view
        self.isPlaceholder = isPlaceholder
        self.renderedAt = renderedAt
        self.note = note
        self.displayMode = displayMode
        self.isExpandable = isExpandable
        self.size = size
    }
}

extension WidgetSize {
    /// No room.
    package static var none: WidgetSize { WidgetSize(columns: 0, rows: 0) }
}
