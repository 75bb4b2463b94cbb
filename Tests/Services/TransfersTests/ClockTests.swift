import Foundation
import GroupContainer
import Testing
import Transfers

@Suite struct `The times of a transfer after the clock was set` {
    private static let day: Int64 = 86_400_000_000_000
    private let now = 20_000 * Self.day
    private let boot = TransferClock.Boot("this", began: 19_990 * Self.day)

    /// A transfer that was queued, and has failed once, by a clock that differed by `change` from the present one.
    private func transfer(_ change: Int64, in boot: TransferClock.Boot?) -> Transfer {
        var transfer = Transfer(
            .download, url: "http://a/b", path: "b", sha256: nil, length: nil, opening: nil, id: "0123456789abcdef",
            now: TransferClock(wall: now + change, boot: boot), timeout: .seconds(7 * 86_400))
        transfer.nextAttempt = now + change + 1_000_000_000
        return transfer
    }

    /// Returns whether the transfer was changed.
    private func follows(_ transfer: inout Transfer) -> Bool { transfer.follow(TransferClock(wall: now, boot: boot)) }

    @Test(arguments: [-19_000 * Self.day, -Self.day, 2_000_000_000, Self.day, 60_000 * Self.day])
    func `in the same boot they are moved as the clock was`(change: Int64) {
        var moved = transfer(change, in: .init("this", began: 19_990 * Self.day + change))
        #expect(follows(&moved))
        #expect(moved == transfer(0, in: boot))
        #expect(!follows(&moved))
    }

    @Test func `they stay while the clock is not set`() {
        for change in [0, 900_000_000, -900_000_000] as [Int64] {
            var same = transfer(0, in: .init("this", began: 19_990 * Self.day + change))
            #expect(!follows(&same))
        }
        var earlier = transfer(-2 * Self.day, in: boot)
        #expect(!follows(&earlier))
    }

    @Test(arguments: [nil, TransferClock.Boot("another", began: 0)])
    func `in another boot, a transfer from the future begins anew`(other: TransferClock.Boot?) {
        var future = transfer(30 * Self.day, in: other)
        #expect(follows(&future))
        #expect(future == transfer(0, in: boot))
        // What was queued in the past keeps its times.
        var past = transfer(-2 * Self.day, in: other)
        let times = (past.queuedAt, past.deadline, past.nextAttempt)
        #expect(follows(&past))
        #expect((past.queuedAt, past.deadline, past.nextAttempt) == times)
        #expect(!follows(&past))
    }

    @Test func `a pause that is longer than any is over`() {
        var late = transfer(0, in: boot)
        late.nextAttempt = now + Transfer.longestPause + 1
        #expect(follows(&late))
        #expect(late.nextAttempt == 0)
        late.nextAttempt = now + Transfer.longestPause
        #expect(!follows(&late))
    }

    @Test func `numbers of a forged record do not overflow`() {
        for began in [Int64.min, .max] {
            for next in [0, Int64.max] {
                var forged = transfer(0, in: .init("this", began: began))
                forged.nextAttempt = next
                _ = follows(&forged)
                #expect(forged.nextAttempt - now <= Transfer.longestPause)
            }
        }
    }
}
