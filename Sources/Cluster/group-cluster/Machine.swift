import Cluster
import Dispatch
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// The state of this machine in its cluster, and the loop that changes it. A single thread runs the loop and owns
/// everything here.
///
/// The loop follows the container, replays the cluster's log, applies the result to the disk, and sends what was
/// changed on this machine. The decisions are made by the values of `GroupCluster`, which do no input or output. This
/// type acts on them, and stores what must outlive the program.
///
/// A few words that all files of this program use:
///
/// - The *fold* is the state that results from replaying the cluster's log: a tree of items, values and messages.
/// - The *mirror* has the base of each item: the state that was last the same in the fold and on the disk. An item
///   whose base differs from the fold is *stale*: the disk lacks a change of the cluster.
/// - The *outbox* has what waits to be sent, and the one entry that is in flight.
///
/// Each part below has its own state and can be read alone. The extensions of this type, one file each, connect the
/// parts:
///
///     journal, suites, channels ── LocalChanges ──▶ outbox ── Sending ──▶ etcd ── Folding ──▶ fold, mirror
///     records ── Requests ──▶ outbox
///
///     fold, mirror ── Applying ──▶ disk
///              └──▶ suites, channels
final class Machine {
    let container: Container
    let store: StateStore
    let records: ClusterRecords
    let contents: ContentFiles
    let identity: MachineIdentity
    let mailbox = Mailbox<LinkEvent>()
    let link: EtcdLink
    /// The work that lacks room on the disk. This object outlives the machine.
    let full: FullDisk

    // The cluster's state, this machine's state, and what differs between them.
    var fold: ClusterFold
    var mirror: ClusterMirror
    var outbox: ClusterOutbox
    var disk: LocalDisk
    var follower: Follower<Change>

    // The parts, each with a file of its own.
    let report: Report
    let book: RecordBook
    let suites: Suites
    let channels: Channels
    let locks: Locks
    let displaced: DisplacedFiles
    var requests: StrictQueue
    var removals: RemovalGuard
    var schedule = ItemSchedule()
    var history = HistoryReading()
    var commits = CommitAttempts()
    var order = LocalOrder<Cursor>(mostChanges: mostAtOnce * 2, mostBytes: ClusterKeys.smallContents)
    var sendingPace = Pace.sending
    private var lookingPace = Pace.looking

    /// The reason why nothing is sent or applied until a person has decided; nil while the machine is not paused.
    var currentPause: Pause? { didSet { report.status.paused = currentPause?.reason } }
    /// The paths of items that cannot be sent or applied, with the reasons. The status shows them.
    var obstacles: [[UInt8]: String] = [:]
    /// The author of each change that is to be applied. The journal records the author with the change.
    var authors: [ItemName: [UInt8]] = [:]
    /// The items that were changed here in this round of the loop, with the times of their changes.
    var changedItems: [(local: LocalItem, time: Int64)] = []
    /// The number of changes of the journal that were read since the last sleep.
    var looked = 0
    /// Whether the machine has just joined: everything that is here was made before that.
    private(set) var stateIsNew: Bool
    /// The decision by which a person has accepted that the cluster has another history; nil if there is none. The loop
    /// ends then, and `main` makes a new machine, and answers.
    var acceptedHistory: String?
    /// Whether items are gone that were not counted yet.
    var mustCheckRemovals = false
    private var nextLockCheck: Int64 = 0
    let recordsChanged = Guarded(true)
    /// The requests for the cluster's state that etcd is asked for.
    var statesAsked: Set<String> = []
    /// When the other machines were read.
    var machinesReadAt: Date?
    /// The parts of the fold and of the outbox that were changed since they were stored.
    var toStore = Unstored()
    /// Whether the threads that wait for changes should end.
    private let isOver = Guarded(false)
    private let storesWaker = try? Poller()

    struct Unstored {
        var items: Set<ItemName> = []
        var machines: Set<ClusterName> = []
        var keys: Set<[UInt8]> = []
        var isFoldChanged = false
        var isAllNew = false
        var isOutboxChanged = false
        /// Whether the transaction must be on the disk when it returns: a request is sent right after it.
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
        fold = loaded.fold
        mirror = loaded.mirror
        outbox = loaded.outbox
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
        if let last = records.status, last.name == identity.name {
            (status.machines, machinesReadAt) = (last.machines, last.readAt)
        }
        status.replaced = loaded.replaced.isEmpty ? nil : loaded.replaced
        report = Report(status, container, records, store, full)
        book = try RecordBook(records)
        suites = Suites(container, store, full, report, loaded)
        channels = Channels(container, records, book, identity, full, report, loaded)
        locks = Locks(container, records, book, link)
        displaced = DisplacedFiles(store, contents, full, report)
        requests = StrictQueue(accepted: loaded.accepted)
        // This version of the program may read what the stored pause was about, so that pause is not resumed.
        if let pause = loaded.pause, pause != .newerVersion { showPause(pause) }
    }

