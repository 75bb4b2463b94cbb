import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// Takes what comes from etcd: readings of the log, single entries, and the answers to requests.
///
/// Entries get into the fold in two ways. While the machine follows the log, each event of the watch and each committed
/// request has the next entry, which is applied at once. At a connection, and wherever an event was missed, the whole
/// log is read and compared with the fold (`ClusterFold.continued`); events that arrive meanwhile are kept until then.
/// See `HistoryReading`.
extension Machine {
    func read() {
        if history.begin() { link.send(.read) }
    }

    func take(_ event: LinkEvent) throws {
        switch event {
        case .reading(let reading, let cluster):
            history.ended()
            try take(reading, cluster)
        case .readingFailed(let failure):
            history.ended()
            try disconnect(failure)
        case .event(let entry):
            // A paused machine drops events. When a person has decided, a reading has the entries.
            if currentPause != nil || report.status.remedy != nil && !history.isReading { return }
            if history.isFollowing { try fold(arrived: entry) } else { history.keep(entry) }
        case .committed(let request, let entry):
            commits.ended(request)
            commits.committed()
            report.failures.ended(.commit)
            if currentPause != nil { return }
            if history.isFollowing { try fold(arrived: entry) } else { history.keep(entry) }
        case .refused(let request, let counter, let hasToken, let hasUpload):
            commits.ended(request)
            try takeRefusal(of: request, counter: counter, hasToken: hasToken, hasUpload: hasUpload)
        case .commitFailed(let request, let failure):
            commits.ended(request)
            commits.failed(isSurelyNotWritten: failure.isSurelyNotWritten, at: monotonicNanoseconds())
            report.failures.failed(.commit, "\(failure)", remedy: failure.remedy)
            if failure.refusal != nil { try disconnect(failure) }
        case .roomUsed(let request, let used):
            commits.ended(request)
            commits.wait(until: monotonicNanoseconds() + 1_000_000_000)
            report.failures.failed(.commit, noRoom(used))
        case .counted(let count):
            (report.status.count, report.readAt) = (count, Date())
            report.failures.ended(.link(EtcdLink.renewing))
            if currentPause != nil {
                // No reading ends the failure of a paused machine.
                report.failures.ended(.log)
                report.status.remedy = nil
            }
            if history.isConnected && count > fold.index { read() }
        case .watchEnded(let failure): try disconnect(failure)
        case .content(let digest, let operation, let result): take(result, digest, by: operation)
        case .granted(let identifier, let grant, let index):
            // The watch may be behind, or with a node that is parted from the others.
            if locks.take(identifier, grant, index), index > fold.index { read() }
        case .proven(let identifier, let grant, let isHeld): try locks.take(identifier, grant, isHeld: isHeld)
        case .state(let request, let state, let failure): try answer(request, state, failure)
        case .sessionBegan(let session):
            try store.store { try $0.set("session", Array("\(session)".utf8)) }
            try locks.beganSession()
        case .snapshotWritten:
            isWritingSnapshot = false
            report.failures.ended(.link(EtcdLink.writingSnapshot))
        case .machines(let machines): take(machines)
        case .failed(let what, let failure):
            isWritingSnapshot = false
            if failure.refusal != nil { return try disconnect(failure) }
            if report.status.remedy == nil { report.failures.failed(.link(what), "\(what): \(failure)") }
        }
    }

    private func disconnect(_ failure: EtcdFailure?) throws {
        if let failure, let refusal = failure.refusal { return try takeRefusal(failure, refusal) }
        if let failure {
            report.failures.failed(.log, "\(failure)")
            report.status.remedy = nil
        }
        if history.lost(at: monotonicNanoseconds()) {
            (report.status.isConnected, report.status.since) = (false, Date())
        }
        // Five failures take some 600 ms. Nearly every election of etcd is over by then.
        if history.failures == 5, let text = report.failures.shown?.text { log("not connected: \(text); trying again") }
    }

