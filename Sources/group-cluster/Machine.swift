import Dispatch
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// The state of this machine in its cluster, and the one thread that changes it: it follows the container, folds the cluster's
/// entries, applies what they result in to the disk, and sends what was changed here. The decisions are those of `GroupCluster`;
/// this type makes them happen, and stores what must outlive the program.
final class Machine {
    let container: Container
    let store: StateStore
    let records: ClusterRecords
    let contents: ContentFiles
    let identity: MachineIdentity
    let mailbox = Mailbox<LinkEvent>()
    let link: EtcdLink

    var fold: ClusterFold
    var mirror: ClusterMirror
    var outbox: ClusterOutbox
    var disk: LocalDisk
    var status: ClusterStatus

    private var follower: Follower<Change>
    /// Whether history was compared since the connection was made.
    var isConnected = false
    /// Whether a reading is awaited: no event is folded meanwhile.
    private var isReading = false
    private var nextReading: Int64 = 0
    private var readingFailures = 0
    private var waitingEvents: [OrderedEntry] = []
    /// The request that is at etcd; nil where the one in flight is to be sent, or sent again.
    private var sentRequest: CommitRequest?
    /// Whether an attempt to commit what is in flight may have reached etcd.
    var mayBeCommitted = true
    private var nextCommit: Int64 = 0
    private var commitFailures = 0

    /// Items that cannot be changed now, and when to try again.
    var deferred: [ItemName: Int64] = [:]
    /// Items that are deferred for longer: in use, without room, or without their content.
    var passed: Set<ItemName> = []
    /// Files that came out of the container, in the order in which they are to be looked at again.
    var takenOut: [TakenOut] = []
    /// Items that cannot be sent, and why.
    var refused: [[UInt8]: String] = [:]
    /// Contents that are being loaded.
    var loading: Set<[UInt8]> = []
    /// Contents that were not to be had at this index of the fold.
    var missing: [[UInt8]: UInt64] = [:]
    /// Who made what is to be applied, for the journal.
    var authors: [ItemName: [UInt8]] = [:]
    /// Strict requests of this machine that were accepted, and are being applied.
    var accepted: [ClusterName: Set<ItemName>] = [:] { didSet { toStore.isAcceptedChanged = true } }
    /// Locks that were granted, and wait until everything before their revision is applied.
    var grants: [(identifier: String, revision: UInt64, isRead: Bool)] = []
    /// The names of the grants of locks, by the requests for them.
    var grantNames: [String: ClusterName] = [:]
    /// Strict requests that wait in the outbox.
    var queued: Set<ClusterName> = []
    /// When requests that could not be sent are tried again.
    var nextRetry: Int64?
    /// The suites of this container, and the keys that may not have what the cluster has.
    var suites: [String: ClusterSuite] = [:]
    var dirtyKeys: Set<[UInt8]> = []
    /// The channels of this container, and those that may not have all of the cluster's messages.
    var channels: Set<String> = []
    var dirtyChannels: Set<[UInt8]> = []
    /// What was made of the changes of suites and the posts that wait or are in flight, by the entries' operations.
    var drafted: [ClusterName: DraftedEntry] = [:]
    var draftedPosts: Set<String> = []
    var postsInFlight: [String] = []
    /// Changes of this machine that are younger than the last round of looking: their order is not certain yet.
    private(set) var held: [Drafted] = []
    private var changedItems: [Drafted] = []

    /// A change of this machine, with its time: changes of items, suites and channels are sent in the order in which they were
    /// made.
    struct Drafted {
        var local: LocalItem?
        var changes: [ClusterChange] = []
        var time: Int64
        var suite: String?
        var cursor: Cursor?
        var posts: [String] = []
    }

    /// What is to be done when an entry is sent, and when it is folded.
    struct DraftedEntry {
        var cursors: [String: Cursor] = [:]
        var posts: [String] = []
    }

