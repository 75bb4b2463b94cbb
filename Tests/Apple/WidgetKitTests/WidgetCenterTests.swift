import GroupContainer
import GroupContainerTesting
import Testing
import WidgetKit
import Widgets

private typealias WidgetCenter = WidgetKit.WidgetCenter

/// The container of the shared center is the process's, so these tests run one after the other.
@Suite(.serialized) struct `The shared widget center` {
    private let temporary: TemporaryContainer
    private let hosts: Widgets.WidgetCenter

    init() throws {
        temporary = try TemporaryContainer()
        hosts = try Widgets.WidgetCenter(temporary.container)
    }

    @Test func `a reload request reaches the hosts of the container that the app has set`() throws {
        WidgetCenter.shared.container = temporary.container
        defer { WidgetCenter.shared.container = nil }
        WidgetCenter.shared.reloadTimelines(ofKind: "a")
        let first = try hosts.reloads(ofKind: "a")
        #expect(try first > 0 && hosts.reloads(ofKind: "b") == 0)
        WidgetCenter.shared.reloadAllTimelines()
        #expect(try hosts.reloads(ofKind: "a") > first && hosts.reloads(ofKind: "b") > 0)
    }

    @Test func `the current configurations are the widgets of living hosts, with kinds and sizes`() async throws {
        WidgetCenter.shared.container = temporary.container
        defer { WidgetCenter.shared.container = nil }
        #expect(try await WidgetCenter.shared.currentConfigurations() == [])
        let host = try HostRegistration(hosts)
        try host.show([
            PresentWidget(kind: "b", isVisible: false, displayMode: .expanded, hostProcess: 1),
            PresentWidget(kind: "a", isVisible: true, displayMode: .compact, hostProcess: 1),
        ])
        let widgets = try await WidgetCenter.shared.currentConfigurations()
        #expect(widgets.map(\.kind) == ["a", "b"] && widgets.map(\.family) == [.systemSmall, .systemLarge])
        #expect(widgets.map(\.id) == widgets && Set(widgets).count == 2)
        #expect(widgets.map(\.debugDescription).first == "WidgetInfo(kind: a, family: systemSmall)")
        let result = await withCheckedContinuation { continuation in
            WidgetCenter.shared.getCurrentConfigurations { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == widgets)
        try host.end()
    }

    @Test func `without a container the current configurations are an error`() async {
        let error = await #expect(throws: CoordinationError.self) {
            try await WidgetCenter.shared.currentConfigurations()
        }
        #expect(error?.code == .notFound)
    }
}
