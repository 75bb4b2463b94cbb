import Foundation
import GroupContainer
import GroupContainerTesting
import GroupSystemCalls
import NotificationCenter
import Testing
import Widgets

/// An object that handles an update as the test sets, and counts its updates.
@MainActor private final class Scripted: NCWidgetProviding {
    var reply: (@escaping @Sendable (NCUpdateResult) -> Void) -> Void = { $0(.newData) }
    var updates = 0
    var text = "one"

    func widgetPerformUpdate(completionHandler: @escaping @Sendable (NCUpdateResult) -> Void) {
        updates += 1
        reply(completionHandler)
    }
}

/// An object with none of the optional methods.
private final class Plain: NCWidgetProviding { var text = "one" }

/// An object that counts its updates.
@MainActor private protocol Updated: NCWidgetProviding { var updates: Int { get } }

/// An object from before Swift 3.
@MainActor private final class Old: Updated {
    var updates = 0
    func widgetPerformUpdateWithCompletionHandler(completionHandler: @escaping (NCUpdateResult) -> Void) {
        updates += 1
        completionHandler(.newData)
    }
}

/// An object from before Swift 3 whose handler may be nil, as the first template had it.
@MainActor private final class Older: Updated {
    var updates = 0
    func widgetPerformUpdateWithCompletionHandler(completionHandler: ((NCUpdateResult) -> Void)?) {
        updates += 1
        completionHandler?(.newData)
    }
}

/// An object whose handler may be nil.
@MainActor private final class Unsure: Updated {
    var updates = 0
    func widgetPerformUpdate(completionHandler: ((NCUpdateResult) -> Void)?) {
        updates += 1
        completionHandler?(.newData)
    }
}

/// An object as the template of Xcode 6 has it, which also knows when it was loaded.
@MainActor private final class Oldest: Updated {
    var updates = 0
    var calls: [String] = []
    func viewDidLoad() { calls.append("loaded") }
    func viewWillAppear(_ animated: Bool) { calls.append("appears") }
    func widgetPerformUpdateWithCompletionHandler(completionHandler: ((NCUpdateResult) -> Void)!) {
        updates += 1
        calls.append("updated")
        completionHandler(.newData)
    }
}

/// An object with the present name, and an implicitly unwrapped handler.
@MainActor private final class Unwrapping: Updated {
    var updates = 0
    func widgetPerformUpdate(completionHandler: ((NCUpdateResult) -> Void)!) {
        updates += 1
        completionHandler(NCUpdateResult.newData)
    }
}

/// A class that adopts the protocol, with a method that its subclass overrides.
@MainActor private class Adopting: Updated {
    var updates = 0
    func widgetPerformUpdate(completionHandler: @escaping (NCUpdateResult) -> Void) { completionHandler(.failed) }
}

@MainActor private final class Overriding: Adopting {
    override func widgetPerformUpdate(completionHandler: @escaping (NCUpdateResult) -> Void) {
        updates += 1
        completionHandler(.newData)
    }
}

/// An object that returns its result.
private final class Returning: NCWidgetProviding {
    var result = NCUpdateResult.newData
    func widgetPerformUpdate() async -> NCUpdateResult { result }
}

@MainActor @Suite struct `A Today widget` {
    private let temporary: TemporaryContainer
    private let object = Scripted()
    private let widget: TodayWidget<Scripted>

    private var container: Container { temporary.container }

    init() throws {
        temporary = try TemporaryContainer()
        widget = TodayWidget(object, kind: "scripted") { WidgetView(lines: [.init($0.text)]) }
    }

    private func write(_ text: String, to path: ItemPath = "list") throws {
        _ = try container.coordinator(purpose: "tests").blocking.write(
            bytes: Array(text.utf8), to: path, durability: .relaxed)
    }

    @Test func `a class that compares values is rendered for newData only`() async throws {
        try write("milk\nbread\n")
        let counter = TodayCounter(countingLinesOf: URL(filePath: temporary.path + "/list"))
        let renderings = Guarded(0)
        let widget = TodayWidget(counter, kind: "counter") { counter in
            renderings.withLock { $0 += 1 }
            return WidgetView(lines: [.init("\(counter.shown ?? 0) entries")])
        }
        #expect(widget.kind == "counter")
        let first = try await widget.refreshed(in: container)
        #expect(first.result == .newData && first.snapshot?.lines == [.init("2 entries")])
        // Nothing changed: the object is not updated.
        #expect(try await widget.refreshed(in: container).result == .noData)
        #expect(counter.updates == 1 && renderings.withLock { $0 } == 1)
        // Something changed, but not the number.
        try write("tea\nbread\n")
        #expect(try await widget.refreshed(in: container).result == .noData)
        #expect(counter.updates == 2 && renderings.withLock { $0 } == 1)
        try write("tea\n")
        #expect(try await widget.refreshed(in: container).snapshot?.lines == [.init("1 entries")])
        #expect(counter.updates == 3 && renderings.withLock { $0 } == 2)
        // Without the file the class replies failed: what is shown stays.
        try await container.coordinator(purpose: "tests").remove("list")
        let last = try await widget.refreshed(in: container)
        #expect(last.result == .failed && last.timeline == nil && last.failure is ProviderFailure)
        #expect(renderings.withLock { $0 } == 2)
    }

