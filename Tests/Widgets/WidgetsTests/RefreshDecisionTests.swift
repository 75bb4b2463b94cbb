import Testing

@testable import Widgets

@Suite struct `A refresh decision` {
    private func situation(_ hasPrevious: Bool, lost: Bool = false, changes: Int = 0) -> RefreshDecision.Situation {
        .init(hasPrevious: hasPrevious, isLost: lost, relevantChanges: changes)
    }

    @Test func `the first refresh renders, even without a change`() {
        #expect(RefreshDecision.before(situation(false)) == nil)
    }

    @Test func `a refresh renders after a change that concerns the widget`() {
        #expect(RefreshDecision.before(situation(true, changes: 1)) == nil)
    }

    @Test func `a refresh renders after its place was lost`() {
        #expect(RefreshDecision.before(situation(true, lost: true)) == nil)
    }

    @Test func `a refresh without a change that concerns the widget is noData and does not render`() {
        let decision = RefreshDecision.before(situation(true))
        #expect(decision == RefreshDecision(result: .noData, movesCursor: true, keepsSnapshot: false))
    }

    @Test func `a refresh with a new snapshot is newData and replaces the last snapshot`() {
        let decision = RefreshDecision.after(.rendered(equalsPrevious: false))
        #expect(decision == RefreshDecision(result: .newData, movesCursor: true, keepsSnapshot: true))
    }

    @Test func `a refresh with the same snapshot is noData and advances the place`() {
        let decision = RefreshDecision.after(.rendered(equalsPrevious: true))
        #expect(decision == RefreshDecision(result: .noData, movesCursor: true, keepsSnapshot: false))
    }

    @Test func `a refresh without a provider is newData after a change`() {
        #expect(RefreshDecision.after(.notRendered).result == .newData)
    }

    @Test func `a failed provider leaves the place and the snapshot unchanged`() {
        let decision = RefreshDecision.after(.failed)
        #expect(decision == RefreshDecision(result: .failed, movesCursor: false, keepsSnapshot: false))
    }
}