    private func take(_ reading: ClusterReading, _ cluster: UInt64) throws {
        if currentPause != nil { return }
        (report.status.count, report.readAt) = (reading.count, Date())
        do {
            switch try fold.continued(by: reading, own: (outbox.machine, outbox.number)) {
            case .otherHistory:
                return beginPause(.otherHistory)
            case .entries(let entries): for entry in entries where currentPause == nil { try apply(entry) }
            case .snapshot(let snapshot, let entries):
                log("continuing at a snapshot with index \(snapshot.index)")
                try channels.apply(fold)
                suites.replaced(fold, by: snapshot)
                fold = snapshot
                try channels.replaced(by: snapshot)
                toStore.isAllNew = true
                mirror.markAll(snapshot.tree)
                try foldOwn(Set(mirror.stale.elements))
                for entry in entries where currentPause == nil { try apply(entry) }
            }
        } catch let damage as ClusterDamage {
            if case .newerVersion = damage { return beginPause(.newerVersion) }
            report.failures.failed(.log, "\(damage)")
            try disconnect(nil)
            return
        }
        if currentPause != nil { return }
        suites.markSetBefore()
        displaced.recoverLost(fold, mirror, on: &disk)
        let (isNew, events) = history.joined()
        if isNew {
            (report.status.isConnected, report.status.since) = (true, Date())
            report.failures.ended(.log)
            report.status.remedy = nil
            log("connected at index \(fold.index)")
        }
        for entry in events where history.isConnected { try fold(arrived: entry) }
    }

    private func fold(arrived entry: OrderedEntry) throws {
        switch fold.arrival(of: entry) {
        case .next:
            do {
                try apply(entry)
            } catch let damage as ClusterDamage {
                if case .newerVersion = damage { return beginPause(.newerVersion) }
                // The entry cannot be the next one: a reading compares it with what is in etcd.
                read()
            }
        case .repeated: return
        case .gap:
            history.keep(entry)
            read()
        }
    }

    private func apply(_ entry: OrderedEntry) throws {
        try channels.makeRoom(in: fold, for: entry)
        let verdict = try fold.apply(entry)
        toStore.items.formUnion(verdict.items)
        toStore.machines.insert(verdict.machine)
        toStore.keys.formUnion(verdict.keys)
        toStore.isFoldChanged = true
        let isOwn = entry.machine == outbox.machine
        mirror.mark(verdict.items)
        suites.folded(verdict.keys, by: verdict.author, isOwn: isOwn)
        channels.folded(verdict.channels)
        for item in verdict.items {
            authors[item] = verdict.author
            schedule.changed(item)
        }
        if verdict.outcome == .conflict { noteConflicts(verdict) }
        if isOwn { try foldOwn(verdict.items) }
    }

    /// Reports the items that an entry has given a conflict name.
    private func noteConflicts(_ verdict: ClusterFold.Verdict) {
        let mark = Array("(conflict \(verdict.operation.text)".utf8)
        for item in verdict.items {
            guard let node = fold.tree[item], node.name.contains(mark) else { continue }
            report.note(conflict: Array(fold.tree.path(item).joined(separator: [UInt8(ascii: "/")])))
        }
    }

    func foldOwn(_ items: Set<ItemName> = []) throws {
        guard let last = fold.machines[outbox.machine] else { return }
        switch outbox.folded(last) {
        case .known: return
        case .clone: beginPause(.otherHistory)
        case .fate(let inFlight, let fate):
            toStore.isOutboxChanged = true
            order.forget(inFlight.entry.operation)
            if fate != .unavailable { try channels.forgetPosts() }
            if inFlight.entry.isStrict {
                try finish(inFlight.entry.operation, fate, items)
            } else if fate != .unavailable {
                if fate == .conflict { try suites.notTaken(inFlight.entry, fold) }
                mirror.folded(inFlight.sent, inFlight.entry.operation)
                let hasGone = inFlight.sent.contains { disk.tree[$0.local] == nil }
                if removals.isWithholding || hasGone { mustCheckRemovals = true }
            } else {
                for item in inFlight.sent { outbox.add(.item(item.local)) }
            }
        }
    }

    private func takeRefusal(of request: CommitRequest, counter: UInt64, hasToken: Bool, hasUpload: Bool) throws {
        guard history.isConnected else { return }
        if let entry = outbox.refused(request, counter: counter, hasToken: hasToken) {
            toStore.isOutboxChanged = true
            return try finish(
                entry.entry.operation, .conflict,
                reason: "the lock of the cluster was lost before the change was committed")
        }
        // An earlier attempt was committed, and its answer was lost.
        if counter >= request.number { commits.reached() }
        if counter != request.number - 1 {
            // The entry is missing in the fold, or the cluster has another history.
            read()
            commits.wait(until: monotonicNanoseconds() + 20_000_000)
        }
        if !hasUpload { commits.wait(until: monotonicNanoseconds()) }
    }
}
