import GroupCluster
import TestSupport

/// What people and programs do on the machines, and what they expect at the end.
extension Simulation {
    private mutating func newContent() -> (UInt64, ItemContent) {
        lastContent += 1
        return (lastContent, content(lastContent))
    }

    private func content(_ number: UInt64) -> ItemContent {
        ItemContent(.file, (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    private func number(of content: ItemContent?) -> UInt64? {
        guard let content, content.kind == .file else { return nil }
        return content.digest.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Changes a machine's disk, without the library.
    mutating func edit(_ machine: Int) {
        let disk = machines[machine].disk
        let locals = disk.nodes.keys.sorted()
        let names = ["a", "b.txt", "c", "d"].map { Array($0.utf8) }
        let directories = [LocalItem.root] + locals.filter { disk.isDirectory($0) && disk.ancestors($0).count < 3 }
        guard let parent = directories.randomElement(using: &random), let name = names.randomElement(using: &random)
        else { return }
        let isFree = disk.child(of: parent, name) == nil
        guard let local = locals.randomElement(using: &random), let here = disk[local], chance(70) else {
            guard isFree else { return }
            let isDirectory = chance(35)
            var (number, file) = newContent()
            // Two machines may make the same.
            if let lastMade, chance(20) { (number, file) = (lastMade, content(lastMade)) }
            lastMade = number
            if !isDirectory { contents.insert(number) }
            note("\(machine) makes \(isDirectory ? "directory" : "file \(number)") \(text(name))")
            let new = LocalTree.Node(parent, name, isDirectory ? ItemContent(.directory) : file)
            let made = machines[machine].newLocal()
            return machines[machine].put(made, new)
        }
        let isFile = here.content.kind == .file
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4 where isFile:
            let (number, file) = newContent()
            contents.insert(number)
            self.number(of: here.content).map { _ = superseded.insert($0) }
            note("\(machine) writes \(number) over \(self.number(of: here.content) ?? 0) \(text(here.name))")
            machines[machine].put(local, LocalTree.Node(here.parent, here.name, file))
        case 4..<6 where isFile || disk.children(of: local).isEmpty:
            number(of: here.content).map { _ = superseded.insert($0) }
            note("\(machine) removes \(number(of: here.content) ?? 0) \(text(here.name))")
            machines[machine].put(local, nil)
        case 6 where isFile:
            let (number, file) = newContent()
            contents.insert(number)
            self.number(of: here.content).map { _ = superseded.insert($0) }
            note("\(machine) replaces by \(number) \(text(here.name))")
            machines[machine].put(local, nil)
            let new = machines[machine].newLocal()
            machines[machine].put(new, LocalTree.Node(here.parent, here.name, file))
        case 7 where isFile:
            var changed = here.content
            changed.mode ^= 0o111
            note("\(machine) changes the mode of \(text(here.name))")
            machines[machine].put(local, LocalTree.Node(here.parent, here.name, changed))
        default:
            guard isFree, !disk.isWithin(parent, local) else { return }
            note("\(machine) moves \(text(here.name)) \(local.number) to \(text(name)) in \(parent.number)")
            machines[machine].put(local, LocalTree.Node(parent, name, here.content))
        }
    }

    func text(_ name: FileName) -> String { String(decoding: name, as: UTF8.self) }

    /// Sends an increment or a message.
    mutating func submitLocal(_ machine: Int) {
        let operation = name()
        if chance(50) {
            let amount = Int64.random(in: -5...5, using: &random)
            sum += amount
            machines[machine].core.outbox.add(
                .entry(ClusterEntry(operation, [.value(ValueChange(total, .add(amount)))]), nil))
        } else {
            let body = UInt8(messages[machine, default: []].count)
            messages[machine, default: []].append(body)
            machines[machine].core.outbox.add(
                .entry(
                    ClusterEntry(operation, [.message(channel: channel, body: [UInt8(machine), body])]), nil))
        }
        machines[machine].store()
    }

    mutating func submitStrict(_ machine: Int) {
        let state = machines[machine]
        guard !state.hasOtherHistory, state.core.outbox.waiting.count < 4 else { return }
        if state.grant == nil, chance(30) {
            let grant = name()
            return packets.append((machine, state.life, .acquire(grant)))
        }
        let operation = name()
        var strict = Strict(machine: machine, began: time)
        var changes: [ClusterChange] = []
        var token: LockToken?
        if let grant = state.grant, state.reading == nil {
            token = LockToken(lock: lock, grant: grant)
            strict.grant = grant
            machines[machine].grant = nil
        }
        let old = state.core.fold.values[number]
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            strict.kind = .add
            changes = [.value(ValueChange(number, .add(1)))]
            token = nil
            strict.grant = nil
        case 1:
            lastContent += 1
            let (from, to) = (state.core.fold.number(number), Int64(lastContent) * 1000)
            strict.kind = .exchange(from: Int(from), to: Int(to))
            changes = [.value(ValueChange(number, .setNumber(to), base: old?.version ?? .zero))]
        default:
            // A file that is here what it is in the base.
            let files = state.core.mirror.base.filter {
                $0.value.node.content.kind == .file && state.disk[$0.value.local]?.content == $0.value.node.content
            }
            if files.isEmpty { return }
            // Of one item, or of two, all or nothing.
            for (item, base) in files.sorted(by: { $0.key < $1.key }).shuffled(using: &random).prefix(
                chance(50) ? 1 : 2)
            {
                let (content, file) = newContent()
                strict.contents.insert(content)
                number(of: base.node.content).map { _ = strict.replaced.insert($0) }
                changes.append(.item(ItemChange(item, base.node.name, .write(file, base: base.node.version))))
            }
        }
        note("\(machine) submits \(operation.text.prefix(6)) \(strict.kind.map { "\($0)" } ?? "\(strict.contents)")")
        self.strict[operation] = strict
        machines[machine].core.outbox.add(.entry(ClusterEntry(operation, isStrict: true, changes), token))
        machines[machine].store()
    }

    /// A caller's time is over.
    mutating func giveUp(_ machine: Int) {
        let mine = strict.filter { $0.value.machine == machine && $0.value.fate == nil }.keys.sorted()
        guard let operation = mine.randomElement(using: &random) else { return }
        let empty = name()
        let fate = machines[machine].core.outbox.giveUp(operation, empty: empty)
        machines[machine].store()
        note("\(machine) gives up \(operation.text.prefix(6)): \(fate.map { "\($0)" } ?? "later")")
        if let fate { finish(operation, fate) }
    }

    mutating func finish(_ operation: ClusterName, _ fate: Fate) {
        guard var entry = strict[operation] else { return }
        if let earlier = entry.fate, earlier != fate, !isDisturbed { failures.append("two fates: \(earlier), \(fate)") }
        if entry.fate == nil, let kind = entry.kind, fate != .unavailable, kind != .add || fate == .accepted {
            if kind != .add {
                record(kind, began: entry.began, answer: fate == .accepted ? 1 : 0)
            } else if isFromSnapshot {
                operations.append(.init(kind, began: entry.began, ended: .max, answer: 0))
            } else {
                record(kind, began: entry.began, answer: Int(machines[entry.machine].core.fold.number(number)))
            }
        }
        note("\(operation.text.prefix(6)) is \(fate)")
        entry.fate = fate
        strict[operation] = entry
    }

    // MARK: The end

    /// Ends all faults, and lets everything come to rest.
    mutating func heal() {
        note("heal")
        isHealing = true
        for machine in machines.indices {
            machines[machine].hasLink = true
            machines[machine].isConnected = false
            machines[machine].reading = nil
        }
        for _ in 0..<600 {
            time += 1
            for machine in machines.indices {
                for _ in 0..<8 { work(machine) }
                while !packets.isEmpty && failures.isEmpty { deliver() }
                for _ in 0..<8 { watch(machine) }
            }
            if !failures.isEmpty { return }
            let isQuiet = machines.allSatisfy { state in
                state.core.fold.index == etcd.count && state.core.outbox.inFlight == nil
                    && state.core.outbox.waiting.isEmpty && state.core.mirror.stale.isEmpty && state.isConnected
            }
            if isQuiet { return }
        }
        failures.append("does not come to rest")
    }

    mutating func check() {
        for (machine, state) in machines.enumerated() {
            if state.core.fold != machines[0].core.fold { failures.append("fold of \(machine) differs") }
            if state.core.fold != oracle { failures.append("fold of \(machine) is not the oracle's") }
            if state.paths != machines[0].paths { failures.append("tree of \(machine) differs from that of 0") }
            if !state.core.mirror.differences(on: state.disk).isEmpty { failures.append("\(machine) has unsent") }
            if state.rescans > state.comebacks { failures.append("\(machine) has scanned too often") }
            var tree: Set<[FileName]> = []
            for item in state.core.fold.tree.nodes.keys { tree.insert(state.core.fold.tree.path(item)) }
            if tree.count != state.paths.count { failures.append("disk of \(machine) is not the cluster's tree") }
            do {
                if try ClusterFold(snapshot: state.core.fold.snapshot) != state.core.fold {
                    failures.append("snapshot differs")
                }
            } catch { failures.append("snapshot: \(error)") }
        }
        let present = Set(machines[0].disk.nodes.values.compactMap { number(of: $0.content) })
        for lost in contents.subtracting(superseded).subtracting(present).sorted() {
            failures.append("content \(lost) is lost")
        }
        if isDisturbed { return }
        for (operation, entry) in strict where entry.fate == .conflict || entry.fate == .unavailable {
            if !present.isDisjoint(with: entry.contents) {
                failures.append("\(operation.text.prefix(6)) was refused and is there")
            }
        }
        if machines[0].core.fold.number(total) != sum { failures.append("sum is not \(sum)") }
        for (machine, sent) in messages {
            let got = machines[0].core.fold.channels[channel]?.newest.map(\.body).filter { $0[0] == machine }
            if got?.map({ $0[1] }) != sent { failures.append("messages of \(machine): \(got ?? []), not \(sent)") }
        }
        for entry in strict.values where entry.fate == nil {
            guard let kind = entry.kind else { continue }
            operations.append(.init(kind, began: entry.began, ended: .max, answer: 0))
        }
        if !LinearizabilityChecker(operations).isLinearizable(from: 0) { failures.append("not linearizable") }
    }
}
