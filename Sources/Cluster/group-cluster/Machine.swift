import Cluster
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
    /// What lacks room on the disk. It outlives this object.
    let full: FullDisk
    let fullNote: FullDiskNote

    var fold: ClusterFold
    var mirror: ClusterMirror
    var outbox: ClusterOutbox
    var disk: LocalDisk
    var status: ClusterStatus
    /// Why nothing is sent or applied until a person has decided; nil where the machine is not paused.
    var currentPause: Pause? { didSet { status.paused = currentPause?.reason } }

    var follower: Follower<Change>
    /// Whether history was compared since the connection was made.
    var isConnected = false
    /// Whether everything that the cluster had was folded once.
    var hasRead = false
    /// Whether a reading is awaited: no event is folded meanwhile.
    var isReading = false
    var nextReading: Int64 = 0
    var readingFailures = 0
    var waitingEvents: [OrderedEntry] = []
    /// The request that is at etcd; nil where the one in flight is to be sent, or sent again.
    var sentRequest: CommitRequest?
    /// Whether an attempt to commit what is in flight may have reached etcd.
    var mayBeCommitted = true
    var nextCommit: Int64 = 0
    var commitFailures = 0

    /// Items that cannot be changed now, and when to try again.
    var deferred: [ItemName: Int64] = [:]
    /// Items that are deferred for longer: in use, without room, or without their content.
    var passed: Set<ItemName> = []
    /// Files that came out of the container, in the order in which they are to be looked at again.
    var takenOut: [TakenOut] = []
    /// Files that came out, perhaps, and whose note a power cut has taken.
    var lostTaken: Set<[UInt8]> = []
    /// Items that coordinated changes have removed, until that is sent; and what of that is stored.
    var removedByCoordination: Set<LocalItem> = []
    var storedRemovals: Set<LocalItem> = []
    /// Items that cannot be sent, and why.
    var refused: [[UInt8]: String] = [:]
    /// Contents that are being loaded.
    var loading: Set<[UInt8]> = []
    /// Contents that were not to be had at this index of the fold.
    var missing: [[UInt8]: UInt64] = [:]
    /// Who made what is to be applied, for the journal.
    var authors: [ItemName: [UInt8]] = [:]
    var keyAuthors: [[UInt8]: [UInt8]] = [:]
    /// Strict requests of this machine that were accepted, and are being applied.
    var accepted: [ClusterName: Set<ItemName>] = [:] { didSet { toStore.isAcceptedChanged = true } }
    /// Locks that were granted, and wait until everything before their revision is applied.
    var grants: [(identifier: String, revision: UInt64, isRead: Bool)] = []
    /// The names of the grants of locks, by the requests for them.
    var grantNames: [String: ClusterName] = [:]
    var sendingPace = Pace.sending
    /// When the disk is looked at again.
    private var lookingPace = Pace.looking
    /// The number of changes in the journal of this round.
    var looked = 0
    /// How often the cluster has refused a strict request without a condition.
    var refusals: [ClusterName: Int] = [:]
    /// When this run has first seen the requests that are recorded, by the monotonic clock.
    var requestsSeen: [String: Int64] = [:]
    /// Strict requests that wait in the outbox.
    var queued: Set<ClusterName> = []
    /// When requests that could not be sent are tried again.
    var nextRetry: Int64?
    /// The suites of this container, and the keys that may not have what the cluster has.
    var suites: [String: ClusterSuite] = [:]
    var dirtyKeys: Set<[UInt8]> = []
    /// Keys that may not have what the stored fold has, also after the program is started again; and what of that is stored.
    var unappliedKeys: Set<[UInt8]> = []
    var storedUnappliedKeys: Set<[UInt8]> = []
    /// Keys that were set here to what the cluster cannot have: they keep that until another machine sets them.
    var refusedKeys: Set<[UInt8]> = [] { didSet { toStore.areRefusedKeysChanged = true } }
    /// The channels of this container, and those that may not have all of the cluster's messages.
    var channels: Set<String> = []
    var dirtyChannels: Set<[UInt8]> = []
    /// What was made of the changes of suites and the posts that wait or are in flight, by the entries' operations.
    var drafted: [ClusterName: DraftedEntry] = [:]
    var draftedPosts: Set<String> = []
    var postsInFlight: [String] = []
    /// Changes of this machine that are younger than the last round of looking: their order is not certain yet.
    var held: [Drafted] = []
    var changedItems: [Drafted] = []

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
        var suites: Set<String> = []
        var cursors: [String: Cursor] = [:]
        var posts: [String] = []
    }

    /// What the fold and others have changed since it was stored.
    var toStore = Unstored()
    private var generator = SystemRandomNumberGenerator()
    /// Whether the machine has just joined: what is here was not made since.
    private(set) var stateIsNew: Bool
    /// A person has accepted that most items are gone.
    var hasAcceptedLoss = false
    var nextStatus: Int64 = 0
    private var nextLockCheck: Int64 = 0
    /// How many messages the fold has at most that are not in the channels here.
    var unappliedMessages = 0
    /// The number of the last message of each channel that is stored.
    var storedMessages: [[UInt8]: UInt64] = [:]
    var shownStatus: ClusterStatus?
    /// When the number of entries was read.
    var readAt: Date?
    let recordsChanged = Guarded(true)
    var lines: [String] = []
    /// Whether the threads that wait for changes are to end.
    private let isOver = Guarded(false)
    private let storesWaker = try? Poller()

    struct Unstored {
        var items: Set<ItemName> = []
        var machines: Set<ClusterName> = []
        var keys: Set<[UInt8]> = []
        var channels: Set<[UInt8]> = []
        var isFoldChanged = false
        var isAllNew = false
        var isOutboxChanged = false
        var isAcceptedChanged = false
        var areRefusedKeysChanged = false
        var areConflictsChanged = false
        /// Files that came out of the container, and are gone.
        var endedTaken: Set<[UInt8]> = []
        /// Whether a request is about to be sent, which must be on the disk before.
        var mustBeDurable = false
        var cursor: Cursor?
        var suiteCursors: [String: Cursor] = [:]
        var isEmpty: Bool {
            items.isEmpty && machines.isEmpty && keys.isEmpty && channels.isEmpty && suiteCursors.isEmpty
                && !isFoldChanged && !isAllNew && !isOutboxChanged && !isAcceptedChanged && !areRefusedKeysChanged
                && !areConflictsChanged && endedTaken.isEmpty
        }
    }

    init(
        _ container: Container, _ identity: MachineIdentity, _ store: StateStore, _ configuration: EtcdConfiguration,
        _ full: FullDisk
    ) throws {
        self.container = container
        self.identity = identity
        self.store = store
        self.full = full
        fullNote = FullDiskNote(container)
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
        refusedKeys = loaded.refusedKeys
        (unappliedKeys, storedUnappliedKeys) = (loaded.unappliedKeys, loaded.unappliedKeys)
        (removedByCoordination, storedRemovals) = (loaded.removals, loaded.removals)
        storedMessages = loaded.fold.channels.mapValues(\.last)
        var disk = try LocalDisk(container)
        disk.load(loaded)
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
        // A newer version of this program may have been started.
        if let pause = loaded.pause, pause != .newerVersion { showPause(pause) }
    }

    /// Whether a request is at etcd.
    var isBeingCommitted: Bool { sentRequest != nil }

    func freshName() -> ClusterName { .random(using: &generator) }

    // MARK: The loop

    /// Notes a line for the program's user.
    func log(_ line: String) { lines.append(line) }

    /// Runs until `isEnding` returns true, which an interruption makes this function look at. `report` gets a line for each
    /// thing that the user would notice. After an error, this object is to be given up: what is stored is true.
    func run(_ report: (String) -> Void, until isEnding: () -> Bool) throws {
        defer { endThreads() }
        fullNote.prepare(hasText: full.hasNote)
        try finishTaken()
        // Contents that were loaded may be incomplete since a power cut; those in flight were synchronized.
        try noteLostTaken()
        contents.removeAll(except: Set(outbox.inFlight?.digests ?? []), try takenNames())
        giveUpLostContents()
        if stateIsNew {
            try disk.lookAtAll()
            toStore.cursor = follower.cursor
        }
        // What was put back may be in no change that is still to come.
        if currentPause == .loss || hasAcceptedLoss { try disk.lookAtAll() }
        mirror.markDifferences(to: fold.tree)
        for local in mirror.differences(on: disk.tree) { outbox.add(.item(local)) }
        _ = disk.takeChanged()
        try checkLoss()
        if currentPause == .loss, !mirror.isLost(disk.tree, removed: removedByCoordination) { try goOn() }
        dirtyKeys = Set(fold.values.keys).union(unappliedKeys)
        dirtyChannels = Set(fold.channels.keys)
        try countUnappliedMessages()
        if outbox.inFlight == nil { try forgetPosts() }
        try watchStores()
        try link.start()
        try followRecords()
        defer { link.stop() }
        while !isEnding() {
            let seen = Interruption.latest
            try takeChanges()
            let haveChanged = recordsChanged.withLock { flag in
                defer { flag = false }
                return flag
            }
            if haveChanged || nextLockCheck <= monotonicNanoseconds() && !records.locks().isEmpty {
                // A process that has a lock, or waits for one, may have been killed, which changes no record.
                nextLockCheck = monotonicNanoseconds() + 1_000_000_000
                try takeRecords()
            }
            for event in mailbox.takeAll() { try take(event) }
            let hasMore = try work()
            try storeState()
            stateIsNew = false
            noteRoom()
            try showStatus(force: false)
            for line in lines { report(line) }
            lines = []
            if hasMore || suites.values.contains(where: \.hasMore) { continue }
            let rest = nextTime().map { max(0, $0 - monotonicNanoseconds()) }
            let now = monotonicNanoseconds()
            if looked > 0 { lookingPace.ended(changes: looked, at: now) }
            looked = 0
            // What comes from the cluster, and what is asked of it, ends the wait.
            let collecting = lookingPace.next - now
            if collecting > 0 {
                Interruption.wait(since: seen, atMost: min(collecting, rest ?? .max))
            } else if let change = try follower.next(timeout: rest.map { .nanoseconds($0) }, since: seen) {
                try look(at: change)
            }
        }
        status.isConnected = false
        try showStatus(force: true)
    }

    /// Ends what no longer lacks room.
    private func noteRoom() {
        if !full.isFull { return }
        if let failure = full.takeNews() { log(failure) }
        full.keep { work in
            switch work {
            // A round was stored. Most is to be stored after a connection.
            case .state: !isConnected && currentPause == nil && readingFailures == 0
            case .item(let item): mirror.stale.contains(item)
            case .sent(let local): disk.tree[local] != nil
            case .values: !dirtyKeys.isEmpty
            case .messages(let channel): dirtyChannels.contains(channel)
            case .takenOut(let file): lostTaken.contains(file) || takenOut.contains { $0.file == file }
            case .status: true
            }
        }
        if full.endRound() { log("going on: there is room on the disk") }
    }

    /// The next time at which something is due; nil where only events matter.
    private func nextTime() -> Int64? {
        var times = deferred.values.min().map { [$0] } ?? []
        if let next = takenOut.first { times.append(next.due) }
        if let next = held.map(\.time).min() {
            // The times of posts and of sets are whatever their records have.
            let (rest, isOver) = next.subtractingReportingOverflow(wallNanoseconds())
            let longest: Int64 = 1_000_000_000
            times.append(monotonicNanoseconds() + (isOver ? longest : min(max(0, rest), longest)))
        }
        if full.isFull, full.lacking.isEmpty || full.next > monotonicNanoseconds() { times.append(full.next) }
        if !isConnected && !isReading && currentPause == nil { times.append(nextReading) }
        if outbox.request != nil && sentRequest == nil && isConnected { times.append(nextCommit) }
        if let nextRetry { times.append(nextRetry) }
        if outbox.waitingCount > 0, sendingPace.next > monotonicNanoseconds() { times.append(sendingPace.next) }
        if shownStatus != stated { times.append(nextStatus) }
        if !records.locks().isEmpty { times.append(nextLockCheck) }
        // Requests that wait for what was changed before them.
        if recordsChanged.withLock({ $0 }) { times.append(monotonicNanoseconds() + 20_000_000) }
        return times.min()
    }

    /// Lets a change of a record end the wait of the loop.
    private func followRecords() throws {
        let changes = try records.changes()
        let flag = recordsChanged
        try changes.onEach(until: isOver) {
            flag.withLock { $0 = true }
            Interruption.raise()
        }
    }

    /// Lets a new suite or channel end the wait of the loop.
    private func watchStores() throws {
        let places = container.storeDirectories
        guard let poller = storesWaker else { return }
        let isOver = isOver
        try WorkThread.start {
            guard let watch = try? PathWatch(), (try? poller.add(watch.descriptor)) != nil else { return }
            while !isOver.withLock({ $0 }) {
                watch.watch(places)
                Interruption.raise()
                _ = try? poller.wait(nanoseconds: nil)
                watch.drain()
            }
        }
    }

    private func endThreads() {
        isOver.withLock { $0 = true }
        storesWaker?.wake()
        suites = [:]
        Interruption.raise()
    }

    // MARK: Work

    var isWritingSnapshot = false
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
        if !isConnected && !isReading && currentPause == nil && nextReading <= now { read() }
        try finishTakenOut(now)
        if let retry = nextRetry, retry <= now { nextRetry = nil }
        if currentPause != nil { return false }
        if try applySteps() { return true }
        // What was changed after an item is changed here after it; an item that is in use, or cannot be had, is not awaited.
        if !dirtyKeys.isEmpty || !dirtyChannels.isEmpty, isCaughtUp {
            try applyValues()
            try applyMessages(asFarAsThereIsRoom: true)
        }
        if full.isFull { tryAgain(now) }
        try finishAccepted()
        try grantLocks()
        let isAwaited = !queued.isEmpty || outbox.waitingCount >= Self.mostAtOnce
        if outbox.inFlight == nil && isConnected && nextRetry == nil && (isAwaited || sendingPace.next <= now) {
            try prepare()
        }
        if outbox.inFlight == nil && mirror.stale.isEmpty && outbox.waitingCount == 0 {
            contents.removeAll(except: [], try takenNames())
        } else if full.takeMayFree() {
            contents.removeAll(except: neededContents, try takenNames())
        }
        if isConnected, let request = outbox.request, sentRequest == nil, nextCommit <= now {
            toStore.isOutboxChanged = true
            toStore.mustBeDurable = true
            try storeState()
            sentRequest = request
            let isWhole = request.bytes == outbox.inFlight?.entry.bytes
            link.send(.commit(request, contents: isWhole ? outbox.inFlight?.digests ?? [] : []))
        }
        if isConnected, !isWritingSnapshot, fold.index - lastSnapshot >= entriesBetweenSnapshots {
            isWritingSnapshot = true
            lastSnapshot = fold.index
            link.send(.snapshot(fold.snapshot, fold.summary))
        }
        return false
    }

    /// Sends the items again whose contents could not be kept.
    private func tryAgain(_ now: Int64) {
        if full.next > now { return }
        for case .sent(let local) in full.lacking { outbox.add(.item(local)) }
    }

    /// Whether everything that the cluster has is here but what cannot be had now, and what that keeps from its place. True only
    /// behind `applySteps`.
    var isCaughtUp: Bool {
        let awaited = deferred.keys.contains { !passed.contains($0) } || outbox.inFlight?.sent.isEmpty == false
        return !awaited || mirror.stale.elements.allSatisfy { passed.contains($0) }
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
