import FoundationEssentials
import GroupContainer
import GroupSystemCalls
import Transfers
import Widgets

/// The program's work: it starts an attempt for each transfer that is due, a few at a time, and ends when nothing is
/// left.
///
/// There is no other state than the records, so the program may be killed at any moment. A process that queues a
/// transfer records it and then looks whether the lock is held; this program gives the lock back and then looks at the
/// records again. So one of the two finds the other.
struct Worker {
    let container: Container
    let records: TransferRecords
    let parallel: Int
    let stall: Int
    /// The time before the second attempt, in nanoseconds; it doubles from attempt to attempt.
    let firstDelay: Int64

    private static let longestDelay: Int64 = 300_000_000_000
    /// The attempts in a row that bring no more bytes than there ever were.
    private static let mostFailures = 20
    private static let mostRestarts = 3
    /// How long the app may take to start and to take its URL.
    private static let appStart = Duration.seconds(10)
    /// How long the copy of an upload's file may take, in nanoseconds.
    private static let queueing: Int64 = 86_400_000_000_000
    /// How long records of transfers that are over are kept, in nanoseconds.
    private static let kept: Int64 = 7 * 86_400_000_000_000

    /// Returns false where another process makes the transfers.
    func run() throws -> Bool {
        repeat {
            if try !workWithRight() { return false }
            // What was recorded before the lock was free is this program's, or another one's that was started.
        } while records.all().contains(where: \.needsWork)
        return true
    }

    /// Works until nothing is left. The lock is free when this function returns. Returns false where another process
    /// has it.
    private func workWithRight() throws -> Bool {
        guard let right = try SoleProcess(for: .transfers, of: container) else { return false }
        let boot = String(decoding: try bootIdentifier(), as: UTF8.self)
        do {
            try work(Attempt(container: container, records: records, boot: boot, stall: stall))
        } catch {
            // Attempts still write. The right is that of this process until its last thread has ended.
            _ = unsafe Unmanaged.passRetained(right)
            throw error
        }
        return withExtendedLifetime(right) { true }
    }

    /// What the threads of this program do.
    private struct Activity {
        var transfers: Set<Transfer.ID> = []
        var isReporting = false
        /// Why a record could not be changed: the program ends with it, since it would do the same work for ever.
        var failure: (any Error)?
    }

    private func work(_ attempt: Attempt) throws {
        let activity = Guarded(Activity())
        var changes = try records.changes()
        try removeLeftFiles()
        while true {
            let seen = Interruption.latest
            let current = activity.withLock { $0 }
            if let failure = current.failure { throw failure }
            let clock = TransferClock()
            let (running, all) = try transfers(at: clock).filter(\.needsWork).partitioned {
                current.transfers.contains($0.id)
            }
            if all.isEmpty && current.transfers.isEmpty && !current.isReporting { return }
            // The app may take its time to start. One is reported after the other, so that it is started once. One
            // whose message may have been posted before a kill comes first: the message of another one would be taken
            // for its own.
            let over = all.first { $0.state.isOver && $0.messageAfter != nil } ?? all.first(where: \.state.isOver)
            if !current.isReporting, let over {
                activity.withLock { $0.isReporting = true }
                try start(activity, { try report(over) }, then: { $0.isReporting = false })
            }
            let now = clock.wall
            let waiting = all.filter { !$0.state.isOver }
            // An attempt that runs ends with its record. A file that is being put at its path is complete.
            let unfinished = waiting + running.filter { !$0.state.isOver && $0.state != .placing }
            for transfer in unfinished where transfer.deadline.nanoseconds <= now {
                try end(transfer.id, .failed, transfer.reason ?? "the time is over")
            }
            let due = waiting.filter { $0.nextAttempt <= now && $0.deadline.nanoseconds > now }
            let room = max(0, parallel - current.transfers.count)
            for transfer in due.prefix(room) { try begin(transfer, attempt, activity) }
            // A new record, a cancellation, and the end of a thread's work wake this thread.
            let attempts = waiting.map(\.nextAttempt).filter { $0 > now }
            let deadlines = unfinished.map(\.deadline.nanoseconds).filter { $0 > now }
            let next = (attempts + deadlines).min()
            let rest = next.map { Duration.nanoseconds(max(0, min($0 - now, Self.longestDelay))) }
            if due.isEmpty || room == 0 { _ = try changes.next(timeout: rest, since: seen) }
        }
    }

    /// Returns all transfers, after the times of their records were moved as the clock was set.
    private func transfers(at clock: TransferClock) throws -> [Transfer] {
        let all = records.all()
        var isMoved = false
        for transfer in all {
            var moved = transfer
            if !moved.follow(clock) { continue }
            isMoved = try records.update(transfer.id) { $0.follow(clock) } || isMoved
        }
        return isMoved ? records.all() : all
    }

    private func begin(_ transfer: Transfer, _ attempt: Attempt, _ activity: Guarded<Activity>) throws {
        if transfer.state == .waiting {
            try records.update(transfer.id) { current in
                if current.state != .waiting { return false }
                current.state = .running
                return true
            }
        }
        guard let current = records[transfer.id], !current.state.isOver else { return }
        _ = activity.withLock { $0.transfers.insert(current.id) }
        try start(
            activity, { try note(attempt.run(current), current.id) }, then: { $0.transfers.remove(current.id) })
    }

