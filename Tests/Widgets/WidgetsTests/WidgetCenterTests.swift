import Foundation
import GroupContainer
import GroupSystemCalls
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

    @Test func `a widget center keeps reload requests for one kind and for all`() throws {
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

    @Test func `a widget center returns whether an app is in front`() throws {
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

    @Test func `a widget center returns the widgets of living hosts only`() throws {
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

@Suite struct `The state of a widget's refreshes` {
    @Test func `the state of a widget's refreshes has the reason of a delay`() throws {
        let place = try Place()
        let center = try place.center()
        let limit = RefreshLimit(perDay: 24, atOnce: 2)
        var state = try center.refreshState(ofKind: "a", limit: limit)
        #expect(state.description == "2 refreshes left" && state.nextTryAt == nil && state.succeededAt == nil)
        let file = try RefreshLedger.file(ofKind: "a", in: place.container)
        var ledger = RefreshLedger()
        let now = wallNanoseconds()
        for _ in 0..<2 { ledger.noteStart(at: now, spending: limit, reloads: 0) }
        ledger.noteEnd(.newData, at: now)
        ledger.noteEnd(.failed, at: now)
        do {
            let holding = try file.holdBlocking("write", timeout: nil)
            defer { holding.end() }
            try ledger.write(file)
        }
        state = try center.refreshState(ofKind: "a", limit: limit)
        #expect(state.budgetLeft == 0 && state.failures == 1)
        #expect(state.nextBudgetAt == Date(nanoseconds: now + 3_600_000_000_000))
        #expect(state.nextTryAt == Date(nanoseconds: now + 1_000_000_000))
        #expect(state.description.contains("deferred until ") && state.description.contains(": budget"))
        #expect(throws: CoordinationError.self) { try center.refreshState(ofKind: "../a") }
        // After the clock was set back, a try is due.
        let earlier = Date(nanoseconds: now - 86_400_000_000_000)
        #expect(try center.refreshState(ofKind: "a", limit: limit, at: earlier).nextTryAt == earlier)
    }
}

@Suite struct `A ledger of refreshes` {
    @Test func `a ledger keeps the cost and the results of refreshes`() throws {
        let place = try Place()
        let file = try RefreshLedger.file(ofKind: "a", in: place.container)
        let limit = RefreshLimit(perDay: 24, atOnce: 2)
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
