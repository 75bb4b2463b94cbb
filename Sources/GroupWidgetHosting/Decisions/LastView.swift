/// What a widget showed, and for what: so that a host which has just begun has something to show while the widget starts.
package struct LastView: Hashable, Sendable {
    package var timeline: Timeline<WidgetView>
    /// In nanoseconds since 1970.
    package var renderedAt: Int64
    package var environment: WidgetEnvironment

    package init(_ timeline: Timeline<WidgetView>, renderedAt: Int64, for environment: WidgetEnvironment) {
        (self.timeline, self.renderedAt, self.environment) = (timeline, renderedAt, environment)
    }
}