    private func start(
        _ activity: Guarded<Activity>, _ work: @escaping @Sendable () throws -> Void,
        then finish: @escaping @Sendable (inout Activity) -> Void
    ) throws {
        do throws(Errno) {
            try WorkThread.start {
                let failure = failure(of: work)
                activity.withLock { activity in
                    finish(&activity)
                    activity.failure = activity.failure ?? failure
                }
                Interruption.raise()
            }
        } catch {
            activity.withLock(finish)
            throw error
        }
    }

    private func note(_ outcome: Attempt.Outcome, _ id: Transfer.ID) throws {
        switch outcome {
        case .placed, .sent: try end(id, .completed, nil)
        case .failed(let reason): try end(id, .failed, reason)
        // The record is over, or was removed, and is not changed then. Where it is neither, the next attempt waits.
        case .recordEnded:
            try postpone(id, "the attempt was interrupted", after: nil) { $0.failures += 1 }
            if records[id]?.state.isOver != false { try removeFiles(of: id) }
        case .retry(let reason, let after):
            try postpone(id, reason, after: after) { $0.failures += 1 }
        case .startOver(let reason):
            try postpone(id, reason, after: nil) { current in
                (current.tag, current.total, current.durable, current.received) = (nil, nil, 0, 0)
                (current.restarts, current.failures) = (current.restarts + 1, current.failures + 1)
            }
        }
    }

    private func postpone(
        _ id: Transfer.ID, _ reason: String, after: Int?, _ change: (inout Transfer) -> Void
    ) throws {
        try records.update(id, durability: .durable) { current in
            if current.state.isOver { return false }
            change(&current)
            current.reason = String(reason.prefix(500))
            if current.failures >= Self.mostFailures || current.restarts > Self.mostRestarts {
                (current.state, current.bytesPerSecond) = (.failed, 0)
                return true
            }
            let delay = min(firstDelay << Int64(min(current.failures - 1, 20)), Self.longestDelay)
            let wanted = min(Duration.seconds(max(after ?? 0, 0)).nanoseconds, Transfer.longestPause)
            (current.state, current.bytesPerSecond) = (.waiting, 0)
            let clock = TransferClock()
            // By the clock of the record's other times.
            _ = current.follow(clock)
            current.nextAttempt = clock.wall + max(delay, wanted)
            return true
        }
    }

    private func end(_ id: Transfer.ID, _ state: Transfer.State, _ reason: String?) throws {
        try records.update(id, durability: .durable) { current in
            if current.state.isOver { return false }
            (current.state, current.reason, current.bytesPerSecond) = (state, reason.map { String($0.prefix(500)) }, 0)
            if state == .completed { current.total = current.received }
            return true
        }
    }

    // MARK: Reporting

    /// Posts the message of a transfer that is over, once, and starts the app if it does not listen. This program is
    /// the only one that posts to the channel: its last number says whether the message was posted before a kill.
    private func report(_ transfer: Transfer) throws {
        try removeFiles(of: transfer.id)
        let channel = try GroupChannel(container, name: Transfers.channel, purpose: "group-transfer")
        var after = transfer.messageAfter
        if after == nil {
            let last = try channel.lastNumber()
            try records.update(transfer.id, durability: .durable) { current in
                current.messageAfter = last
                return true
            }
            after = last
        }
        if let after, try channel.lastNumber() <= after {
            try channel.post(json: transfer.result, durability: .durable)
        }
        if let url = transfer.opening, try !channel.isListening(Transfers.listener) {
            // A failure to start the app must not keep the others from being reported; the message waits.
            _ = try? WidgetCenter(container).open(url, timeout: Self.appStart)
        }
        try records.update(transfer.id, durability: .durable) { current in
            current.isReported = true
            return true
        }
    }

    // MARK: Files

    private func removeFiles(of id: Transfer.ID) throws {
        let directory = try TransferFiles.directory(of: container).open()
        try? directory.unlink(TransferFiles.part(id))
        try? directory.unlink(TransferFiles.source(id))
    }

    /// Removes old records, and files without a record.
    private func removeLeftFiles() throws {
        let clock = TransferClock()
        let all = try transfers(at: clock)
        for transfer in all
        where !transfer.needsWork && clock.wall - transfer.queuedAt.nanoseconds > Self.kept {
            _ = try records.remove(transfer.id)
        }
        let known = Set(all.filter(\.needsWork).map(\.id))
        let directory = try TransferFiles.directory(of: container).open()
        for name in try directory.entryNames() {
            guard let file = TransferFiles.owner(of: name), !known.contains(file.id) else { continue }
            // A source without a record may be that of an upload that is being queued, unless it is old, or of a clock
            // that was set back.
            if file.isSource, let status = try? directory.status(of: name),
                (clock.wall &- status.modified).magnitude < Self.queueing
            {
                continue
            }
            try? directory.unlink(name)
        }
    }
}

extension Array {
    /// Returns the elements with a property, and those without it.
    fileprivate func partitioned(_ belongs: (Element) -> Bool) -> (with: [Element], without: [Element]) {
        (filter(belongs), filter { !belongs($0) })
    }
}

/// Returns the error of some work; nil where there was none.
private func failure(of work: () throws -> Void) -> (any Error)? {
    do { try work() } catch { return error }
    return nil
}
