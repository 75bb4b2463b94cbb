import EtcdSupport
import Foundation
import Glibc
import GroupSystemCalls
import TestSupport

/// Three nodes of etcd and three machines, whose users change everything at the same time, under a nemesis. What
/// happens is drawn from one seed; the order in which the kernel runs the processes is not.
final class ClusterStorm {
    let options: StormOptions
    let etcd: EtcdCluster
    private(set) var machines: [StormMachine] = []
    let directory: String
    private let disk: SmallDisk?
    private let network: NodeNetwork?
    private var random: SeededGenerator
    private let began = monotonicNanoseconds()
    private let signals = TerminationSignals()
    private(set) var schedule: [String] = []
    private var story: [String: Int] = [:]
    /// What ends a disturbance, and when.
    private var endings: [(time: Int64, what: String, run: () throws -> Void)] = []
    private var busy: Set<String> = []

    struct Interrupted: Error { var signal: Int32 }

    init(_ options: StormOptions) throws {
        self.options = options
        random = SeededGenerator(seed: options.seed)
        directory = "\(TestFiles.parent)/cluster-storm-\(options.seed)-\(getpid())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        network = options.partsNodes ? try NodeNetwork() : nil
        if network == nil { printLine("cluster-storm: the nodes of etcd are never parted: only root can do that") }
        etcd =
            try network.map { try EtcdCluster(at: Array(zip(NodeNetwork.hosts, $0.prefixes))) } ?? EtcdCluster(nodes: 3)
        disk = isRoot ? try SmallDisk("\(directory)/m3", megabytes: 24 + options.seconds / 4) : nil
        if disk == nil { printLine("cluster-storm: the disk is never full: only root can mount a small one") }
        for number in 1...3 {
            let proxies = try etcd.nodes.map { node in
                let net = "127.\(Int.random(in: 20...60)).\(Int.random(in: 1...250)).\(Int.random(in: 2...250))"
                return try Proxy(net, to: node.host)
            }
            machines.append(
                try StormMachine(
                    "m\(number)", in: directory, proxies: proxies, disk: number == 3 ? disk : nil,
                    clockLibrary: number == 2 ? options.clockLibrary : nil))
        }
        let first = machines[0].container
        try FileManager.default.createDirectory(atPath: first + "/r", withIntermediateDirectories: false)
        for register in StrictUser.registers + [StrictUser.free, StrictUser.locked] {
            try Data("0 start".utf8).write(to: URL(fileURLWithPath: "\(first)/\(register)"))
        }
        // What users remove is never more than half of everything.
        try FileManager.default.createDirectory(atPath: first + "/ballast", withIntermediateDirectories: false)
        for number in 0..<80 {
            try Data("ballast.\(number)\n".utf8).write(to: URL(fileURLWithPath: "\(first)/ballast/\(number)"))
        }
        try FileManager.default.createDirectory(
            atPath: "\(first)/\(RenamingUser.prefix)0", withIntermediateDirectories: false)
        for machine in machines { try machine.start() }
        try awaitEqual("the start", seconds: 60)
        for machine in machines {
            for number in 1...options.plainUsers {
                try machine.startUser("plain", number, seed: random.next())
            }
            try machine.startUser("data", 1, seed: random.next())
            if machine === machines[0] { try machine.startUser("rename", 1, seed: random.next()) }
            if machine === machines[1] { try machine.startUser("slow", 1, seed: random.next()) }
            for number in 1...options.strictUsers {
                try machine.startUser(
                    "strict", number, seed: random.next(), options.lies && machine === machines[1] ? ["lies"] : [])
            }
        }
    }

    private func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private func note(_ what: String) {
        let time = (monotonicNanoseconds() - began) / 1_000_000
        schedule.append("\(time) ms: \(what)")
    }

    /// Disturbs something for a time. What is disturbed already stays as it is.
    private func disturb(
        _ key: String, _ word: String, milliseconds: Int, _ begin: () throws -> Void, end: @escaping () throws -> Void
    ) throws {
        if !busy.insert(key).inserted { return }
        story[word, default: 0] += 1
        note("\(word) \(key) for \(milliseconds) ms")
        try begin()
        endings.append(
            (
                monotonicNanoseconds() + Int64(milliseconds) * 1_000_000, "\(key) again",
                { [unowned self] in
                    busy.remove(key)
                    try end()
                }
            ))
    }

    private func endDisturbances(all: Bool) throws {
        let now = monotonicNanoseconds()
        let due = endings.filter { all || $0.time <= now }
        endings.removeAll { all || $0.time <= now }
        for ending in due {
            note(ending.what)
            try ending.run()
        }
    }

    // MARK: The nemesis

