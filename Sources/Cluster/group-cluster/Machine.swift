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
///
/// Each part below has a state of its own, and can be read alone; the extensions of this type, a file for each, carry
/// what happens between the parts:
///
///     journal, suites, channels ── LocalChanges ──▶ outbox ── Sending ──▶ etcd ── Folding ──▶ fold, mirror ── Applying ──▶ disk
///     records ── Requests ──▶ outbox                                                     └──▶ suites, channels
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

    // What is known, of the cluster and of this machine.
    var fold: ClusterFold
    var mirror: ClusterMirror
    var outbox: ClusterOutbox
    var disk: LocalDisk
    var follower: Follower<Change>

    // The parts.
    let report: Report
    let book: RecordBook
    let suites: Suites
    let channels: Channels
    let locks: Locks
    let taken: TakenOut
    var requests: StrictQueue
    var removals: RemovalGuard
    var schedule = ItemSchedule()
    var history = HistoryReading()
    var commits = CommitAttempts()
    var order = LocalOrder<Cursor>(mostChanges: mostAtOnce * 2, mostBytes: ClusterKeys.smallContents)
    var sendingPace = Pace.sending
    private var lookingPace = Pace.looking

    /// Why nothing is sent or applied until a person has decided; nil where the machine is not paused.
    var currentPause: Pause? { didSet { report.status.paused = currentPause?.reason } }
    /// Items that cannot be sent, and why.
    var refused: [[UInt8]: String] = [:]
    /// Who made what is to be applied, for the journal.
    var authors: [ItemName: [UInt8]] = [:]
    /// Items that were changed here in this round, and when.
    var changedItems: [(local: LocalItem, time: Int64)] = []
    /// The number of changes in the journal of this round.
    var looked = 0
    /// Whether the machine has just joined: what is here was not made since.
    private(set) var stateIsNew: Bool
    /// Whether a person has accepted that the cluster has another history.
    var mustJoinAnew = false
    private var nextLockCheck: Int64 = 0
    let recordsChanged = Guarded(true)
    /// What the fold and the outbox have changed since they were stored.
    var toStore = Unstored()
    /// Whether the threads that wait for changes are to end.
    private let isOver = Guarded(false)
    private let storesWaker = try? Poller()

    struct Unstored {
        var items: Set<ItemName> = []
        var machines: Set<ClusterName> = []
        var keys: Set<[UInt8]> = []
        var isFoldChanged = false
        var isAllNew = false
        var isOutboxChanged = false
        /// Whether a request is about to be sent, which must be on the disk before.
        var mustBeDurable = false
        var cursor: Cursor?
        var isEmpty: Bool {
            items.isEmpty && machines.isEmpty && keys.isEmpty && !isFoldChanged && !isAllNew && !isOutboxChanged
                && cursor == nil
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
        (fold, mirror, outbox) = (loaded.fold, loaded.mirror, loaded.outbox)
        removals = loaded.removals
        var disk = try LocalDisk(container)
        disk.load(loaded)
        self.disk = disk
        stateIsNew = loaded.cursor == nil
        follower = try container.follow(since: loaded.cursor.map { .cursor($0) } ?? .now)
        var status = ClusterStatus(
            name: identity.name, host: identity.host, machine: identity.machine.text,
            endpoints: configuration.endpoints, processIdentifier: processIdentifier(), since: Date())
        status.conflicts = loaded.conflicts
        status.replaced = loaded.replaced.isEmpty ? nil : loaded.replaced
        report = Report(status, container, records, store, full)
        book = try RecordBook(records)
        suites = Suites(container, store, full, report, loaded)
        channels = Channels(container, records, book, identity, full, loaded)
        locks = Locks(container, records, book, link)
        taken = TakenOut(store, contents, full, report)
        requests = StrictQueue(accepted: loaded.accepted)
        // A newer version of this program may have been started.
        if let pause = loaded.pause, pause != .newerVersion { showPause(pause) }
    }

    func log(_ line: String) { report.log(line) }

    // MARK: The loop

    /// Runs until `isEnding` returns true, which an interruption makes this function look at. `print` gets a line for each
    /// thing that the user would notice. After an error, this object is to be given up: what is stored is true.
    func run(_ print: (String) -> Void, until isEnding: () -> Bool) throws -> End {
        defer { endThreads() }
        report.prepare()
        try taken.finishAll(on: &disk)
        // Contents that were loaded may be incomplete since a power cut; those in flight were synchronized.
        try taken.noteLost()
        contents.removeAll(except: Set(outbox.inFlight?.digests ?? []), try taken.names())
        giveUpLostContents()
        if stateIsNew {
            try disk.lookAtAll()
            toStore.cursor = follower.cursor
        }
        // What was put back may be in no change that is still to come.
        if removals.needsCheck { try disk.lookAtAll() }
        mirror.markDifferences(to: fold.tree)
        for local in mirror.differences(on: disk.tree) { outbox.add(.item(local)) }
        _ = disk.takeChanged()
        checkRemovals()
        // What a person has decided was meant for an earlier run.
        if book.isAcceptanceAsked { try records.removeAcceptance() }
        try channels.countUnapplied(fold)
        if outbox.inFlight == nil { try channels.forgetPosts() }
        try watchStores()
        try link.start()
        try followRecords()
        defer { link.stop() }
        while !isEnding() && !mustJoinAnew {
            let seen = Interruption.latest
            try takeChanges()
            let haveChanged = recordsChanged.withLock { flag in
                defer { flag = false }
                return flag
            }
            if haveChanged || nextLockCheck <= monotonicNanoseconds() && locks.areWatched {
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
            for line in report.takeLines() { print(line) }
            if hasMore || suites.haveMore { continue }
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
        report.status.isConnected = false
        try showStatus(force: true)
        return mustJoinAnew ? .toJoinAnew : .interrupted
    }

    /// Why the loop has ended.
    enum End {
        case interrupted
        /// A person has accepted that the cluster has another history.
        case toJoinAnew
    }

    /// Ends what no longer lacks room.
    private func noteRoom() {
        if !full.isFull { return }
        if let failure = full.takeNews() { log(failure) }
        full.keep { work in
            switch work {
            // A round was stored. Most is to be stored after a connection.
            case .state: !history.isConnected && currentPause == nil && history.failures == 0
            case .item(let item): mirror.stale.contains(item)
            case .sent(let local): disk.tree[local] != nil
            case .values: suites.areDirty
            case .messages(let channel): channels.isDirty(channel)
            case .takenOut(let file): taken.waits(file)
            case .status: true
            }
        }
        if full.endRound() { log("going on: there is room on the disk") }
    }

    /// The next time at which something is due; nil where only events matter.
    private func nextTime() -> Int64? {
        var times = [schedule.next, taken.next, requests.nextRetry, report.nextTime].compactMap { $0 }
        if let next = order.earliest {
            // The times of posts and of sets are whatever their records have.
            let (rest, isOver) = next.subtractingReportingOverflow(wallNanoseconds())
            let longest: Int64 = 1_000_000_000
            times.append(monotonicNanoseconds() + (isOver ? longest : min(max(0, rest), longest)))
        }
        if full.isFull, full.lacking.isEmpty || full.next > monotonicNanoseconds() { times.append(full.next) }
        if history.isWanted && currentPause == nil { times.append(history.next) }
        if outbox.request != nil && !commits.isAwaited && history.isConnected { times.append(commits.next) }
        if outbox.waitingCount > 0, sendingPace.next > monotonicNanoseconds() { times.append(sendingPace.next) }
        if locks.areWatched { times.append(nextLockCheck) }
        // Requests that wait for what was changed before them.
        if recordsChanged.withLock({ $0 }) { times.append(monotonicNanoseconds() + 20_000_000) }
        return times.min()
    }

    /// Lets a change of a record end the wait of the loop.
    private func followRecords() throws {
        let changes = try records.changes(since: .now)
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
        suites.end()
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
        schedule.release(at: now)
        requests.passed(now)
        if history.isWanted && currentPause == nil && history.next <= now { read() }
        try taken.finish(dueAt: now, on: &disk)
        // What lacks room is tried again, also without another connection.
        if history.isConnected && taken.mayTryLost { taken.recoverLost(fold, mirror, on: &disk) }
        if currentPause != nil { return false }
        if try applySteps() { return true }
        // What was changed after an item is changed here after it; an item that is in use, or cannot be had, is not awaited.
        if suites.areDirty || channels.areDirty, isCaughtUp {
            try suites.apply(fold) { self.unfoldedChanges }
            try channels.apply(fold, asFarAsThereIsRoom: true)
        }
        if full.isFull { tryAgain(now) }
        try finishAccepted()
        if history.isConnected && locks.hasGiven && isCaughtUp { try locks.grant() }
        let isAwaited = !requests.isEmpty || outbox.waitingCount >= Self.mostAtOnce
        if outbox.inFlight == nil && history.isConnected && requests.nextRetry == nil
            && (isAwaited || sendingPace.next <= now)
        {
            try prepare()
        }
        if outbox.inFlight == nil && mirror.stale.isEmpty && outbox.waitingCount == 0 {
            contents.removeAll(except: [], try taken.names())
        } else if full.takeMayFree() {
            contents.removeAll(except: neededContents, try taken.names())
        }
        if history.isConnected, let request = outbox.request, !commits.isAwaited, commits.next <= now {
            toStore.isOutboxChanged = true
            toStore.mustBeDurable = true
            try storeState()
            commits.sent(request)
            let isWhole = request.bytes == outbox.inFlight?.entry.bytes
            link.send(.commit(request, contents: isWhole ? outbox.inFlight?.digests ?? [] : []))
        }
        if history.isConnected, !isWritingSnapshot, fold.index - lastSnapshot >= entriesBetweenSnapshots {
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
        schedule.isCaughtUp(stale: mirror.stale.elements, isSending: outbox.inFlight?.sent.isEmpty == false)
    }

    /// Applies what the cluster has to the disk. Returns whether more can be done at once.
    private func applySteps() throws -> Bool {
        var made = 0
        let isBulk = mirror.stale.count > 8
        while made < Self.stepsAtOnce {
            let step = mirror.nextStep(
                to: fold.tree, on: disk.tree, inFlight: outbox.inFlight?.sent ?? [], deferred: schedule.waiting,
                fresh: .fresh())
            for local in mirror.takeFound() { outbox.add(.item(local)) }
            guard let step else { break }
            try perform(step, durability: isBulk ? .relaxed : .durable)
            made += 1
        }
        if made > 0 && isBulk {
            // What is stored as applied must not be lost by a power cut: it would be taken for a change made here.
            try disk.synchronize()
        }
        if mirror.stale.isEmpty {
            authors = [:]
            schedule.ended()
        }
        return made == Self.stepsAtOnce
    }

    /// Before the machine leaves its cluster: finishes what it has begun with files that came out of the container.
    func finishTaken(waiting nanoseconds: Int64) throws {
        try taken.finishAll(on: &disk)
        try taken.noteLost()
        taken.recoverLost(fold, mirror, on: &disk)
        try taken.finishAll(waiting: nanoseconds, on: &disk)
    }
}
