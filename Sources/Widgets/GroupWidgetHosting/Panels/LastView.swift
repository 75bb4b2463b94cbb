// Imports nothing: no file, clock or process.

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