    func log(_ line: String) { report.log(line) }

    // MARK: The loop

    /// Runs until `isEnding` returns true. An interruption wakes the loop, which then calls `isEnding`.
    ///
    /// `print` gets a line for each event that concerns the user. After an error this object must not be used any more,
    /// since its memory may be ahead of the stored state. The stored state is consistent.
    func run(_ print: (String) -> Void, until isEnding: () -> Bool) throws -> End {
        defer { endThreads() }
        report.prepare()
        try displaced.finishAll(on: &disk, &mirror, fold.tree)
        // A loaded content may be incomplete after a power cut, since loading does not sync it. The contents of the
        // entry in flight were synced before it was sent.
        try displaced.noteLost()
        contents.removeAll(except: Set(outbox.inFlight?.digests ?? []), try displaced.names())
        giveUpLostContents()
        if stateIsNew {
            try disk.lookAtAll()
            toStore.cursor = follower.cursor
        } else {
            try disk.findIgnored()
        }
        // Items that were put back while the program did not run may be in no later change of the journal.
        if removals.isWithholding { try disk.lookAtAll() }
        mirror.markDifferences(to: fold.tree)
        for local in mirror.differences(on: disk.tree) { outbox.add(.item(local)) }
        _ = disk.takeChanged()
        checkRemovals()
        // A person has decided about an earlier run.
        if let decision = book.decision, decision.answer == nil {
            try records.answer("the program was started anew since", to: decision.name)
        }
        try channels.countUnapplied(fold)
        if outbox.inFlight == nil { try channels.forgetPosts() }
        try watchStores()
        if !stateIsNew && currentPause == nil {
            try takeChanges()
            takeOver()
            try storeState()
        }
        try link.start()
        try followRecords()
        defer { link.stop() }
        while !isEnding() && acceptedHistory == nil {
            let seen = Interruption.latest
            try takeChanges()
            let haveChanged = recordsChanged.withLock { flag in
                defer { flag = false }
                return flag
            }
            if haveChanged || isDue(.locks) {
                // A process that holds or awaits a lock may have been killed, which changes no record.
                nextLockCheck = monotonicNanoseconds() + 1_000_000_000
                try takeRecords()
            }
            for event in mailbox.takeAll() { try take(event) }
            // The entries are stored before the steps that they need. Otherwise a program that is killed after a step
            // would not know, at its next start, whose item it finds on the disk.
            if toStore.isFoldChanged && !mirror.stale.isEmpty { try storeState() }
            let hasMore = try work()
            try storeState()
            stateIsNew = false
            noteRoom()
            try showStatus(force: false)
            for line in report.takeLines() { print(line) }
            if hasMore || suites.haveMore { continue }
            let rest = nextTime.map { max(0, $0 - monotonicNanoseconds()) }
            let now = monotonicNanoseconds()
            if looked > 0 { lookingPace.ended(changes: looked, at: now) }
            looked = 0
            // Collecting is a wait without the follower: more changes gather in the journal meanwhile. Events of the
            // link, and records, still end the wait.
            let collecting = lookingPace.next - now
            if collecting > 0 {
                Interruption.wait(since: seen, atMost: min(collecting, rest ?? .max))
            } else if let change = try follower.next(timeout: rest.map { .nanoseconds($0) }, since: seen) {
                try look(at: change)
            }
        }
        report.status.isConnected = false
        try showStatus(force: true)
        return acceptedHistory.map { .toJoinAnew(decision: $0) } ?? .interrupted
    }

    /// The reason why the loop has ended.
    enum End {
        case interrupted
        /// A person has accepted that the cluster has another history.
        case toJoinAnew(decision: String)
    }

