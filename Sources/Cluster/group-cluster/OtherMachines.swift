import GroupCluster
import GroupEtcd

// The other machines of the cluster, for the status.
//
// Each machine has two keys: one with the lease of its session, which shows that its program runs, and a note without a
// lease, which stays when the program has ended and shows how far the machine was. Whether a machine runs, and how many
// entries it lacks, needs no clock.
//
// When a machine was last seen is the time at which this machine has last found its session, by this machine's clock.
// If it has never found one, the time in the note is shown, which is by the other machine's clock. Times of two clocks
// are never compared.
//
// A machine writes its note when its index has moved, or when it differs from the others in another way than it has noted
// (`MachineNote.Differences`): after five seconds at first, and once a minute while that goes on. Its program writes the note once more when it ends. A machine at rest writes nothing. Every five
// seconds, each machine requests the number of sessions and notes, which etcd has in memory. The keys themselves are
// read if their number has changed, a few times after the log has grown, and once a minute.

/// Another machine, as its keys in etcd describe it.
struct OtherMachine: Equatable, Sendable {
    var machine: ClusterName
    var host: String
    /// Whether the session of its program stands.
    var isRunning: Bool
    /// Nil for a program of version 0.2, which writes none.
    var note: MachineNote?

    /// What more than this number of machines would have is not read.
    static let most = 1_000

    /// Returns the machines of these keys, without one. What no machine has written is left out.
    static func machines(
        sessions: [EtcdKeyValue], notes: [EtcdKeyValue], _ keys: ClusterKeys, without own: ClusterName
    ) -> [OtherMachine] {
        var found: [ClusterName: OtherMachine] = [:]
        for keyValue in notes {
            guard let name = keys.machine(ofKey: keyValue.key), let note = MachineNote(bytes: keyValue.value) else {
                continue
            }
            found[name] = OtherMachine(machine: name, host: note.host, isRunning: false, note: note)
        }
        for keyValue in sessions {
            guard let name = keys.machine(ofKey: keyValue.key), let host = MachineNote.host(keyValue.value) else {
                continue
            }
            found[name] = OtherMachine(machine: name, host: host, isRunning: true, note: found[name]?.note)
        }
        found[own] = nil
        return found.values.sorted { ($0.host, $0.machine) < ($1.host, $1.machine) }
    }
}

/// What the thread of the order has to know from one renewal of the session to the next.
struct MachineNotes: Sendable {
    /// What this machine would note, without a time; nil before its state is known.
    var present: MachineNote?
    /// What was noted last.
    var noted: MachineNote?
    var writing = Rarely()
    /// The numbers of sessions, notes and entries when the machines were read last, and when the last has changed.
    var keys: [UInt64]?
    var count: UInt64 = 0
    var movedAt = Int64.min / 2
    /// When the machines were read last.
    var readAt = Int64.min / 2
    var reading = Rarely()

    /// The time after a change of the number of entries in which other machines note their index, in nanoseconds.
    private static let echo: Int64 = 90_000_000_000
    private static let longest: Int64 = 60_000_000_000

    /// Returns what is to be noted now, and counts it as noted. Returns nil if nothing is to be noted.
    mutating func noteToWrite(at now: Int64) -> MachineNote? {
        guard let present, present != noted, writing.isDue(at: now) else { return nil }
        noted = present
        return present
    }

    /// Returns whether the machines are to be read now. If so, they count as read.
    mutating func isReadingDue(keys: [UInt64], count: UInt64, at now: Int64) -> Bool {
        if self.count != count { (self.count, movedAt) = (count, now) }
        let isAwaited = now - movedAt < Self.echo && reading.isDue(at: now)
        if self.keys == keys && !isAwaited && now - readAt < Self.longest { return false }
        (self.keys, readAt) = (keys, now)
        return true
    }
}
