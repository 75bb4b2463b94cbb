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
    /// The presses that have no result yet, and those that were performed and that the view does not show yet.
    package var pressed: [WidgetAction]

    package init(
        kind: String, title: String, state: Lifecycle = .notRunning, isVisible: Bool = true, view: WidgetView? = nil,
        isPlaceholder: Bool = false, renderedAt: Int64? = nil, note: PanelNote? = nil,
        displayMode: WidgetDisplayMode = .compact, isExpandable: Bool = false, size: WidgetSize = .none,
        pressed: [WidgetAction] = []
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
        self.pressed = pressed
    }

    /// Returns what a press of a control requests now: of a toggle, the opposite of what it was requested to be last.
    package func action(of control: WidgetView.Control) -> WidgetAction {
        guard let last = pressed.last(where: { $0.id == control.id })?.isOn else { return control.action }
        return WidgetAction(id: control.id, isOn: !last)
    }

    /// Whether a press of a control has no result yet.
    package func isPressed(_ control: WidgetView.Control) -> Bool { pressed.contains { $0.id == control.id } }
}

extension WidgetSize {
    /// No room.
    package static var none: WidgetSize { WidgetSize(columns: 0, rows: 0) }
}

/// Why a panel does not show what it should, and when it will.
package struct PanelNote: Hashable, Sendable {
    /// The reason.
    package enum Subject: Hashable, Sendable {
        /// The process ended by itself, or was ended for this reason; the last snapshot is shown.
        case ended(String)
        /// The provider failed, with this cause; the last snapshot is shown.
        case failed(String)
        /// A refresh waits for its turn.
        case deferred(RefreshSchedule.Reason)
        /// The widget has not answered yet: the view of an earlier host is shown.
        case old
        /// A press was not performed, or it is not known whether it was, for this reason.
        case pressed(String)
        /// The widget runs although it is not visible, as other processes would wait for its locks.
        case held(String)
    }

    package var subject: Subject
    /// When the next try is, in nanoseconds since 1970; nil if none is scheduled.
    package var again: Int64?

    package init(_ subject: Subject, again: Int64? = nil) { (self.subject, self.again) = (subject, again) }

    /// Whether something is wrong, not only late.
    package var isFault: Bool {
        switch subject {
        case .deferred, .old, .held: false
        case .ended, .failed, .pressed: true
        }
    }

    /// Whether the view may be outdated, so that its age is shown.
    package var showsAge: Bool {
        switch subject {
        case .ended, .failed, .old: true
        case .deferred, .held, .pressed: false
        }
    }

    /// The text for people, without the time.
    package var text: String {
        switch subject {
        case .ended(let how): how
        case .pressed(let how): how
        case .failed(let cause): "failed: \(cause)"
        case .old: "not refreshed yet"
        case .held(let what): "not suspended: \(what)"
        case .deferred(.budget): "deferred: budget"
        case .deferred(.backOff): "deferred: failure"
        case .deferred(.timeline): "deferred: timeline"
        }
    }
}

/// What a widget showed, and in which environment, so that a new host has something to show while the widget starts.
package struct LastView: Hashable, Sendable {
    package var timeline: Timeline<WidgetView>
    /// The time of the rendering, in nanoseconds since 1970.
    package var renderedAt: Int64
    package var environment: WidgetEnvironment

    package init(_ timeline: Timeline<WidgetView>, renderedAt: Int64, for environment: WidgetEnvironment) {
        self.timeline = timeline
        self.renderedAt = renderedAt
        self.environment = environment
    }
}
