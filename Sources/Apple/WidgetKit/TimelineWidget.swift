import Foundation
public import GroupContainer
import GroupWidgetAdapters
public import Widgets

/// The provider of a widget whose entries a `TimelineProvider` makes, for all calls that take a provider of `Widgets`:
/// a program that shows itself, a status bar, a test. `runAsWidget` is the call for a widget under a host.
public struct TimelineWidget<Provider: TimelineProvider & Sendable>: WidgetProvider {
    /// The kind of a widget that is not given one; `TimelineWidget(…, kind:)` always gives one.
    public static var kind: String { "timeline" }

    /// The widget's kind.
    public let kind: String
    /// What concerns the widget; every item and key if the list is empty.
    public let interests: [WidgetInterest]
    private let provider: Provider
    private let clock: any WidgetClock
    private let view: @Sendable (Provider.Entry) -> WidgetView
    private let presses: PressHandler

    /// Creates the provider. `view` makes what is shown of an entry. `clock` gives the time at which entries are due.
    /// `items` and `perform` do what a press of a button or a toggle of the view requests: see
    /// `WidgetProvider.perform(_:on:)`.
    public init(
        _ provider: Provider, kind: String, interests: [WidgetInterest] = [],
        clock: any WidgetClock = SystemWidgetClock(),
        items: @escaping @Sendable (WidgetAction) -> [AccessIntent] = { _ in [] },
        perform: (@Sendable (WidgetAction, Access) throws -> Void)? = nil,
        view: @escaping @Sendable (Provider.Entry) -> WidgetView
    ) {
        self.provider = provider
        self.kind = kind
        self.interests = interests
        self.clock = clock
        presses = PressHandler(items: items, perform: perform)
        self.view = view
    }

    /// The view of the provider's placeholder.
    public var placeholder: WidgetView? {
        view(provider.placeholder(in: TimelineProviderContext(WidgetEnvironment())))
    }

    /// Makes the view of the provider's snapshot.
    public func snapshot(in context: WidgetContext) async throws -> WidgetView {
        try await firstReply { [view] reply in
            provider.getSnapshot(in: TimelineProviderContext(context.environment)) { reply(view($0)) }
        }
    }

    /// Makes the views of the provider's timeline; if it has no entries, that of the provider's snapshot.
    public func timeline(in context: WidgetContext) async throws -> Widgets.Timeline<WidgetView> {
        let rendered = try await firstReply { [view, clock] reply in
            provider.getTimeline(in: TimelineProviderContext(context.environment)) {
                reply(RenderedTimeline($0, at: clock.date, view))
            }
        }
        let later = Array(rendered.entries.dropFirst())
        if let first = rendered.entries.first {
            return Widgets.Timeline(first: first, later: later, policy: rendered.policy)
        }
        return Widgets.Timeline(first: .init(snapshot: try await snapshot(in: context)), policy: rendered.policy)
    }

    /// Returns the items that a press reads or changes.
    public func items(for action: WidgetAction) -> [AccessIntent] { presses.items(action) }

    /// Does what a press requests.
    public func perform(_ action: WidgetAction, on access: Access) throws { try presses.perform(action, on: access) }
}

extension TimelineProvider where Self: Sendable {
    /// Runs this provider as the widget of a kind: exchanges messages with the host that started this process, until
    /// the host ends it.
    /// - `kind` is the kind in the widget's manifest.
    /// - `interests` is what concerns the widget: a change of anything else causes no refresh. By default every item
    ///   concerns the widget, and every key of the group defaults.
    /// - `container` is by default that of `WidgetCenter.shared`, which is by default that of the host.
    /// - `items` returns the items that a press of a button or a toggle of the view reads or changes, and `perform` does
    ///   what the press requests, in a transaction of these items, as the `perform()` of an intent. Without `perform`
    ///   presses are refused.
    /// - `view` makes what is shown of an entry.
    ///
    /// Errors: `notFound` if there is no host and no container; those of `Container(path:)`, and of the streams.
    public func runAsWidget(
        ofKind kind: String, interests: [WidgetInterest] = [], in container: Container? = nil,
        items: @escaping @Sendable (WidgetAction) -> [AccessIntent] = { _ in [] },
        perform: (@Sendable (WidgetAction, Access) throws -> Void)? = nil,
        view: @escaping @Sendable (Entry) -> WidgetView
    ) async throws {
        let container = try Container.chosen(
            container ?? WidgetCenter.shared.container, for: "run as a widget",
            advice: "pass it: runAsWidget(…, in: container)")
        let widget = TimelineWidget(
            self, kind: kind, interests: interests, items: items, perform: perform, view: view)
        try await WidgetProgram(widget, in: container).converse()
    }
}