    func rage() throws {
        let end = monotonicNanoseconds() + Int64(options.seconds) * 1_000_000_000
        var next = monotonicNanoseconds()
        while monotonicNanoseconds() < end {
            pause(nanoseconds: 20_000_000)
            if let signal = signals.received { throw Interrupted(signal: signal) }
            try endDisturbances(all: false)
            for machine in machines { try machine.watch() }
            if monotonicNanoseconds() < next { continue }
            next = monotonicNanoseconds() + Int64(draw(100..<1_200)) * 1_000_000
            try disturb()
        }
    }

    private func disturb() throws {
        let machine = machines[draw(0..<machines.count)]
        let node = etcd.nodes[draw(0..<3)]
        let length = draw(0..<10) == 0 ? draw(5_000..<18_000) : draw(10..<3_000)
        switch draw(0..<38) {
        case 0..<7:
            try disturb(machine.name, "kill", milliseconds: draw(0..<2) == 0 ? 0 : length) {
                try machine.end()
            } end: {
                try machine.start()
            }
        case 7..<9:
            try disturb(machine.name, "end", milliseconds: length) {
                try machine.end(SIGTERM)
            } end: {
                try machine.start()
            }
        case 9..<12:
            try disturb(machine.name, "stop", milliseconds: length) {
                machine.stop()
            } end: {
                machine.resume()
            }
        case 12..<20:
            let mode: Proxy.Mode = [.cut, .stalled, .deaf][draw(0..<3)]
            let some = draw(0..<3) == 0 ? [draw(0..<3)] : [0, 1, 2]
            try disturb("network of \(machine.name)", mode.rawValue, milliseconds: length) {
                for place in some { machine.proxies[place].set(mode) }
            } end: {
                for proxy in machine.proxies { proxy.set(.open) }
            }
        case 20..<23:
            try disturb(node.name, "kill node", milliseconds: length) {
                node.kill()
            } end: {
                try node.start()
            }
        case 23..<25:
            try disturb(node.name, "stop node", milliseconds: length) {
                node.stop()
            } end: {
                node.resume()
            }
        case 25:
            guard busy.isDisjoint(with: Self.nodes), let leader = try? etcd.leader() else { return }
            try disturb(leader.name, "kill leader", milliseconds: length) {
                leader.kill()
            } end: {
                try leader.start()
            }
        case 26, 27:
            let users = machine.users.indices.filter { machine.users[$0].kind == "strict" }
            guard let user = users.randomElement(using: &random) else { return }
            story["kill user", default: 0] += 1
            note("kill \(machine.users[user].name)")
            try machine.killUser(user, seed: random.next())
        case 28, 29:
            guard let disk else { return }
            try disturb("disk of m3", "full", milliseconds: length) {
                try disk.fill()
            } end: {
                try disk.makeRoom()
            }
        case 30 where options.clockLibrary != nil:
            let seconds = draw(0..<2) == 0 ? draw(1..<100_000) : -draw(1..<100_000)
            story["clock", default: 0] += 1
            note("clock of m2 by \(seconds) s")
            try machines[1].setClock(seconds)
        case 33..<38:
            guard let network else { return }
            try part(network, milliseconds: length)
        default:
            // Without a quorum it would wait.
            guard busy.isDisjoint(with: Self.nodes) else { return }
            story["compact", default: 0] += 1
            note("compact")
            try? etcd.compact()
        }
    }

    private static let nodes = ["n1", "n2", "n3", partition]
    private static let partition = "network of the nodes"

    /// Parts one node from one or both of the others, in both directions or in one.
    private func part(_ network: NodeNetwork, milliseconds: Int) throws {
        let node = draw(0..<3)
        let others = draw(0..<2) == 0 ? [(node + 1) % 3] : [(node + 1) % 3, (node + 2) % 3]
        var ways = others.map { (node, $0) }
        if draw(0..<3) > 0 { ways += others.map { ($0, node) } }
        try disturb(Self.partition, "part n\(node + 1) from \(others.count)", milliseconds: milliseconds) {
            for (from, to) in ways { try network.part(from, from: to) }
        } end: {
            for (from, to) in ways { try network.join(from, to) }
        }
    }

    // MARK: Calm

    /// Lets everything go on, and waits until all machines have the same.
    func calm() throws -> [String] {
        note("calm")
        try endDisturbances(all: true)
        for node in etcd.nodes { try node.awaitReady() }
        for machine in machines { try machine.endUsers() }
        note("the users have ended")
        do { try awaitEqual("the end", seconds: 90) } catch let unequal as Unequal { return unequal.faults }
        return []
    }

