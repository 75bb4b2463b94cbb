/// What a host shows of one widget at one moment. Two that are equal look the same, so only another one is drawn.
package struct Panel: Hashable, Sendable {
    /// The widget's kind.
    package let kind: String
    /// What stands above it: its view's title, else its manifest's.
    package var title: String
    /// What its process does.
    package var state: Lifecycle
    /// Somebody sees it: it is not folded away or scrolled out.
    package var isVisible: Bool
    /// What is shown now; nil: nothing has come yet.
    package var view: WidgetView?
    /// The view stands for what has not come yet.
    package var isPlaceholder: Bool
    /// When the view came, in nanoseconds since 1970: its age is shown where a note says that something is wrong.
    package var renderedAt: Int64?
    /// Nil: all is well.
    package var note: PanelNote?
    /// How much is shown.
    package var displayMode: DisplayMode
    /// It can be shown in the other display mode.
    package var isExpandable: Bool
    /// The room that it takes, title aside; never more than the host's maximum.
    package var size: WidgetSize

    package init(
        kind: String, title: String, state: Lifecycle = .notRunning, isVisible: Bool = true, view: WidgetView? = nil,
        isPlaceholder: Bool = false, renderedAt: Int64? = nil, note: PanelNote? = nil,
        displayMode: DisplayMode = .compact, isExpandable: Bool = false, size: WidgetSize = .none
    ) {
        (self.kind, self.title, self.state, self.isVisible) = (kind, title, state, isVisible)
        (self.view, self.isPlaceholder, self.renderedAt, self.note) = (view, isPlaceholder, renderedAt, note)
        (self.displayMode, self.isExpandable, self.size) = (displayMode, isExpandable, size)
    }
}

extension WidgetSize {
    /// No room.
    package static var none: WidgetSize { WidgetSize(columns: 0, rows: 0) }
}
