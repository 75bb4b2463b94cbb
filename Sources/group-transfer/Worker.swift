import FoundationEssentials
import GroupContainer
import GroupSystemCalls
import Transfers
import Widgets

/// The program's work: it starts an attempt for each transfer that is due, a few at a time, and ends when nothing is left.
///
/// There is no other state than the records, so the program may be killed at any moment. A process that queues a transfer
/// records it and then looks whether the lock is held; this program gives the lock back and then looks at the records again.
/// So one of the two finds the other.
struct Worker {
    let container: Container
    let records: TransferRecords
    let parallel: Int
    let stall: Int
    /// The time before the second attempt, in nanoseconds; it doubles from attempt to attempt.
    let firstDelay: Int64

    private static let longestDelay: Int64 = 300_000_000_000
    /// The attempts in a row that bring no byte.
    private static let mostFailures = 20
    private static let mostRestarts = 3
    /// How long records of transfers that are over are kept, in seconds.
    private static let kept = 7.0 * 86_400

    /// Returns false where another process makes the transfers.
    func run() throws -> Bool {
        let boot = String(decoding: try bootIdentifier(), as: UTF8.self)
        while true {
            guard let right = try SoleProcess(makingTransfersOf: container) else { return false }
            try withExtendedLifetime(right) {
                try work(Attempt(container: container, records: records, boot: boot, stall: stall))
            }
            // The lock is free now. What was recorded before is this program's, or another one's that was started.
            if !records.all().contains(where: { $0.needsWork }) { return true }
        }
    }

    private func work(_ attempt: Attempt) throws {
        let active = Guarded<Set<Transfer.ID>>([])
        var changes = try records.changes()
        try removeLeftFiles()
        while true {
            let all = records.all().filter(\.needsWork)
            let running = active.withLock { $0 }
            if all.isEmpty && running.isEmpty { return }
            for transfer in all where transfer.state.isOver && !running.contains(transfer.id) { try report(transfer) }
            let now = wallNanoseconds()
            let waiting = all.filter { !$0.state.isOver && !running.contains($0.id) }
            for transfer in waiting where transfer.deadline < Date() {
                try end(transfer.id, .failed, transfer.reason ?? "the time is over")
            }
            let due = waiting.filter { $0.nextAttempt <= now && $0.deadline >= Date() }
            for transfer in due.prefix(max(0, parallel - running.count)) {
                try begin(transfer, attempt, active)
            }
            if !due.isEmpty && running.count < parallel { continue }
            // Each change of a record wakes this thread: a new one, the end of an attempt, a cancellation.
            let next = waiting.filter { $0.nextAttempt > now }.map(\.nextAttempt).min()
            let rest = next.map { Duration.nanoseconds(max(1_000_000, min($0 - now, Self.longestDelay))) }
            _ = try changes.next(timeout: rest)
        }
    }

    private func begin(_ transfer: Transfer, _ attempt: Attempt, _ active: Guarded<Set<Transfer.ID>>) throws {
        if transfer.state == .waiting {
            try records.update(transfer.id) { current in
                if current.state != .waiting { return false }
                current.state = .running
                return true
            }
        }
        guard let current = records[transfer.id], !current.state.isOver else { return }
        _ = active.withLock { $0.insert(current.id) }
        let worker = self
        do throws(Errno) {
            try WorkThread.start {
                let outcome = attempt.run(current)
                // The record changes after the attempt is off the list, and wakes the thread that reads the list.
                _ = active.withLock { $0.remove(current.id) }
                try? worker.note(outcome, current.id)
            }
        } catch {
            _ = active.withLock { $0.remove(current.id) }
            throw error
        }
    }

    private func note(_ outcome: Attempt.Outcome, _ id: Transfer.ID) throws {
        switch outcome {
        case .placed, .sent: try end(id, .completed, nil)
        case .failed(let reason): try end(id, .failed, reason)
        case .gone: try records.update(id) { _ in true }
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
            if current.failures > Self.mostFailures || current.restarts > Self.mostRestarts {
                (current.state, current.bytesPerSecond) = (.failed, 0)
                return true
            }
            let delay = min(firstDelay << Int64(min(current.failures - 1, 20)), Self.longestDelay)
            let wanted = Int64(min(max(after ?? 0, 0), 3_600)) * 1_000_000_000
            (current.state, current.bytesPerSecond) = (.waiting, 0)
            current.nextAttempt = wallNanoseconds() + max(delay, wanted)
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

    /// Posts the message of a transfer that is over, once, and starts the app if it does not listen. This program is the only
    /// one that posts to the channel: its last number says whether the message was posted before a kill.
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
            _ = try? WidgetCenter(container).open(url, timeout: .zero)
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
        let all = records.all()
        for transfer in all where !transfer.needsWork && transfer.queuedAt.addingTimeInterval(Self.kept) < Date() {
            _ = try records.remove(transfer.id)
        }
        let known = Set(all.filter(\.needsWork).map(\.id))
        let directory = try TransferFiles.directory(of: container).open()
        for name in try directory.entryNames() {
            let text = String(decoding: name, as: UTF8.self)
            let parts = text.split(separator: ".")
            // A source without a record may be that of an upload that is being queued: it is removed only once it is old.
            if parts.count == 2, parts[1] == "part", !known.contains(String(parts[0])) { try? directory.unlink(name) }
        }
    }
}
