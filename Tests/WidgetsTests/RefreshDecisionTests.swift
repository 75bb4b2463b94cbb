import Testing

@testable import Widgets

@Suite struct `A refresh decision` {
    private func situation(_ hasPrevious: Bool, lost: Bool = false, changes: Int = 0) -> RefreshDecision.Situation {
        .init(hasPrevious: hasPrevious, isLost: lost, relevantChanges: changes)
    }

    @Test func `is to render at the first time, even if nothing happened`() {
        #expect(RefreshDecision.before(situation(false)) == nil)
    }

    @Test func `is to render when something that concerns the widget changed`() {
        #expect(RefreshDecision.before(situation(true, changes: 1)) == nil)
    }

    @Test func `is to render when the place was lost, as anything may have changed`() {
        #expect(RefreshDecision.before(situation(true, lost: true)) == nil)
    }

    @Test func `is noData without rendering when nothing that concerns the widget changed`() {
        let decision = RefreshDecision.before(situation(true))
        #expect(decision == RefreshDecision(result: .noData, movesCursor: true, keepsSnapshot: false))
    }

    @Test func `is newData for another snapshot, which takes the last one's place`() {
        let decision = RefreshDecision.after(.rendered(equalsPrevious: false))
        #expect(decision == RefreshDecision(result: .newData, movesCursor: true, keepsSnapshot: true))
    }

    @Test func `is noData for the same snapshot, and the place moves on`() {
        let decision = RefreshDecision.after(.rendered(equalsPrevious: true))
        #expect(decision == RefreshDecision(result: .noData, movesCursor: true, keepsSnapshot: false))
    }

    @Test func `is newData where nobody renders and something changed`() {
        #expect(RefreshDecision.after(.notRendered).result == .newData)
    }

    @Test func `leaves the place and the snapshot alone when the provider failed`() {
        let decision = RefreshDecision.after(.failed)
        #expect(decision == RefreshDecision(result: .failed, movesCursor: false, keepsSnapshot: false))
    }
}
