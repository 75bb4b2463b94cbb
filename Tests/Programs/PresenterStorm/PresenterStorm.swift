import Dispatch
import GroupSystemCalls
import PresenterModel
import TestSupport

/// Many schedules, two at a time, and what was found.
final class PresenterStorm: Sendable {
    private let first: UInt64
    private let count: Int
    private let start = monotonicNanoseconds()
    private let signals = TerminationSignals()
    private let state = Guarded(State())

    private struct State: Sendable {
        var started = 0
        var ended = 0
        var failed = 0
        var events: [StormEvent.Word: Int] = [:]
        var results: [String: Int] = [:]
    }

    init(schedules count: Int, from first: UInt64) { (self.count, self.first) = (count, first) }

    /// Returns whether no rule was violated.
    func rage() throws -> Bool {
        print("presenter-storm: seed \(first), \(count) schedules")
        let group = DispatchGroup()
        for _ in 0..<2 {
            group.enter()
            try WorkThread.start { [self] in
                runAll()
                group.leave()
            }
        }
        group.wait()
        let state = state.withLock { $0 }
        let events = [
            StormEvent.Word.granted, .asked, .saved, .failed, .reacquired, .withdrawing, .kills, .stops, .armed,
        ]
        .map { "\(state.events[$0] ?? 0) \($0.rawValue)" }
        let results = state.results.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        print("presenter-storm: \(events.joined(separator: ", "))")
        print("presenter-storm: \(results.joined(separator: ", "))")
        print(
            "presenter-storm: \(state.ended) schedules in \(seconds) s, \(state.failed) with violations; seed \(first)")
        return state.failed == 0 && state.ended == count
    }

    private var seconds: Int64 { (monotonicNanoseconds() - start) / 1_000_000_000 }

    private func runAll() {
        while signals.received == nil {
            let number = state.withLock { state -> Int? in
                if state.started == count { return nil }
                state.started += 1
                return state.started - 1
            }
            guard let number else { return }
            run(seed: first &+ UInt64(number))
        }
    }

    private func run(seed: UInt64) {
        var text: [String] = []
        var lines: [String] = []
        do {
            let run = try ScheduleRun(seed: seed)
            lines = try run.run()
            text = PresenterChecker.violations(in: lines).map { "\($0)" }
            if !text.isEmpty { text.insert("seed \(seed), \(run.schedule.theme.rawValue):", at: 0) }
        } catch {
            text = ["seed \(seed): \(error)"]
        }
        let events = lines.compactMap { StormEvent($0) }
        let (isFailed, found) = (!text.isEmpty, text)
        let ended = state.withLock { state -> (Int, Int) in
            state.ended += 1
            for event in events {
                state.events[event.word, default: 0] += 1
                if event.word == .ends { state.results[event["result"], default: 0] += 1 }
            }
            if isFailed { state.failed += 1 }
            return (state.ended, state.failed)
        }
        if isFailed && ended.1 <= 10 { print(found.joined(separator: "\n")) }
        if ended.0.isMultiple(of: 100) {
            print("presenter-storm: \(ended.0) schedules, \(ended.1) with violations, \(seconds) s")
        }
    }

    private func print(_ text: String) { printLines(text) }
}
