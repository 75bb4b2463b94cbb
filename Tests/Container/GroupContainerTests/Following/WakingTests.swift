import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// Sleepers of a wake word whose writer is killed between two steps.
@Suite(.ownThreads, .timeLimit(.minutes(1)))
struct `Waking in two steps` {
    private static let word = 60
    private static let flag = MemberTableLayout.wakeWord(word)

    @Test func `the one that a killed writer has woken wakes the others when it sleeps again`() throws {
        let sample = try SampleContainer()
        let memberTable = sample.container.opened.memberTable
        let asleep = Guarded(0)
        let sleepers = (0..<4).map { _ in
            Side {
                memberTable.awaitWake(on: Self.word, atMost: nil) {
                    asleep.withLock { $0 += 1 }
                    return false
                }
                // Asleep again, if there were not something by now.
                memberTable.awaitWake(on: Self.word, atMost: nil) { true }
            }
        }
        #expect(eventually { asleep.withLock { $0 } == 4 })
        memberTable.wakeFirst(Self.word)
        for sleeper in sleepers { try sleeper.answer() }
    }

    @Test func `a writer wakes a reader that waits for its commit`() throws {
        let sample = try SampleContainer()
        let memberTable = sample.container.opened.memberTable
        let reader = Side { memberTable.awaitCommit(Self.word, atMost: .max) { false } }
        #expect(eventually { memberTable.map.load32(Self.flag) == 1 })
        memberTable.wake(Self.word)
        try reader.answer()
        // A record that is committed by now is not waited for.
        memberTable.awaitCommit(Self.word, atMost: .max) { true }
    }
}