    private func check(_ object: some Updated, _ kind: String) async throws {
        let widget = TodayWidget(object, kind: kind) { WidgetView(lines: [.init("\($0.updates)")]) }
        #expect(try await widget.refreshed(in: container).snapshot?.lines == [.init("1")])
    }

    @Test func `a method of an older name, or with an optional handler, is called`() async throws {
        try await check(Old(), "old")
        try await check(Older(), "older")
        try await check(Unsure(), "optional")
        try await check(Unwrapping(), "unwrapped")
        let oldest = Oldest()
        try await check(oldest, "oldest")
        #expect(oldest.calls == ["loaded", "appears", "updated"])
        let widget = TodayWidget(oldest, kind: "oldest") { WidgetView(lines: [.init("\($0.updates)")]) }
        var refresh = WidgetRefresh(widget, in: container)
        _ = try await refresh.update(isReload: true) { _ in }
        refresh.appears = true
        _ = try await refresh.update(isReload: true) { _ in }
        #expect(oldest.calls.suffix(3) == ["updated", "appears", "updated"], "\(oldest.calls)")
    }

    @Test func `what a press requests is done by a closure, and refused without one`() async throws {
        let widget = TodayWidget(
            object, kind: "pressed", items: { [.writing(ItemPath($0.id))] },
            perform: { action, access in try access.write(text: "done", to: ItemPath(action.id)) }
        ) { WidgetView(lines: [.init($0.text)]) }
        let container = container
        try await WidgetProgram(widget, in: container).perform(WidgetAction(id: "list"))
        #expect(try container.coordinator(purpose: "tests").blocking.readText("list") == "done")
        await #expect(throws: (any Error).self) {
            try await WidgetProgram(self.widget, in: container).perform(WidgetAction(id: "list"))
        }
    }

    @Test func `a method of a subclass is called that overrides one of the class that adopts the protocol`()
        async throws
    {
        try await check(Overriding(), "overriding")
    }

    @Test func `an update with noData is rendered as long as there is no view`() async throws {
        object.reply = { $0(.noData) }
        #expect(try await widget.refreshed(in: container).snapshot?.lines == [.init("one")])
        object.text = "two"
        try write("changed")
        #expect(try await widget.refreshed(in: container).result == .noData)
        #expect(try await widget.refreshed(in: container, isReload: true).snapshot?.lines == [.init("two")])
    }

    @Test func `a view that looks the same after newData is noData`() async throws {
        #expect(try await widget.refreshed(in: container).result == .newData)
        try write("changed")
        #expect(try await widget.refreshed(in: container).result == .noData)
        #expect(object.updates == 2)
    }

    @Test func `a second call of the completion handler is ignored`() async throws {
        object.reply = {
            $0(.failed)
            $0(.newData)
            $0(.newData)
        }
        #expect(try await widget.refreshed(in: container).result == .failed)
        object.reply = {
            $0(.newData)
            $0(.failed)
        }
        #expect(try await widget.refreshed(in: container).result == .newData)
    }

    @Test func `the completion handler may be called later, on another thread`() async throws {
        object.reply = { handler in DispatchQueue.global().async { handler(.newData) } }
        #expect(try await widget.refreshed(in: container).result == .newData)
    }

    @Test func `an update whose completion handler is not called has failed at the deadline`() async throws {
        let clock = ManualClock()
        let kept = Guarded<(@Sendable (NCUpdateResult) -> Void)?>(nil)
        object.reply = { handler in kept.withLock { $0 = handler } }
        let (widget, container) = (widget, container)
        async let outcome = widget.refreshed(in: container, timeLimit: .seconds(5), clock: clock)
        await clock.waitUntilAwaited()
        clock.advance(by: .seconds(5))
        let (result, failure) = try await (outcome.result, outcome.failure)
        #expect(result == .failed)
        #expect("\(try #require(failure))" == "scripted: no answer within 5.0 seconds")
        // A call after the deadline has no effect, and the next update works.
        kept.withLock { $0 }?(.newData)
        #expect(try await WidgetRefresh(widget, in: container).last() == nil)
        object.reply = { $0(.newData) }
        #expect(try await widget.refreshed(in: container).result == .newData)
    }

    @Test func `an object without optional methods is rendered when something changes`() async throws {
        let object = Plain()
        let widget = TodayWidget(object, kind: "plain") { WidgetView(lines: [.init($0.text)]) }
        #expect(try await widget.refreshed(in: container).snapshot?.lines == [.init("one")])
        object.text = "two"
        #expect(try await widget.refreshed(in: container).result == .noData)
        try write("changed")
        #expect(try await widget.refreshed(in: container).snapshot?.lines == [.init("two")])
    }

    @Test func `an object may return its result instead of calling a handler`() async throws {
        let object = Returning()
        let widget = TodayWidget(object, kind: "returning") { _ in WidgetView(lines: []) }
        object.result = .failed
        #expect(try await widget.refreshed(in: container).result == .failed)
        object.result = .newData
        #expect(try await widget.refreshed(in: container).result == .newData)
    }

    @Test func `an object gets its display mode before its first update, and after each change`()
        async throws
    {
        try write("milk")
        let counter = TodayCounter(countingLinesOf: URL(filePath: temporary.path + "/list"))
        let widget = TodayWidget(counter, kind: "counter") { counter in
            WidgetView(lines: [.init("\(counter.preferredContentSize.width) \(counter.preferredContentSize.height)")])
        }
        let compact = WidgetEnvironment(displayMode: .compact, maximumSize: WidgetSize(columns: 40, rows: 3))
        let expanded = WidgetEnvironment(displayMode: .expanded, maximumSize: WidgetSize(columns: 60, rows: 20))
        let lines = try await [compact, expanded, compact].asyncMap {
            try await widget.refreshed(in: container, environment: $0).snapshot?.lines.first?.text
        }
        #expect(lines == ["40.0 3.0", "60.0 5.0", "40.0 3.0"])
        // In the same environment the method is not called again.
        counter.preferredContentSize = .zero
        try write("milk\nbread")
        _ = try await widget.refreshed(in: container, environment: compact)
        #expect(counter.preferredContentSize == .zero)
    }

    @Test func `only a change of its interests concerns a widget`() async throws {
        let widget = TodayWidget(object, kind: "scripted", interests: [.defaults("settings", key: "sorted")]) { _ in
            WidgetView(lines: [])
        }
        #expect(try await widget.refreshed(in: container).result == .newData)
        try write("changed")
        #expect(try await widget.refreshed(in: container).result == .noData)
        #expect(object.updates == 1)
        try GroupDefaults(container, suite: "settings").set(true, forKey: "sorted")
        _ = try await widget.refreshed(in: container)
        #expect(object.updates == 2)
    }

    @Test func `results and display modes have the raw values of Apple's systems`() {
        #expect([NCUpdateResult.newData, .noData, .failed].map(\.rawValue) == [0, 1, 2])
        #expect([NCWidgetDisplayMode.compact, .expanded].map(\.rawValue) == [0, 1])
    }

    @Test func `a program without a host and a container cannot run as a widget`() async throws {
        let error = await #expect(throws: CoordinationError.self) {
            try await Plain().runAsWidget(ofKind: "plain") { _ in WidgetView(lines: []) }
        }
        #expect(error?.code == .notFound)
    }

    @Test func `the class NotificationCenter of Foundation is found beside the module`() {
        #expect(FoundationNames.center === Foundation.NotificationCenter.default)
    }
}