    /// What the fold and others have changed since it was stored.
    var toStore = Unstored()
    private var generator = SystemRandomNumberGenerator()
    /// Whether the machine has just joined: what is here was not made since.
    private(set) var stateIsNew: Bool
    /// A person has accepted that most items are gone.
    private var hasAcceptedLoss = false
    var nextStatus: Int64 = 0
    /// The number of the last message of each channel that is stored.
    var storedMessages: [[UInt8]: UInt64] = [:]
    var shownStatus: ClusterStatus?
    /// When the number of entries was read.
    var readAt: Date?
    private let recordsChanged = Guarded(true)
    private var lines: [String] = []

    struct Unstored {
        var items: Set<ItemName> = []
        var machines: Set<ClusterName> = []
        var keys: Set<[UInt8]> = []
        var channels: Set<[UInt8]> = []
        var isFoldChanged = false
        var isAllNew = false
        var isOutboxChanged = false
        var isAcceptedChanged = false
        /// Whether a request is about to be sent, which must be on the disk before.
        var mustBeDurable = false
        var cursor: Cursor?
        var suiteCursors: [String: Cursor] = [:]
        var isEmpty: Bool {
            items.isEmpty && machines.isEmpty && keys.isEmpty && channels.isEmpty && suiteCursors.isEmpty
                && !isFoldChanged && !isAllNew && !isOutboxChanged && !isAcceptedChanged
        }
    }

    init(
        _ container: Container, _ identity: MachineIdentity, _ store: StateStore, _ configuration: EtcdConfiguration
    ) throws {
        (self.container, self.identity, self.store) = (container, identity, store)
        records = try ClusterRecords(container)
        contents = try ContentFiles(container)
        let mailbox = mailbox
        link = EtcdLink(
            configuration, ClusterKeys(name: identity.name), machine: identity.machine, host: identity.host,
            contents: contents, lastSession: try store.number("session"), mostRoom: identity.budget / 2
        ) { event in
            mailbox.post(event)
            Interruption.raise()
        }
        let loaded = try LoadedState(store, identity.machine)
        (fold, mirror, outbox, accepted) = (loaded.fold, loaded.mirror, loaded.outbox, loaded.accepted)
        var disk = try LocalDisk(container)
        try disk.load(loaded.local)
        disk.lastNumber = loaded.lastLocal
        self.disk = disk
        stateIsNew = loaded.cursor == nil
        postsInFlight = loaded.postsInFlight
        if let cursor = loaded.cursor {
            follower = try container.follow(since: .cursor(cursor))
        } else {
            follower = try container.follow(since: .now)
        }
        status = ClusterStatus(
            name: identity.name, host: identity.host, machine: identity.machine.text,
            endpoints: configuration.endpoints, processIdentifier: processIdentifier(), since: Date())
        status.conflicts = loaded.conflicts
        hasAcceptedLoss = loaded.hasAcceptedLoss
        if let stop = loaded.stop, stop != .newerVersion {
            status.stopped = Self.reason(stop)
            lines.append("stopped: \(Self.reason(stop)); see 'group-cluster accept'")
        }
    }

    /// Whether a request is at etcd.
    var isBeingCommitted: Bool { sentRequest != nil }

    func freshName() -> ClusterName { .random(using: &generator) }

    // MARK: The loop

    /// Notes a line for the program's user.
    func log(_ line: String) { lines.append(line) }

    /// Runs until `isEnding` returns true, which an interruption makes this function look at. `report` gets a line for each
    /// thing that the user would notice.
    func run(_ report: (String) -> Void, until isEnding: () -> Bool) throws {
        try finishTaken()
        // Contents that were loaded may be incomplete since a power cut; those in flight were synchronized.
        contents.removeAll(except: Set(digests(of: outbox.inFlight)), try takenNames())
        if stateIsNew {
            try disk.lookAtAll()
            toStore.cursor = follower.cursor
        }
        mirror.markDifferences(to: fold.tree)
        for local in mirror.differences(on: disk.tree) { outbox.add(.item(local)) }
        _ = disk.takeChanged()
        checkLoss()
        dirtyKeys = Set(fold.values.keys)
        dirtyChannels = Set(fold.channels.keys)
        if outbox.inFlight == nil { try forgetPosts() }
        try watchStores()
        try link.start()
        try followRecords()
        defer { link.stop() }
        while !isEnding() {
            let seen = Interruption.latest
            try takeChanges()
            if recordsChanged.withLock({ flag in
                defer { flag = false }
                return flag
            }) {
                try takeRecords()
            }
            for event in mailbox.takeAll() { try take(event) }
            let hasMore = try work()
            try storeState()
            stateIsNew = false
            try showStatus(force: false)
            for line in lines { report(line) }
            lines = []
            if hasMore || !held.isEmpty { continue }
            let rest = nextTime().map { Duration.nanoseconds(max(0, $0 - monotonicNanoseconds())) }
            if let change = try follower.next(timeout: rest, since: seen) { try look(at: change) }
        }
        status.isConnected = false
        try showStatus(force: true)
    }

