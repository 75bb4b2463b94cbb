import Cluster
import FoundationEssentials
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

extension EtcdLink {
    private func put(_ note: MachineNote) -> EtcdOperation {
        var note = note
        note.seconds = Int64(Date().timeIntervalSince1970)
        return .put(keys.note(of: machine), note.bytes)
    }

    /// The ranges of the machines' sessions and notes.
    private var machineRanges: [EtcdRange] { [.prefix(keys.machines), .prefix(keys.notes)] }

    /// Reads the number of the cluster's entries, and the numbers of the machines' sessions and notes, in one request.
    func counts(_ client: EtcdClient) throws(EtcdFailure) -> (entries: UInt64, keys: [UInt64]) {
        let counts = machineRanges.map { range in
            var range = range
            (range.countOnly, range.isSerializable) = (true, true)
            return EtcdOperation.range(range)
        }
        let ranges = try client.transaction(then: [.range(.key(keys.last))] + counts).ranges
        return (ranges.first?.keyValues.first?.version ?? 0, ranges.dropFirst().map(\.count))
    }

    /// Notes how this machine is, and reads what the others have noted, if it is time. No failure of that matters:
    /// a later renewal does it.
    func exchangeNotes(_ counts: (entries: UInt64, keys: [UInt64]), _ client: EtcdClient) {
        let note = notes.withLock { $0.noteToWrite(at: monotonicNanoseconds()) }
        do throws(EtcdFailure) {
            if let note { try client.transaction(then: [put(note)]) }
            let isDue = notes.withLock { notes in
                notes.isReadingDue(keys: counts.keys, count: counts.entries, at: monotonicNanoseconds())
            }
            if !isDue { return }
            let contents = machineRanges.map { range in
                var range = range
                range.limit = OtherMachine.most
                return EtcdOperation.range(range)
            }
            let read = try client.transaction(then: contents).ranges
            guard read.count == 2 else { return }
            let found = OtherMachine.machines(
                sessions: read[0].keyValues, notes: read[1].keyValues, keys, without: machine)
            post(.machines(found))
        } catch {
            notes.withLock { notes in
                if note != nil { notes.noted = nil }
                notes.keys = nil
            }
        }
    }

    /// Notes how this machine is when its program ends.
    func noteEnd(_ client: EtcdClient) {
        guard let note = notes.withLock({ $0.present }) else { return }
        _ = Self.failure { () throws(EtcdFailure) in _ = try client.transaction(then: [put(note)]) }
    }
}

extension MachineIdentity {
    /// How etcd is reached. Error: `unreachable` for addresses that are none
    func configuration() throws(EtcdFailure) -> EtcdConfiguration {
        var configuration = try EtcdConfiguration(endpoints: endpoints)
        configuration.user = user
        configuration.passwordFile = passwordFile
        configuration.authorityFile = authorityFile
        return configuration
    }

    /// Removes what the other machines list of this one. Error: any failure of etcd
    func forgetNotes() throws(EtcdFailure) {
        let keys = ClusterKeys(name: name)
        try EtcdClient(configuration()).transaction(then: [
            .delete(keys.note(of: machine)), .delete(keys.machine(machine)),
        ])
    }
}

/// Removes what the other machines list of this one. Returns why that failed.
func forgetNotes(of container: Container) -> EtcdFailure? {
    // A state that cannot be read names no etcd. A state that other users may have written could name any address.
    guard let store = try? StateStore(container) else { return nil }
    defer { store.close() }
    guard store.isTrusted, let identity = try? MachineIdentity.load(store) else { return nil }
    do throws(EtcdFailure) {
        try identity.forgetNotes()
        return nil
    } catch {
        return error
    }
}

extension Machine {
    /// Takes the other machines into the status.
    func take(_ found: [OtherMachine]) {
        let before = Dictionary(
            (report.status.machines ?? []).map { ($0.machine, $0) }, uniquingKeysWith: { first, _ in first })
        report.status.machines = found.map { other in
            let last = before[other.machine.text]
            // A session that was found at the last look was seen then.
            let seen = other.isRunning ? nil : last?.isRunning == true ? machinesReadAt : last?.seenAt
            var machine = ClusterStatus.Machine(
                machine: other.machine.text, host: other.host, isRunning: other.isRunning, index: other.note?.index,
                seenAt: seen, notedAt: other.note.map { Date(timeIntervalSince1970: Double($0.seconds)) })
            if let differences = other.note?.differences, !differences.isEmpty {
                machine.withheld = differences.withheld
                machine.unmirrored = .init(count: differences.unmirrored, first: differences.items)
            }
            return machine
        }
        machinesReadAt = Date()
    }
}
