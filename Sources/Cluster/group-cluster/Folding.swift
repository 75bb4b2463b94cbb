import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// What comes from the cluster, on its way into the fold.
extension Machine {
    func read() {
        if isReading { return }
        isReading = true
        link.send(.read)
    }

    func take(_ event: LinkEvent) throws {
        switch event {
        case .reading(let reading, let cluster):
            isReading = false
            try take(reading, cluster)
        case .readingFailed(let failure):
            isReading = false
            disconnect(failure)
        case .event(let entry):
            // A reading finds it when a person has decided.
            if currentPause != nil { return }
            if isReading || !isConnected { waitingEvents.append(entry) } else { try fold(arrived: entry) }
        case .committed(let request, let entry):
            if sentRequest == request { sentRequest = nil }
            (commitFailures, status.failure, mayBeCommitted) = (0, nil, true)
            if currentPause != nil { return }
            if isReading || !isConnected { waitingEvents.append(entry) } else { try fold(arrived: entry) }
        case .refused(let request, let counter, let hasToken, let hasUpload):
            if sentRequest == request { sentRequest = nil }
            try refused(request, counter: counter, hasToken: hasToken, hasUpload: hasUpload)
        case .commitFailed(let request, let failure):
            if sentRequest == request { sentRequest = nil }
            if !failure.isSurelyNotWritten { mayBeCommitted = true }
            commitFailures += 1
            status.failure = "\(failure)"
            nextCommit = monotonicNanoseconds() + min(20_000_000 << Int64(min(commitFailures, 7)), 2_000_000_000)
        case .roomUsed(let request, let used):
            if sentRequest == request { sentRequest = nil }
            status.failure = noRoom(used)
            nextCommit = monotonicNanoseconds() + 1_000_000_000
        case .counted(let count):
            (status.count, readAt) = (count, Date())
            if isConnected && outbox.inFlight == nil { status.failure = nil }
            if isConnected && count > fold.index { read() }
        case .watchEnded(let failure): disconnect(failure)
        case .content(let digest, let operation, let result): take(result, digest, by: operation)
        case .lock(let event): try take(event)
        case .sessionBegan(let session): try began(session)
        case .snapshotWritten: isWritingSnapshot = false
        case .failed(let what, let failure):
            isWritingSnapshot = false
            status.failure = "\(what): \(failure)"
        }
    }

    private func disconnect(_ failure: EtcdFailure?) {
        if let failure { status.failure = "\(failure)" }
        if isConnected { (isConnected, status.isConnected, status.since) = (false, false, Date()) }
        readingFailures += 1
        // After some 600 ms: nearly every election of etcd is over by then.
        if readingFailures == 5, let text = status.failure { log("not connected: \(text); trying again") }
        nextReading = monotonicNanoseconds() + min(20_000_000 << Int64(min(readingFailures, 7)), 2_000_000_000)
    }

    private func take(_ reading: ClusterReading, _ cluster: UInt64) throws {
        if currentPause != nil { return }
        (status.count, readAt) = (reading.count, Date())
        do {
            switch try fold.continued(by: reading, own: (outbox.machine, outbox.number)) {
            case .otherHistory:
                return beginPause(.otherHistory)
            case .entries(let entries): for entry in entries where currentPause == nil { try apply(entry) }
            case .snapshot(let snapshot, let entries):
                log("continuing at a snapshot with index \(snapshot.index)")
                try applyMessages()
                // Also those that were removed, and those that other machines have set.
                dirtyKeys.formUnion(fold.values.keys)
                refusedKeys = refusedKeys.filter { fold.values[$0] == snapshot.values[$0] }
                fold = snapshot
                try countUnappliedMessages()
                toStore.isAllNew = true
                mirror.markAll(snapshot.tree)
                dirtyKeys = Set(snapshot.values.keys).union(dirtyKeys)
                unappliedKeys.formUnion(dirtyKeys)
                dirtyChannels = Set(snapshot.channels.keys)
                try foldOwn(Set(mirror.stale.elements))
                for entry in entries where currentPause == nil { try apply(entry) }
            }
        } catch let damage as ClusterDamage {
            if case .newerVersion = damage { return beginPause(.newerVersion) }
            status.failure = "\(damage)"
            disconnect(nil)
            return
        }
        if currentPause != nil { return }
        readingFailures = 0
        hasRead = true
        markSetBefore()
        recoverTaken()
        if !isConnected {
            (isConnected, status.isConnected, status.since) = (true, true, Date())
            status.failure = nil
            log("connected at index \(fold.index)")
        }
        for place in grants.indices { grants[place].isRead = true }
        let events = waitingEvents
        waitingEvents = []
        for entry in events where isConnected { try fold(arrived: entry) }
    }