    /// The next time at which something is due; nil where only events matter.
    private func nextTime() -> Int64? {
        var times = deferred.values.min().map { [$0] } ?? []
        if let next = takenOut.first { times.append(next.due) }
        if !isConnected && !isReading && status.stopped == nil { times.append(nextReading) }
        if outbox.request != nil && sentRequest == nil && isConnected { times.append(nextCommit) }
        if let nextRetry { times.append(nextRetry) }
        if shownStatus != status { times.append(nextStatus) }
        if !records.locks().isEmpty { times.append(monotonicNanoseconds() + 1_000_000_000) }
        return times.min()
    }

    /// Lets a change of a record end the wait of the loop.
    private func followRecords() throws {
        let changes = try records.changes()
        let flag = recordsChanged
        try WorkThread.start {
            var changes = changes
            while (try? changes.next()) != nil {
                flag.withLock { $0 = true }
                Interruption.raise()
            }
        }
    }

    /// Lets a new suite or channel end the wait of the loop.
    private func watchStores() throws {
        let places = container.storeDirectories
        try WorkThread.start {
            guard let watch = try? PathWatch(), let poller = try? Poller() else { return }
            guard (try? poller.add(watch.descriptor)) != nil else { return }
            while true {
                watch.watch(places)
                Interruption.raise()
                _ = try? poller.wait(nanoseconds: nil)
                watch.drain()
            }
        }
    }

    // MARK: The disk

    /// Takes what processes of this machine have changed: items, values and messages, in the order of their times. What was
    /// changed since this round began waits for the next one, as something before it may have been missed.
    func takeChanges() throws {
        let now = wallNanoseconds()
        var drafts = try held + takeSuites()
        held = []
        try takeChannels()
        drafts += takePosts()
        while let change = try follower.next(timeout: .zero) { try look(at: change) }
        disk.endRound()
        noteChanged(time: now)
        if !changedItems.isEmpty {
            toStore.cursor = follower.cursor
            // All items are counted for it: only where one is gone, or is back.
            if hasAcceptedLoss || changedItems.contains(where: { $0.local.map { disk.tree[$0] == nil } ?? false }) {
                checkLoss()
            }
        }
        drafts += changedItems
        changedItems = []
        if drafts.isEmpty { return }
        drafts.sort { $0.time < $1.time }
        var entry = ClusterEntry(.zero)
        var notes = DraftedEntry()
        var size = 0
        func flush() {
            if entry.changes.isEmpty { return }
            entry.operation = freshName()
            drafted[entry.operation] = notes
            outbox.add(.entry(entry, nil))
            (entry, notes, size) = (ClusterEntry(.zero), DraftedEntry(), 0)
        }
        for draft in drafts {
            if draft.time > now && draft.time < now + 1_000_000_000 {
                held.append(draft)
                continue
            }
            if let local = draft.local {
                flush()
                outbox.add(.item(local))
                continue
            }
            let added = draft.changes.reduce(0) { $0 + Self.size(of: $1) }
            if entry.changes.count + draft.changes.count > Self.mostAtOnce * 2
                || size + added > ClusterKeys.smallContents
            {
                flush()
            }
            entry.changes += draft.changes
            size += added
            if let suite = draft.suite { notes.cursors[suite] = draft.cursor }
            notes.posts += draft.posts
        }
        flush()
    }

    private func noteChanged(time: Int64) {
        for local in disk.takeChanged() { changedItems.append(Drafted(local: local, time: time)) }
    }