    /// Restores etcd from a backup to what was before the last changes: the machines notice it, and nothing is lost.
    func restore() throws -> [String] {
        let backup = "\(directory)/backup"
        try etcd.saveSnapshot(to: backup)
        note("a backup")
        for machine in machines {
            try machine.startUser("plain", 9, seed: random.next())
            try machine.startUser("strict", 9, seed: random.next())
        }
        pause(nanoseconds: 3_000_000_000)
        for machine in machines { try machine.endUsers() }
        do { try awaitEqual("the end before the restore", seconds: 90) } catch let unequal as Unequal {
            return unequal.faults
        }
        let before = try machines[0].tree()
        try etcd.restore(from: backup)
        note("restored")
        let limit = monotonicNanoseconds() + 60_000_000_000
        for machine in machines {
            while try machine.status().0?.paused == nil {
                try machine.watch()
                if monotonicNanoseconds() > limit {
                    return ["\(machine.name) goes on with a restored etcd: \(try machine.status().1)"]
                }
                pause(nanoseconds: 100_000_000)
            }
        }
        let trees = try machines.map { try $0.tree() }
        if trees.contains(where: { $0 != before }) { return ["a machine was changed by a restored etcd"] }
        for machine in machines {
            try machine.end(SIGTERM)
            let accepted = try RunningProcess(["group-cluster", "accept", machine.container], input: "").finish()
            if accepted.status != 0 { return ["accept on \(machine.name): \(accepted)"] }
            try machine.start()
        }
        note("accepted")
        do { try awaitEqual("the end after the restore", seconds: 90) } catch let unequal as Unequal {
            return unequal.faults
        }
        return StormAccount(machines).lost(in: try machines[0].tree())
    }

    struct Unequal: Error { var faults: [String] }

    private func awaitEqual(_ moment: String, seconds: Int64) throws {
        let limit = monotonicNanoseconds() + seconds * 1_000_000_000
        var faults: [String] = []
        repeat {
            if let signal = signals.received { throw Interrupted(signal: signal) }
            for machine in machines { try machine.watch() }
            faults = []
            var indices: Set<Int> = []
            for machine in machines {
                let (status, text) = try machine.status()
                guard let status, status.connected, status.toApply == 0, status.toSend == 0, status.behind == 0,
                    status.paused == nil
                else {
                    faults.append("\(machine.name) at \(moment): \(text)")
                    continue
                }
                indices.insert(status.index)
            }
            if faults.isEmpty && indices.count > 1 { faults.append("indices \(indices) at \(moment)") }
            if faults.isEmpty { faults = try differences().map { "\($0) at \(moment)" } }
            if faults.isEmpty { return }
            pause(nanoseconds: 100_000_000)
        } while monotonicNanoseconds() < limit
        if let still = try? differences() { faults += still }
        throw Unequal(faults: faults)
    }

    private func differences() throws -> [String] {
        let trees = try machines.map { try $0.tree() }
        var found: [String] = []
        for path in Set(trees.flatMap(\.keys)).sorted() {
            let entries = trees.map { $0[path] }
            if entries.contains(where: { $0 != entries[0] }) {
                let texts = zip(machines, entries).map { "\($0.name): \($1.map { "\($0)" } ?? "nothing")" }
                found.append("'\(path)' differs: \(texts.joined(separator: "; "))")
            }
        }
        return found
    }

    func faults() throws -> [String] {
        var faults: [String] = []
        faults += StormAccount(machines).faults(in: try machines[0].tree())
        faults += try DataAccount(machines).faults
        for machine in machines {
            let root = try FileDescriptor.open(path: Array(machine.container.utf8), [.reading, .directory])
            let renamed = try RenamingUser.directories(root).map { String(decoding: $0, as: UTF8.self) }
            if renamed.count != 1 { faults.append("\(machine.name): the directory that was renamed is \(renamed)") }
            let verified = try RunningProcess(
                ["group-cluster", "verify", machine.container, "--timeout", "60"], input: ""
            ).finish(within: .seconds(120))
            if verified.status != 0 { faults.append("\(machine.name): verify: \(verified.text)") }
            let doctor = try RunningProcess(["groupctl", "doctor", "--json", machine.container], input: "").finish()
            let findings = doctor.text.split(separator: "\n").filter { line in
                guard let finding = try? JSONFinding(String(line)) else { return true }
                // A clock that has jumped back is one of the storm's own.
                return finding.severity != "note" && finding.code != "clockBehind"
            }
            faults += findings.map { "\(machine.name): doctor: \($0)" }
        }
        return faults
    }

    func summary() -> String {
        let entries = (try? machines[0].status().0?.index) ?? 0
        return
            "\(story.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")); \(entries) entries; "
            + StormAccount(machines).summary + ((try? DataAccount(machines)).map { "; \($0.summary)" } ?? "")
    }

    func keep() {
        for machine in machines { machine.keepLogs() }
        for node in etcd.nodes {
            try? Data(node.log.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(node.name).log"))
        }
        try? Data((schedule.joined(separator: "\n") + "\n").utf8).write(
            to: URL(fileURLWithPath: "\(directory)/schedule"))
    }

    func clean() {
        disk?.unmount()
        _ = succeeds(["rm", "-rf", "--", directory])
    }

    func endAll() {
        for machine in machines { try? machine.end() }
    }
}