    private func fold(arrived entry: OrderedEntry) throws {
        switch fold.arrival(of: entry) {
        case .next:
            do {
                try apply(entry)
            } catch let damage as ClusterDamage {
                if case .newerVersion = damage { return beginPause(.newerVersion) }
                // What cannot be the next entry is compared with what stands.
                read()
            }
        case .repeated: return
        case .gap:
            waitingEvents.append(entry)
            read()
        }
    }

    private func apply(_ entry: OrderedEntry) throws {
        try makeRoomForMessages(of: entry)
        let verdict = try fold.apply(entry)
        toStore.items.formUnion(verdict.items)
        toStore.machines.insert(verdict.machine)
        toStore.keys.formUnion(verdict.keys)
        toStore.channels.formUnion(verdict.channels)
        toStore.isFoldChanged = true
        mirror.mark(verdict.items)
        dirtyKeys.formUnion(verdict.keys)
        unappliedKeys.formUnion(verdict.keys)
        for key in verdict.keys { keyAuthors[key] = verdict.author }
        // What this machine had set before a change that was refused does not undo that.
        if entry.machine != outbox.machine, !refusedKeys.isDisjoint(with: verdict.keys) {
            refusedKeys.subtract(verdict.keys)
        }
        dirtyChannels.formUnion(verdict.channels)
        for item in verdict.items {
            authors[item] = verdict.author
            deferred[item] = nil
            passed.remove(item)
        }
        if verdict.outcome == .conflict { noteConflicts(verdict) }
        if entry.machine == outbox.machine { try foldOwn(verdict.items) }
    }

    /// Appends the messages that the fold would no longer have, before it applies an entry: for once also before items and values
    /// that came before them.
    private func makeRoomForMessages(of entry: OrderedEntry) throws {
        guard let entry = try? ClusterEntry(bytes: entry.bytes) else { return }
        let count = entry.changes.count { if case .message = $0 { true } else { false } }
        if count == 0 { return }
        if unappliedMessages + count > ClusterFold.Channel.mostKept { try applyMessages() }
        unappliedMessages += count
    }

    /// Notes the items that got a conflict name by an entry.
    private func noteConflicts(_ verdict: ClusterFold.Verdict) {
        let mark = Array("(conflict \(verdict.operation.text)".utf8)
        for item in verdict.items {
            guard let node = fold.tree[item], node.name.contains(mark) else { continue }
            note(conflict: Array(fold.tree.path(item).joined(separator: [UInt8(ascii: "/")])))
        }
    }

    func foldOwn(_ items: Set<ItemName> = []) throws {
        guard let last = fold.machines[outbox.machine] else { return }
        switch outbox.folded(last) {
        case .known: return
        case .clone: beginPause(.otherHistory)
        case .fate(let inFlight, let fate):
            toStore.isOutboxChanged = true
            drafted[inFlight.entry.operation] = nil
            if fate != .unavailable { try forgetPosts() }
            if inFlight.entry.isStrict {
                try finish(inFlight.entry.operation, fate, items)
            } else if fate != .unavailable {
                mirror.folded(inFlight.sent, inFlight.entry.operation)
                if hasAcceptedLoss { try checkLoss() }
            } else {
                for item in inFlight.sent { outbox.add(.item(item.local)) }
            }
        }
    }

    private func refused(_ request: CommitRequest, counter: UInt64, hasToken: Bool, hasUpload: Bool) throws {
        guard isConnected else { return }
        if let entry = outbox.refused(request, counter: counter, hasToken: hasToken) {
            toStore.isOutboxChanged = true
            return try finish(
                entry.entry.operation, .conflict,
                reason: "the lock of the cluster was lost before the change was committed")
        }
        // An earlier attempt was committed, and its answer was lost.
        if counter >= request.number { mayBeCommitted = true }
        if counter != request.number - 1 {
            // Or the cluster has another history.
            read()
            nextCommit = monotonicNanoseconds() + 20_000_000
        }
        if !hasUpload { nextCommit = monotonicNanoseconds() }
    }
}