    private func look(at change: Change) throws {
        defer { noteChanged(time: change.timeNanoseconds) }
        if change.kind == .rescan {
            log("a place in the journal was lost: looking at everything")
            return try disk.lookAtAll()
        }
        if change.kind.isMarker { return }
        if let other = change.kind.otherPath { try disk.look(at: other.bytes) }
        try disk.look(at: change.path.bytes)
    }

    /// Stops sending where most of what was here is gone at once, as after a lost mount.
    private func checkLoss() {
        let isLost = mirror.isLost(disk.tree)
        if isLost && status.stopped == nil && !hasAcceptedLoss { stop(.loss) }
        if !isLost { hasAcceptedLoss = false }
    }

    private static func reason(_ stop: Acceptance.Stop) -> String {
        switch stop {
        case .otherHistory:
            "the cluster has another history than this machine has seen: etcd was restored from a backup, is another one, or this machine was cloned"
        case .loss: "more than half of all items are gone from the disk at once"
        case .newerVersion: "an entry of the cluster can only be read by a newer version of this program"
        }
    }

    /// Sends and applies nothing any more, before a person has decided.
    func stop(_ stop: Acceptance.Stop) {
        status.stopped = Self.reason(stop)
        log("stopped: \(Self.reason(stop)); see 'group-cluster accept'")
        (isConnected, status.isConnected, status.since) = (false, false, Date())
        try? store.store(isDurable: true) { try $0.set("stop", Array(stop.rawValue.utf8)) }
    }

    // MARK: The cluster

    func read() {
        if isReading { return }
        isReading = true
        link.send(.read)
    }

