import GroupCluster
import TestSupport

/// Machines, a network and etcd, driven by a seed. Whatever a seed does wrong, it does again.
struct Simulation {
    enum Packet {
        case commit(CommitRequest)
        case refusal(CommitRequest, counter: UInt64, hasToken: Bool)
        case read(Int)
        case readAnswer(Int, ClusterReading)
        case acquire(ClusterName)
        case granted(ClusterName)
    }

    /// What happens once in a seed, besides.
    enum Disturbance: CaseIterable {
        case nothing
        case restoredEtcd
        case clonedMachine
    }

    /// A strict entry and what its caller expects.
    struct Strict {
        var machine: Int
        var began: Int64
        var kind: LinearizabilityChecker.Kind?
        var contents: Set<UInt64> = []
        var replaced: Set<UInt64> = []
        var grant: ClusterName?
        var fate: Fate?
    }

    var random: SeededGenerator
    var etcd = SimulatedEtcd()
    var machines: [SimulatedMachine] = []
    var packets: [(machine: Int, life: Int, packet: Packet)] = []
    var schedule: [String] = []
    var time: Int64 = 0
    var failures: [String] = []
    var isHealing = false

    // What the world knows.
    var oracle = ClusterFold()
    var strict: [ClusterName: Strict] = [:]
    var contents: Set<UInt64> = []
    var superseded: Set<UInt64> = []
    var lastContent: UInt64 = 0
    /// The content that a user gave to the last new item.
    var lastMade: UInt64?
    var operations: [LinearizabilityChecker.Operation] = []
    var sum: Int64 = 0
    var messages: [Int: [UInt8]] = [:]
    var backup: (etcd: SimulatedEtcd, oracle: ClusterFold)?
    /// etcd was restored, or a machine cloned: machines may stop, and what is counted may be counted twice.
    var isDisturbed = false
    var readings: [Int: Int64] = [:]
    var wantsGet: Set<Int> = []
    var lastReading = 0
    /// Whether the fate was read from a snapshot, which lacks the sum that an addition returns.
    var isFromSnapshot = false

