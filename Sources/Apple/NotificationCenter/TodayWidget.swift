import Foundation
public import GroupContainer
import GroupWidgetAdapters
public import Widgets

/// The provider of a widget that an `NCWidgetProviding` object updates, for all calls that take a provider: a program
/// that shows itself, a status bar, a test. `runAsWidget` is the call for a widget under a host.
public struct TodayWidget<Object: NCWidgetProviding>: WidgetProvider, AppearingProvider {
    /// The kind of a widget that is not given one; `TodayWidget(…, kind:)` always gives one.
    public static var kind: String { "today" }

    /// The widget's kind, which takes the place of the bundle identifier.
    public let kind: String
    /// What concerns the widget; every item, and every key of the group defaults, if the list is empty.
    public let interests: [WidgetInterest]
    /// The time after which the object is updated although nothing that concerns it has changed; nil for no such time.
    public let interval: Duration?
    private let updated: UpdatedObject<Object>
    private let presses: PressHandler

    /// Creates the provider. `view` makes what is shown of the object, after an update. `interval` is the time after
    /// which the object is updated although nothing that concerns it has changed. `items` and `perform` do what a press
    /// of a button or a toggle of the view requests: see `WidgetProvider.perform(_:on:)`.
    @MainActor public init(
        _ object: Object, kind: String, interests: [WidgetInterest] = [],
        updatesEvery interval: Duration? = .seconds(900),
        items: @escaping @Sendable (WidgetAction) -> [AccessIntent] = { _ in [] },
        perform: (@Sendable (WidgetAction, Access) throws -> Void)? = nil,
        view: @escaping @MainActor (Object) -> WidgetView
    ) {
        self.kind = kind
        self.interests = interests
        self.interval = interval
        presses = PressHandler(items: items, perform: perform)
        updated = UpdatedObject(object, view)
    }

    /// Updates the object, unless the widget has no content. If the display mode or the size is another one than
    /// before, the object gets them first.
    public func performUpdate(in context: WidgetContext) async throws -> UpdateResult {
        guard try hasContent(context) else { return .newData }
        return UpdateResult(await updated.update(in: context))
    }

    /// Makes the view of the object; a view without lines if the widget has no content.
    public func snapshot(in context: WidgetContext) async throws -> WidgetView {
        guard try hasContent(context) else { return WidgetView(lines: []) }
        return await updated.shown
    }

    /// Makes a timeline of the view, which requests the next refresh for the end of the interval, or of a countdown in
    /// the view if that is sooner.
    public func timeline(in context: WidgetContext) async throws -> Timeline<WidgetView> {
        let view = try await snapshot(in: context)
        var dates = view.lines.compactMap(\.countdown).filter { $0 > context.date }
        if let interval { dates.append(context.date.addingTimeInterval(interval / .seconds(1))) }
        return Timeline(first: .init(snapshot: view), policy: dates.min().map { .after($0) } ?? .never)
    }

    private func hasContent(_ context: WidgetContext) throws(CoordinationError) -> Bool {
        try ContentFlag(ofKind: kind, in: context.container).isSet
    }

    /// Returns the items that a press reads or changes.
    public func items(for action: WidgetAction) -> [AccessIntent] { presses.items(action) }

    /// Does what a press requests.
    public func perform(_ action: WidgetAction, on access: Access) throws { try presses.perform(action, on: access) }
}

/// A widget's object, and the environment that the object got last.
@MainActor private final class UpdatedObject<Object: NCWidgetProviding> {
    private let object: Object
    private let view: @MainActor (Object) -> WidgetView
    private var environment: WidgetEnvironment?

    init(_ object: Object, _ view: @escaping @MainActor (Object) -> WidgetView) {
        self.object = object
        self.view = view
    }

    func update(in context: WidgetContext) async -> NCUpdateResult {
        let environment = context.environment
        if self.environment == nil { object.viewDidLoad() }
        if self.environment == nil || context.appears { object.viewWillAppear(false) }
        reportTimers()
        if environment != self.environment {
            self.environment = environment
            object.widgetActiveDisplayModeDidChange(
                NCWidgetDisplayMode(environment.displayMode), withMaximumSize: environment.maximumSize.cells)
        }
        let result = await object.widgetPerformUpdate()
        reportTimers()
        return result
    }

    /// Says that there is a timer in the run loop of this thread, which nothing runs.
    private func reportTimers() {
        if RunLoop.current.limitDate(forMode: .default) == nil { return }
        reportOnce(
            "\(Object.self) has scheduled a timer, and no timer fires in a widget: show a countdown "
                + "(WidgetView.Line(countdown:)), or pass 'updatesEvery'")
    }

    var shown: WidgetView { view(object) }
}

extension NCWidgetProviding {
    /// Runs this object as the widget of a kind: exchanges messages with the host that started this process, until the
    /// host ends it.
    /// - `kind` is the kind in the widget's manifest.
    /// - `interests` is what concerns the widget: a change of anything else causes no update. By default every item
    ///   concerns the widget, and every key of the group defaults.
    /// - `interval` is the time after which the widget is updated although nothing that concerns it has changed; nil
    ///   for no such time. The widget is also updated at the end of each countdown of its view. While it is not
    ///   visible, its budget may move an update to a later time.
    /// - `container` is by default that of the host.
    /// - `items` returns the items that a press of a button or a toggle of the view reads or changes, and `perform` does
    ///   what the press requests, in a transaction of these items, as the `perform()` of an intent. Without `perform`
    ///   presses are refused.
    /// - `view` makes what is shown of the object, after an update.
    ///
    /// Errors: `notFound` if there is no host and no container; those of `Container(path:)`, and of the streams.
    @MainActor public func runAsWidget(
        ofKind kind: String, interests: [WidgetInterest] = [], updatesEvery interval: Duration? = .seconds(900),
        in container: Container? = nil,
        items: @escaping @Sendable (WidgetAction) -> [AccessIntent] = { _ in [] },
        perform: (@Sendable (WidgetAction, Access) throws -> Void)? = nil,
        view: @escaping @MainActor (Self) -> WidgetView
    ) async throws {
        let container = try Container.chosen(
            container, for: "run as a widget", advice: "pass it: runAsWidget(…, in: container)")
        let widget = TodayWidget(
            self, kind: kind, interests: interests, updatesEvery: interval, items: items, perform: perform, view: view)
        try await WidgetProgram(widget, in: container).converse()
    }
}