    /// Forgets the failures of work that is done by now, or is not wanted any more, and the work that lacked room.
    private func noteRoom() {
        report.failures.keep { work in
            switch work {
            case .log: !history.isConnected
            // A paused machine does not try again: the reason is its pause.
            case .commit where currentPause != nil, .item where currentPause != nil, .values where currentPause != nil:
                false
            case .commit: outbox.inFlight != nil
            case .link: true
            case .item(let item): mirror.stale.contains(item)
            case .values: suites.areDirty
            case .takenOut(let file): displaced.waits(file)
            case .looking: !disk.isCertain
            }
        }
        if !full.isFull { return }
        if let failure = full.takeNews() { log(failure) }
        full.keep { work in
            switch work {
            // That one store succeeded says little, as the largest one comes after reconnecting. So the failure is kept
            // until the machine is connected, is paused, or has failed to read the log.
            case .state: !history.isConnected && currentPause == nil && history.failures == 0
            case .item(let item): mirror.stale.contains(item)
            case .sent(let local): disk.tree[local] != nil
            case .values: suites.areDirty
            case .messages(let channel): channels.isDirty(channel)
            case .takenOut(let file): displaced.waits(file)
            case .status: true
            }
        }
        if full.endRound() { log("going on: there is room on the disk") }
    }

    /// What a round may have to do at a certain time, without an event. `work` does what is due; the loop waits no longer
    /// than until the next of these times.
    private enum DueWork: CaseIterable {
        /// Trying an item again that was in use.
        case item
        /// Looking again at files that came out of the container.
        case takenOut
        /// Trying a strict request again.
        case request
        /// Writing the status.
        case status
        /// Sending values and messages that are held for older ones.
        case order
        /// Trying again what had no room on the disk.
        case room
        /// Reading the log.
        case read
        /// Committing the entry in flight.
        case commit
        /// Putting the next entry in flight.
        case prepare
        /// Looking whether processes with locks are alive.
        case locks
        /// Looking for items that may be elsewhere, and at requests that wait for changes of suites.
        case lookAgain
    }

    /// The time at which something is to be done; nil if only an event makes it necessary.
    private func time(of work: DueWork) -> Int64? {
        switch work {
        case .item: return schedule.next
        case .takenOut: return displaced.next
        case .request: return requests.nextRetry
        case .status: return report.nextTime
        case .order:
            guard let next = order.earliest else { return nil }
            // The times of posts and of values come from records, and may be any number.
            let (rest, isOver) = next.subtractingReportingOverflow(wallNanoseconds())
            let longest: Int64 = 1_000_000_000
            return monotonicNanoseconds() + (isOver ? longest : min(max(0, rest), longest))
        case .room:
            let isTried = !full.lacking.isEmpty && full.next <= monotonicNanoseconds()
            return full.isFull && !isTried ? full.next : nil
        case .read: return history.isWanted && currentPause == nil ? history.next : nil
        case .commit: return outbox.request != nil && !commits.isAwaited && history.isConnected ? commits.next : nil
        case .prepare:
            let isHeld = outbox.waitingCount > 0 && sendingPace.next > monotonicNanoseconds()
            return isHeld ? sendingPace.next : nil
        case .locks: return locks.areWatched ? nextLockCheck : nil
        case .lookAgain:
            let isWanted = !disk.isCertain || recordsChanged.withLock { $0 }
            return isWanted ? monotonicNanoseconds() + 20_000_000 : nil
        }
    }

    private func isDue(_ work: DueWork) -> Bool { time(of: work).map { $0 <= monotonicNanoseconds() } ?? false }

    /// The time at which something is due next; nil if only an event ends the wait.
    private var nextTime: Int64? { DueWork.allCases.compactMap(time).min() }

    /// Starts a thread that wakes the loop after each change of a record.
    private func followRecords() throws {
        let changes = try records.changes(since: .now)
        let flag = recordsChanged
        try changes.onEach(until: isOver) {
            flag.withLock { $0 = true }
            Interruption.raise()
        }
    }