    let lock = Array("lock".utf8)
    let number = Array("n".utf8)
    let total = Array("sum".utf8)
    let channel = Array("channel".utf8)

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...4, using: &random)
        for _ in 0..<count { machines.append(SimulatedMachine(name())) }
    }

    mutating func name() -> ClusterName { ClusterName.random(using: &random) }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    mutating func note(_ text: String) { schedule.append("\(time) \(text)") }

    /// Runs the seed: some changes and faults, then all is healed, and the properties are checked.
    mutating func run(steps: Int, _ disturbance: Disturbance) {
        for _ in 0..<steps {
            time += 1
            act(disturbance)
            if !failures.isEmpty { return }
        }
        heal()
        if failures.isEmpty { check() }
    }

    private mutating func act(_ disturbance: Disturbance) {
        let machine = Int.random(in: 0..<machines.count, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: edit(machine)
        case 12..<16: submitLocal(machine)
        case 16..<22: submitStrict(machine)
        case 22..<50:
            let count = Int.random(in: 1...4, using: &random)
            for _ in 0..<count { work(machine) }
        case 50..<75:
            let count = Int.random(in: 1...4, using: &random)
            for _ in 0..<count { deliver() }
        case 75..<89:
            let count = Int.random(in: 1...3, using: &random)
            for _ in 0..<count { watch(machine) }
        case 89: giveUp(machine)
        case 90:
            note("restart \(machine)")
            machines[machine].restart()
        case 91..<93:
            machines[machine].hasLink = !machines[machine].hasLink || chance(50)
            if machines[machine].hasLink { machines[machine].isConnected = false }
            note("link \(machine) \(machines[machine].hasLink)")
        case 93: machines[machine].store()
        case 94: if etcd.locks[lock] != nil { etcd.release(lock) }
        case 95:
            etcd.compact()
            note("compact")
        case 96:
            if !machines[machine].hasOtherHistory, machines[machine].isConnected, machines[machine].hasLink {
                etcd.put(snapshot: machines[machine].core.fold)
                note("snapshot by \(machine) at \(machines[machine].core.fold.index)")
            }
        case 97:
            read(machine)
            wantsGet.insert(lastReading)
        case 98:
            if disturbance == .restoredEtcd, backup == nil, chance(50) {
                backup = (etcd, oracle)
                note("backup at \(etcd.count)")
            }
        default:
            if disturbance == .clonedMachine, !isDisturbed {
                note("machine \(machines.count) is a clone of \(machine)")
                isDisturbed = true
                machines.append(machines[machine])
            } else if disturbance == .restoredEtcd, let backup, !isDisturbed, chance(50) {
                restore(backup.etcd, backup.oracle)
            }
        }
    }

    private mutating func restore(_ old: SimulatedEtcd, _ oldOracle: ClusterFold) {
        // What was committed and not accepted yet may be gone.
        for entry in strict.values where entry.fate == nil { contents.subtract(entry.contents) }
        note("restore of \(old.count) at \(etcd.count)")
        (etcd, oracle, packets, isDisturbed) = (old, oldOracle, [], true)
        for machine in machines.indices {
            (machines[machine].isConnected, machines[machine].reading) = (false, nil)
        }
    }

    // MARK: The program of a machine

    /// Makes one step of what the program has to do.
    mutating func work(_ machine: Int) {
        if machines[machine].hasOtherHistory {
            if isHealing || chance(20) { accept(machine) }
            return
        }
        if !isHealing && chance(30) { machines[machine].store() }
        let inFlight = machines[machine].core.outbox.inFlight?.sent ?? []
        let (tree, disk, fresh) = (machines[machine].core.fold.tree, machines[machine].disk, name())
        let step = machines[machine].core.mirror.nextStep(to: tree, on: disk, inFlight: inFlight, fresh: fresh)
        for local in machines[machine].core.mirror.takeFound() { machines[machine].core.outbox.add(.item(local)) }
        if let step {
            // The disk may change between the plan and the step.
            if !isHealing && chance(15) { edit(machine) }
            note("\(machine) step \(describe(step))")
            machines[machine].perform(step)
            return
        }
        // What has no answer is sent again, at times before the answer comes.
        let isWaiting = packets.contains { $0.machine == machine && $0.life == machines[machine].life }
        if isWaiting && !chance(10) { return }
        if !machines[machine].isConnected {
            read(machine)
            return
        }
        if machines[machine].core.outbox.inFlight == nil { prepare(machine) }
        if let request = machines[machine].core.outbox.request {
            machines[machine].store()
            packets.append((machine, machines[machine].life, .commit(request)))
        }
    }

    private mutating func prepare(_ machine: Int) {
        guard machines[machine].core.mirror.stale.isEmpty, let draft = machines[machine].core.outbox.next() else {
            return
        }
        switch draft {
        case .entry(let entry, let token):
            if !machines[machine].core.outbox.send(entry, token: token) { failures.append("not sent") }
        case .item(let local):
            let (tree, disk, operation) = (machines[machine].core.fold.tree, machines[machine].disk, name())
            let (changes, sent) = machines[machine].core.mirror.changes(
                of: [local], on: disk, in: tree, operation: operation)
            if changes.isEmpty { return }
            note("\(machine) sends \(operation.text.prefix(6)) \(sent.map { describe($0) })")
            if !machines[machine].core.outbox.send(ClusterEntry(operation, changes), sent: sent) {
                failures.append("not sent")
            }
        }
    }

    private func describe(_ step: MirrorStep) -> String {
        switch step {
        case .create(let item, let parent, let name, let content):
            "create \(item.operation.text.prefix(6)).\(item.part) in \(parent.number) \(text(name)) \(content.digest.first ?? 0)"
        case .rename(let local, let parent, let name): "rename \(local.number) to \(parent.number) \(text(name))"
        case .exchange(let local, _, let new, _): "exchange \(local.number) for \(new.digest.first ?? 0)"
        case .remove(let local, _): "remove \(local.number)"
        }
    }

    private func describe(_ sent: SentItem) -> String {
        let item = "\(sent.item.operation.text.prefix(6)).\(sent.item.part) \(sent.local.number)"
        switch sent.change {
        case .created(_, let name, let content): return "create \(item) \(text(name)) \(content.digest.first ?? 0)"
        case .moved(_, let name): return "move \(item) \(text(name))"
        case .written(let content): return "write \(item) \(content.digest.first ?? 0)"
        case .removed: return "remove \(item)"
        }
    }

    private mutating func read(_ machine: Int) {
        lastReading += 1
        machines[machine].reading = lastReading
        readings[lastReading] = time
        packets.append((machine, machines[machine].life, .read(lastReading)))
    }

    private mutating func accept(_ machine: Int) {
        note("\(machine) accepts")
        let fold = try? ClusterFold().folding(etcd.read())
        guard let fold else { return failures.append("\(machine) cannot join") }
        let new = name()
        machines[machine].core.outbox = machines[machine].core.outbox.renamed(new, in: fold)
        machines[machine].core.fold = fold
        machines[machine].core.mirror = ClusterMirror()
        machines[machine].core.mirror.markAll(fold.tree)
        machines[machine].comebacks += 1
        (machines[machine].hasOtherHistory, machines[machine].isConnected) = (false, false)
        machines[machine].rescan()
        machines[machine].store()
    }

    mutating func fold(_ entry: OrderedEntry, _ machine: Int) {
        do {
            let verdict = try machines[machine].core.fold.apply(entry)
            machines[machine].core.mirror.mark(verdict.items)
        } catch { return failures.append("\(machine) cannot fold: \(error)") }
        if entry.machine == machines[machine].core.outbox.machine { foldOwn(machine) }
    }

    /// Takes the fate of the entry in flight from the fold.
    private mutating func foldOwn(_ machine: Int) {
        guard let last = machines[machine].core.fold.machines[machines[machine].core.outbox.machine] else { return }
        switch machines[machine].core.outbox.folded(last) {
        case .known: return
        case .clone: stop(machine, "clone")
        case .fate(let inFlight, let fate):
            machines[machine].core.mirror.folded(inFlight.sent, inFlight.entry.operation)
            machines[machine].store()
            finish(inFlight.entry.operation, fate)
        }
    }

    private mutating func stop(_ machine: Int, _ reason: String) {
        note("\(machine) stops: \(reason)")
        (machines[machine].hasOtherHistory, machines[machine].wasStopped) = (true, true)
        if !isDisturbed { failures.append("\(machine) stopped without a reason: \(reason)") }
    }

    private mutating func take(_ reading: ClusterReading, _ machine: Int) {
        let own = (machines[machine].core.outbox.machine, machines[machine].core.outbox.number)
        do {
            switch try machines[machine].core.fold.continued(by: reading, own: own) {
            case .otherHistory: return stop(machine, "other history")
            case .entries(let entries):
                for entry in entries where failures.isEmpty { fold(entry, machine) }
            case .snapshot(let snapshot, let entries):
                note("\(machine) takes snapshot \(snapshot.index)")
                machines[machine].core.fold = snapshot
                machines[machine].core.mirror.markAll(snapshot.tree)
                isFromSnapshot = true
                foldOwn(machine)
                isFromSnapshot = false
                for entry in entries where failures.isEmpty { fold(entry, machine) }
            }
        } catch { return failures.append("\(machine) cannot go on: \(error)") }
        machines[machine].isConnected = !machines[machine].hasOtherHistory
        machines[machine].watched = machines[machine].core.fold.revision
    }

    // MARK: Network

    mutating func watch(_ machine: Int) {
        let state = machines[machine]
        guard state.hasLink, state.isConnected, state.reading == nil, !state.hasOtherHistory else { return }
        if state.watched < etcd.compacted, state.core.fold.revision < etcd.compacted, etcd.count > state.core.fold.index
        {
            machines[machine].isConnected = false
            return
        }
        guard let event = etcd.events.first(where: { $0.revision > state.watched }) else {
            // The last events may be lost: a quorum read of the count shows that.
            if isHealing && etcd.count > state.core.fold.index { read(machine) }
            return
        }
        machines[machine].watched = event.revision
        if !isHealing && chance(10) { return note("event \(event.index) is lost for \(machine)") }
        if !isHealing && chance(10) { machines[machine].watched -= 1 }
        switch state.core.fold.arrival(of: event) {
        case .next: fold(event, machine)
        case .repeated: return
        case .gap: read(machine)
        }
    }

    mutating func deliver() {
        guard !packets.isEmpty else { return }
        let index = isHealing ? 0 : Int.random(in: 0..<packets.count, using: &random)
        let (machine, life, packet) = packets[index]
        if isHealing || !chance(15) { packets.remove(at: index) }
        if !machines[machine].hasLink || !isHealing && chance(10) {
            packets.removeAll { $0.machine == machine && $0.life < life }
            return
        }
        switch packet {
        case .commit(let request):
            let answer = etcd.commit(request)
            switch answer {
            case .committed: committed(request, machine)
            case .refused(let counter, let hasToken):
                packets.append((machine, life, .refusal(request, counter: counter, hasToken: hasToken)))
            }
        case .read(let reading): packets.append((machine, life, .readAnswer(reading, etcd.read())))
        case .acquire(let grant):
            if etcd.acquire(lock, grant) { packets.append((machine, life, .granted(grant))) }
        case _ where life != machines[machine].life || machines[machine].hasOtherHistory: return
        case .refusal(let request, let counter, let hasToken):
            guard machines[machine].isConnected else { return }
            if let entry = machines[machine].core.outbox.refused(request, counter: counter, hasToken: hasToken) {
                machines[machine].store()
                strict[entry.entry.operation]?.kind = nil
                finish(entry.entry.operation, .conflict)
            }
        case .readAnswer(let id, let reading):
            guard machines[machine].reading == id else { return }
            machines[machine].reading = nil
            take(reading, machine)
            if wantsGet.contains(id), machines[machine].isConnected, let began = readings[id] {
                record(.get, began: began, answer: Int(machines[machine].core.fold.number(number)))
            }
        case .granted(let grant):
            // The grant is used once everything before its revision is applied.
            read(machine)
            machines[machine].grant = grant
        }
    }

    /// What the world sees of a commit.
    private mutating func committed(_ request: CommitRequest, _ machine: Int) {
        guard let ordered = etcd.entries.last, let entry = try? ClusterEntry(bytes: request.bytes) else { return }
        note("\(machine) commits \(entry.operation.text.prefix(6)) as \(ordered.index)")
        guard let verdict = try? oracle.apply(ordered) else { return failures.append("the oracle cannot fold") }
        guard let strict = strict[entry.operation] else { return }
        if let grant = strict.grant, etcd.locks[lock] != grant { failures.append("a commit under an old token") }
        if verdict.outcome == .accepted {
            contents.formUnion(strict.contents)
            superseded.formUnion(strict.replaced)
        }
    }

    mutating func record(_ kind: LinearizabilityChecker.Kind, began: Int64, answer: Int) {
        if isDisturbed { return }
        operations.append(.init(kind, began: began, ended: time, answer: answer))
    }
}

extension ClusterFold {
    /// Returns the fold that a reading results in, from nothing.
    func folding(_ reading: ClusterReading) throws(ClusterDamage) -> ClusterFold {
        var fold = self
        var rest: [OrderedEntry] = []
        switch try continued(by: reading, own: (.zero, 0)) {
        case .entries(let entries): rest = entries
        case .snapshot(let snapshot, let entries): (fold, rest) = (snapshot, entries)
        case .otherHistory: throw .malformed("nothing has no history")
        }
        for entry in rest { _ = try fold.apply(entry) }
        return fold
    }

    func number(_ key: [UInt8]) -> Int64 {
        if case .number(let number) = values[key]?.value { number } else { 0 }
    }
}