    private func take(_ event: LinkEvent) throws {
        switch event {
        case .reading(let reading, let cluster):
            isReading = false
            readingFailures = 0
            try take(reading, cluster)
        case .readingFailed(let failure):
            isReading = false
            disconnect(failure)
        case .event(let entry):
            if isReading || !isConnected { waitingEvents.append(entry) } else { try fold(arrived: entry) }
        case .committed(let request, let entry):
            if sentRequest == request { sentRequest = nil }
            (commitFailures, status.failure, mayBeCommitted) = (0, nil, true)
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
        nextReading = monotonicNanoseconds() + min(20_000_000 << Int64(min(readingFailures, 7)), 2_000_000_000)
    }

    private func take(_ reading: ClusterReading, _ cluster: UInt64) throws {
        if status.stopped != nil { return }
        (status.count, readAt) = (reading.count, Date())
        do {
            switch try fold.continued(by: reading, own: (outbox.machine, outbox.number)) {
            case .otherHistory:
                return stop(.otherHistory)
            case .entries(let entries): for entry in entries where status.stopped == nil { try apply(entry) }
            case .snapshot(let snapshot, let entries):
                log("continuing at a snapshot with index \(snapshot.index)")
                fold = snapshot
                toStore.isAllNew = true
                mirror.markAll(snapshot.tree)
                dirtyKeys = Set(snapshot.values.keys).union(dirtyKeys)
                dirtyChannels = Set(snapshot.channels.keys)
                try foldOwn(Set(mirror.stale.elements))
                for entry in entries where status.stopped == nil { try apply(entry) }
            }
        } catch let damage as ClusterDamage {
            if case .newerVersion = damage { return stop(.newerVersion) }
            status.failure = "\(damage)"
            disconnect(nil)
            return
        }
        if status.stopped != nil { return }
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
                if case .newerVersion = damage { return stop(.newerVersion) }
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
        let verdict = try fold.apply(entry)
        toStore.items.formUnion(verdict.items)
        toStore.machines.insert(verdict.machine)
        toStore.keys.formUnion(verdict.keys)
        toStore.channels.formUnion(verdict.channels)
        toStore.isFoldChanged = true
        mirror.mark(verdict.items)
        dirtyKeys.formUnion(verdict.keys)
        dirtyChannels.formUnion(verdict.channels)
        for item in verdict.items {
            authors[item] = verdict.author
            deferred[item] = nil
            passed.remove(item)
        }
        if verdict.outcome == .conflict { noteConflicts(verdict) }
        if entry.machine == outbox.machine { try foldOwn(verdict.items) }
    }

    /// Notes the items that got a conflict name by an entry.
    private func noteConflicts(_ verdict: ClusterFold.Verdict) {
        let mark = Array("(conflict \(verdict.operation.text)".utf8)
        for item in verdict.items {
            guard let node = fold.tree[item], node.name.contains(mark) else { continue }
            note(conflict: Array(fold.tree.path(item).joined(separator: [UInt8(ascii: "/")])))
        }
    }

    private func foldOwn(_ items: Set<ItemName> = []) throws {
        guard let last = fold.machines[outbox.machine] else { return }
        switch outbox.folded(last) {
        case .known: return
        case .clone: stop(.otherHistory)
        case .fate(let inFlight, let fate):
            toStore.isOutboxChanged = true
            drafted[inFlight.entry.operation] = nil
            if fate != .unavailable { try forgetPosts() }
            if inFlight.entry.isStrict {
                try finish(inFlight.entry.operation, fate, items)
            } else if fate != .unavailable {
                mirror.folded(inFlight.sent, inFlight.entry.operation)
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
        if counter >= request.number { read() }
        if !hasUpload { nextCommit = monotonicNanoseconds() }
    }

    // MARK: Work

    private var isWritingSnapshot = false
    private var lastSnapshot: UInt64 = 0
    /// A snapshot is written after this many entries.
    var entriesBetweenSnapshots: UInt64 = 4_096
    private static let stepsAtOnce = 256

    /// Does what can be done now. Returns whether there may be more.
    private func work() throws -> Bool {
        let now = monotonicNanoseconds()
        for (item, time) in deferred where time <= now {
            deferred[item] = nil
        }
        if !isConnected && !isReading && status.stopped == nil && nextReading <= now { read() }
        try finishTakenOut(now)
        if status.stopped != nil { return false }
        if try applySteps() { return true }
        // What was changed after an item is changed here after it; an item that is in use, or cannot be had, is not awaited.
        if !dirtyKeys.isEmpty || !dirtyChannels.isEmpty, mirror.stale.elements.allSatisfy({ passed.contains($0) }) {
            if try applyValues() { return true }
            try applyMessages()
        }
        try finishAccepted()
        try grantLocks()
        if let retry = nextRetry, retry <= now { nextRetry = nil }
        if outbox.inFlight == nil && isConnected && nextRetry == nil { try prepare() }
        if outbox.inFlight == nil && mirror.stale.isEmpty && outbox.waitingCount == 0 {
            contents.removeAll(except: [], try takenNames())
        }
        if isConnected, let request = outbox.request, sentRequest == nil, nextCommit <= now {
            toStore.isOutboxChanged = true
            toStore.mustBeDurable = true
            try storeState()
            sentRequest = request
            let isWhole = request.bytes == outbox.inFlight?.entry.bytes
            link.send(.commit(request, contents: isWhole ? digests(of: outbox.inFlight) : []))
        }
        if isConnected, !isWritingSnapshot, fold.index - lastSnapshot >= entriesBetweenSnapshots {
            isWritingSnapshot = true
            lastSnapshot = fold.index
            link.send(.snapshot(fold.snapshot, fold.summary))
        }
        return false
    }

    /// Applies what the cluster has to the disk. Returns whether more can be done at once.
    private func applySteps() throws -> Bool {
        var made = 0
        let isBulk = mirror.stale.count > 8
        while made < Self.stepsAtOnce {
            let step = mirror.nextStep(
                to: fold.tree, on: disk.tree, inFlight: outbox.inFlight?.sent ?? [], deferred: Set(deferred.keys),
                fresh: freshName())
            for local in mirror.takeFound() { outbox.add(.item(local)) }
            guard let step else { break }
            try perform(step, durability: isBulk ? .relaxed : .durable)
            made += 1
        }
        if made > 0 && isBulk {
            // What is stored as applied must not be lost by a power cut: it would be taken for a change made here.
            try disk.synchronize()
        }
        if mirror.stale.isEmpty { (authors, passed) = ([:], []) }
        return made == Self.stepsAtOnce
    }
}
