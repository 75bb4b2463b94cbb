import Testing
import Widgets

@Suite struct `A budget of refreshes` {
    private static let day: Int64 = 86_400_000_000_000
    private let limit = RefreshLimit(perDay: 24, atOnce: 3)
    private let hour = Self.day / 24
    private let now: Int64 = 1_800_000_000_000_000_000

    @Test func `a budget allows some refreshes at once, and then one per interval`() {
        var budget = RefreshBudget(limit)
        for left in [3, 2, 1] {
            #expect(budget.left(at: now) == left)
            #expect(budget.nextToken(after: now) == nil)
            budget.spend(at: now)
        }
        #expect(budget.left(at: now) == 0)
        #expect(budget.nextToken(after: now) == now + hour)
        #expect(budget.left(at: now + hour - 1) == 0)
        #expect(budget.left(at: now + hour) == 1)
        #expect(budget.left(at: now + 3 * hour) == 3)
        #expect(budget.left(at: now + 100 * hour) == 3)
    }

    @Test func `a budget allows the limit per day, however often it is read`() {
        var (budget, made) = (RefreshBudget(limit), 0)
        for minute in 0..<(3 * 24 * 60) {
            let time = now + Int64(minute) * hour / 60
            if budget.left(at: time) == 0 { continue }
            budget.spend(at: time)
            made += 1
        }
        #expect(made == 3 * 24 + 2)
    }

    @Test func `an overdrawn budget is never below empty`() {
        var budget = RefreshBudget(limit)
        for _ in 0..<100 { budget.spend(at: now) }
        #expect(budget.nextToken(after: now) == now + hour)
    }

    @Test func `a budget is full again after the clock was set back far`() {
        var budget = RefreshBudget(limit)
        for _ in 0..<3 { budget.spend(at: now) }
        #expect(budget.left(at: now - 365 * Self.day) == 3)
        #expect(budget.left(at: .min) == 3)
    }

    @Test func `a budget has at least one refresh`() {
        #expect(RefreshBudget(.init(perDay: -1, atOnce: 0)).left(at: now) == 1)
        #expect(RefreshBudget(.init(perDay: .max, atOnce: .max)).left(at: now) > 0)
    }
}

@Suite struct `A schedule of refreshes` {
    private let now: Int64 = 1_800_000_000_000_000_000
    private let second: Int64 = 1_000_000_000

    private func decide(_ change: (inout RefreshSchedule.Situation) -> Void) -> RefreshSchedule {
        var situation = RefreshSchedule.Situation()
        change(&situation)
        return RefreshSchedule.decide(situation, at: now)
    }

    private var spent: RefreshBudget {
        var budget = RefreshBudget(.init(perDay: 24, atOnce: 1))
        budget.spend(at: now)
        return budget
    }

    @Test func `a refresh is scheduled only if there is a reason`() {
        #expect(decide { _ in } == .idle)
        #expect(decide { $0.isWanted = true } == .now)
        #expect(decide { $0.timelineDate = now } == .now)
        #expect(decide { $0.timelineDate = now + 1 } == .deferred(until: now + 1, .timeline))
        #expect(
            decide {
                $0.isWanted = true
                $0.timelineDate = now + 1
            } == .now)
    }

    @Test func `a refresh of a hidden widget is scheduled by its budget`() {
        func hidden(_ change: (inout RefreshSchedule.Situation) -> Void = { _ in }) -> RefreshSchedule {
            decide {
                $0.isWanted = true
                $0.isVisible = false
                $0.budget = spent
                change(&$0)
            }
        }
        #expect(hidden() == .deferred(until: now + 3600 * second, .budget))
        #expect(hidden { $0.budget = RefreshBudget() } == .now)
        #expect(hidden { $0.isVisible = true } == .now)
        #expect(hidden { $0.isAppInFront = true } == .now)
        #expect(hidden { $0.isWanted = false } == .idle)
    }

    @Test func `a refresh after failures is scheduled by its back-off`() {
        func failed(_ times: Int, ago: Int64) -> RefreshSchedule {
            decide {
                $0.failures = times
                $0.failedAt = now - ago
            }
        }
        #expect(failed(1, ago: 0) == .deferred(until: now + second, .backOff))
        #expect(failed(4, ago: 0) == .deferred(until: now + 8 * second, .backOff))
        #expect(failed(4, ago: 8 * second) == .now)
        #expect(failed(1_000_000, ago: 0) == .deferred(until: now + 3600 * second, .backOff))
        #expect(failed(1_000_000, ago: -second) == .now)
        #expect(failed(1, ago: now) == .now)
    }
}