    /// Starts a thread that wakes the loop when a suite or a channel is made.
    private func watchStores() throws {
        let directories = container.storeDirectories
        guard let poller = storesWaker else { return }
        let isOver = isOver
        try WorkThread.start {
            guard let watch = try? PathWatch(), (try? poller.add(watch.descriptor)) != nil else { return }
            while !isOver.withLock({ $0 }) {
                watch.watch(directories)
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
    /// The number of entries after which a snapshot is written.
    var entriesBetweenSnapshots: UInt64 = 4_096
    private static let stepsAtOnce = 256

    /// Does everything that is possible now. Returns whether there may be more to do at once.
    private func work() throws -> Bool {
        let now = monotonicNanoseconds()
        schedule.release(at: now)
        requests.passed(now)
        if isDue(.read) { read() }
        try displaced.finish(dueAt: now, on: &disk)
        // Files that lack room are put back as soon as there is room, not only at the next connection.
        if history.isConnected && displaced.mayTryLost { displaced.recoverLost(fold, mirror, on: &disk) }
        if currentPause != nil { return false }
        if try applySteps() { return true }
        // A value or message that was sent after an item becomes visible after that item. An item that is in use or
        // cannot be loaded delays them for a short time only: see `ItemSchedule`.
        if suites.areDirty || channels.areDirty, isCaughtUp {
            try suites.apply(fold) { self.unfoldedChanges }
            try channels.apply(fold, asFarAsThereIsRoom: true)
        }
        if full.isFull { tryAgain(now) }
        try finishAccepted()
        if history.isConnected && locks.hasGiven(upTo: fold.index) && isCaughtUp { try locks.grant(upTo: fold.index) }
        let isAwaited = !requests.isEmpty || outbox.waitingCount >= Self.mostAtOnce
        if outbox.inFlight == nil && history.isConnected && requests.nextRetry == nil
            && (isAwaited || sendingPace.next <= now)
        {
            try prepare()
        }
        if outbox.inFlight == nil && mirror.stale.isEmpty && outbox.waitingCount == 0 {
            contents.removeAll(except: [], try displaced.names())
        } else if full.takeMayFree() {
            contents.removeAll(except: neededContents, try displaced.names())
        }
        if isDue(.commit), let request = outbox.request {
            toStore.isOutboxChanged = true
            // The cluster may have the entry as soon as it is sent, so the entry must be on the disk before. Otherwise
            // a power cut could make this machine forget its own entry, and take it for that of a clone.
            toStore.mustBeDurable = true
            try storeState()
            commits.sent(request)
            // An empty entry, which competes for the number, names no contents.
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

    /// Queues the items again whose contents had no room to be kept.
    private func tryAgain(_ now: Int64) {
        if full.next > now { return }
        for case .sent(let local) in full.lacking { outbox.add(.item(local)) }
    }

    /// Whether the disk has everything that the cluster has, except items that cannot be applied now and the items that
    /// those keep from their paths. Valid only after `applySteps`.
    var isCaughtUp: Bool {
        schedule.isCaughtUp(stale: mirror.stale.elements, isSending: outbox.inFlight?.sent.isEmpty == false)
    }

    /// The items of the cluster that may be at other paths of the disk than they are known at.
    private var itemsElsewhere: Set<ItemName> {
        var items: Set<ItemName> = []
        for local in disk.missing.items {
            items.formUnion(([local] + disk.tree.descendants(of: local)).compactMap { mirror.items[$0] })
        }
        return items
    }

    /// Finds on the disk the steps that the last run has made and not stored, before newer entries come.
    private func takeOver() {
        mirror.takeOver(
            from: fold.tree, on: disk.tree, inFlight: outbox.inFlight?.sent ?? [], deferred: itemsElsewhere,
            fresh: .fresh())
        for local in mirror.takeFound() { outbox.add(.item(local)) }
    }

    /// Makes the steps that bring the disk to the cluster's tree. Returns whether more steps can be made at once.
    private func applySteps() throws -> Bool {
        var made = 0
        let isBulk = mirror.stale.count > 8
        while made < Self.stepsAtOnce {
            let step = mirror.nextStep(
                to: fold.tree, on: disk.tree, inFlight: outbox.inFlight?.sent ?? [],
                deferred: schedule.waiting.union(itemsElsewhere), fresh: .fresh())
            for local in mirror.takeFound() { outbox.add(.item(local)) }
            guard let step else { break }
            try perform(step, durability: isBulk ? .relaxed : .durable)
            made += 1
        }
        if made > 0 && isBulk {
            // A step that is stored as made must be on the disk: after a power cut, an older content would otherwise be
            // taken for a change of this machine, and sent.
            try disk.synchronize()
        }
        if mirror.stale.isEmpty {
            authors = [:]
            schedule.ended()
        }
        return made == Self.stepsAtOnce
    }

    /// Finishes what the program has begun with files that came out of the container, before the machine leaves its
    /// cluster.
    func finishTaken(waiting nanoseconds: Int64) throws {
        try displaced.finishAll(on: &disk, &mirror, fold.tree)
        try displaced.noteLost()
        displaced.recoverLost(fold, mirror, on: &disk)
        try displaced.finishAll(waiting: nanoseconds, on: &disk)
    }
}
