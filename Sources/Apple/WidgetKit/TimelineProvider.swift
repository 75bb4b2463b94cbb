/// A type that makes the entries of a widget.
///
///     struct Provider: TimelineProvider {
///         func placeholder(in context: Context) -> NextTodo { NextTodo(date: Date(), title: "…") }
///
///         func getSnapshot(in context: Context, completion: @escaping (NextTodo) -> Void) {
///             completion(NextTodo(date: Date(), title: readTitle()))
///         }
///
///         func getTimeline(in context: Context, completion: @escaping (Timeline<NextTodo>) -> Void) {
///             completion(Timeline(entries: [NextTodo(date: Date(), title: readTitle())], policy: .never))
///         }
///     }
///
///     try await Provider().runAsWidget(ofKind: "next-todo") { WidgetView(lines: [.init($0.title)]) }
///
/// A handler may be called from any thread, also after the method has returned. The first call counts; later ones are
/// ignored. If the handler is not called before the deadline of the refresh, the refresh has failed: what is shown
/// stays, and a call after that is ignored.
public protocol TimelineProvider {
    /// What the widget shows from a date on.
    associatedtype Entry: TimelineEntry

    /// The display mode and the size for which entries are made.
    typealias Context = TimelineProviderContext

    /// Returns what is shown before the first refresh.
    func placeholder(in context: Context) -> Entry

    /// Calls the handler with an entry for the present. A refresh calls this method only if the timeline is empty.
    func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void)

    /// Calls the handler with the entries for the present and the future, and with when to refresh the widget although
    /// nothing that concerns it has changed.
    func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void)
}