extension Array {
    @MainActor fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

@MainActor @Suite struct `A widget controller` {
    private let temporary: TemporaryContainer
    private let object = Scripted()
    private let widget: TodayWidget<Scripted>

    private var container: Container { temporary.container }

    init() throws {
        temporary = try TemporaryContainer()
        widget = TodayWidget(object, kind: "scripted") { WidgetView(lines: [.init($0.text)]) }
    }

    @Test func `a widget without content has no lines and no updates until it has content again`() async throws {
        let center = try WidgetCenter(container)
        #expect(try await widget.refreshed(in: container).snapshot?.lines == [.init("one")])
        NCWidgetController(container).setHasContent(false, forWidgetWithBundleIdentifier: "scripted")
        let reloads = try center.reloads(ofKind: "scripted")
        #expect(reloads > 0)
        let hidden = try await widget.refreshed(in: container, isReload: true)
        #expect(hidden.result == .newData && hidden.snapshot == WidgetView(lines: []))
        #expect(object.updates == 1)
        // A widget that is started later has no content, either.
        let other = TodayWidget(object, kind: "scripted") { WidgetView(lines: [.init($0.text)]) }
        #expect(try await other.refreshed(in: container, isReload: true).result == .noData)
        NCWidgetController(container).setHasContent(true, forWidgetWithBundleIdentifier: "scripted")
        #expect(try center.reloads(ofKind: "scripted") > reloads)
        #expect(try await widget.refreshed(in: container, isReload: true).snapshot?.lines == [.init("one")])
        #expect(object.updates == 2)
    }

    @Test func `a widget of another kind keeps its content`() async throws {
        NCWidgetController(container).setHasContent(false, forWidgetWithBundleIdentifier: "other")
        #expect(try await widget.refreshed(in: container).snapshot?.lines == [.init("one")])
    }
}
