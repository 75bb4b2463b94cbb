import GroupContainer
import Testing
import WidgetApp
import Widgets

@Suite struct `A widget center` {
    private let place: Place
    private let center: WidgetCenter

    init() throws {
        place = try Place()
        center = try WidgetCenter(place.container)
    }

    @Test func `keeps reload requests, of one kind and of all`() throws {
        #expect(try center.reloads(ofKind: "a") == 0)
        try center.reloadTimelines(ofKind: "a")
        let first = try center.reloads(ofKind: "a")
        #expect(first > 0)
        #expect(try center.reloads(ofKind: "b") == 0)
        try center.reloadAllTimelines()
        #expect(try center.reloads(ofKind: "a") > first)
        #expect(try center.reloads(ofKind: "b") > 0)
        #expect(throws: CoordinationError.self) { try center.reloadTimelines(ofKind: "../x") }
    }

    @Test func `knows whether an app is in front`() throws {
        #expect(try !center.isAppInFront())
        let one = try AppPresence(place.container)
        let two = try AppPresence(place.container)
        try one.becomeActive()
        try two.becomeActive()
        try two.becomeActive()
        #expect(try center.isAppInFront())
        try one.resignActive()
        #expect(try center.isAppInFront())
        try two.resignActive()
        #expect(try !center.isAppInFront())
    }

    @Test func `knows the widgets of hosts that live`() throws {
        let widget = PresentWidget(kind: "a", isVisible: true, displayMode: .compact, hostProcess: 1)
        do {
            let host = try HostRegistration(center)
            try host.show([widget])
            #expect(try center.presentWidgets() == [widget])
        }
        #expect(try center.presentWidgets() == [])
        let other = try HostRegistration(center)
        try other.show([widget, widget])
        #expect(try center.presentWidgets() == [widget, widget])
        try other.end()
        #expect(try center.presentWidgets() == [])
    }
}

@Suite struct `A ledger of refreshes` {
    @Test func `keeps what they cost and how they ended`() throws {
        let place = try Place()
        let file = try RefreshLedger.file(ofKind: "a", in: place.container)
        let limit = RefreshBudget.Limit(perDay: 24, atOnce: 2)
        var ledger = try RefreshLedger(file)
        #expect(ledger == RefreshLedger())
        ledger.noteStart(at: 1000, spending: limit, reloads: 7)
        ledger.noteEnd(.failed, at: 1001)
        ledger.noteStart(at: 2000, spending: nil, reloads: 8)
        ledger.noteEnd(.failed, at: 2001)
        #expect((ledger.failures, ledger.failedAt, ledger.reloads) == (2, 2001, 8))
        #expect(ledger.budget(limit).left(at: 3000) == 1)
        let holding = try file.holdBlocking("write", timeout: nil)
        defer { holding.end() }
        try ledger.write(file)
        var again = try RefreshLedger(file)
        #expect(again == ledger)
        again.noteEnd(.noData, at: 4000)
        #expect((again.failures, again.succeededAt) == (0, 4000))
        try file.replace(by: Array("{".utf8))
        #expect(throws: CoordinationError.self) { try RefreshLedger(file) }
        #expect(try RefreshLedger(file) == RefreshLedger())
    }
}
