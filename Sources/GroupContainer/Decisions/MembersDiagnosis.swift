/// What is known of the members, the living and the dead, and of what they left.
struct MembersFacts: Sendable {
    struct Living: Equatable, Sendable {
        var process: MemberProcess
        var purpose: String
        var accesses: [Access]
    }

    struct Access: Equatable, Sendable {
        var path: String
        var isWriting: Bool
        var isWaiting: Bool
        /// For how long, in nanoseconds.
        var lasting: Int64
    }

    /// A member whose process is gone, with changes that have no record yet.
    struct Dead: Equatable, Sendable {
        var process: MemberProcess
        var purpose: String
        /// The items of its changes, as far as they are known.
        var items: [String]
    }

    var living: [Living] = []
    var dead: [Dead] = []
    /// In staging and the directories of logs: how many files that nobody will come back for, and how many bytes.
    var leftovers = (count: 0, bytes: UInt64(0))

    /// Leftovers of that many bytes are more than a note.
    static let muchRoom: UInt64 = 16 << 20

    /// A lock is held for longer than that by mistake, most of the time.
    static let longLock: Int64 = 300_000_000_000

    var findings: [Finding] { crowd + living.flatMap(locks) + dead.map(pending) + swept }

    private var crowd: [Finding] {
        let limit = MemberTableLayout.slotCount
        if living.count < limit / 8 * 7 { return [] }
        let isFull = living.count >= limit
        return [
            Finding(
                .membersFull, isFull ? .warning : .note, item: ".group/members",
                "it has \(living.count) members, of \(limit) that are possible",
                why: "a process that opens it \(isFull ? "now" : "when there are so many") can only read it",
                remedy: "end some; groupctl status shows them")
        ]
    }

    private func locks(of member: Living) -> [Finding] {
        let held = member.accesses.filter { !$0.isWaiting }
        guard let oldest = held.max(by: { $0.lasting < $1.lasting }) else { return [] }
        let who = Self.name(member.process, member.purpose)
        let waiting = living.flatMap(\.accesses).count { $0.isWaiting }
        let queue =
            waiting == 0
            ? "" : "; \(waiting == 1 ? "one request waits" : "\(waiting) requests wait") in this container now"
        let items = held.map { "'\($0.path)'" }.joined(separator: ", ")
        if member.process.condition == .stopped {
            return [
                Finding(
                    .lockHolderStopped, .warning, item: oldest.path, process: member.process.signalled,
                    "\(who) is stopped, and holds \(items)",
                    why: "who wants that waits until its deadline\(queue)",
                    remedy: "\(Self.continuing(member.process)), which frees what it holds")
            ]
        }
        if oldest.lasting < Self.longLock { return [] }
        return [
            Finding(
                .lockHeldLong, .warning, item: oldest.path, process: member.process.signalled,
                "\(who) has held \(items) for \(RoughTime.text(oldest.lasting))",
                why: "who wants that waits until its deadline\(queue)",
                remedy:
                    "see what \(member.process.description) is doing; a lock is to be held for as long as a change takes"
            )
        ]
    }

    private func pending(of member: Dead) -> Finding {
        let items = member.items.isEmpty ? "an item" : member.items.map { "'\($0)'" }.joined(separator: ", ")
        return Finding(
            .deadMember, .warning, item: member.items.first, process: member.process.signalled,
            "\(member.process.description), \(member.purpose), died in the middle of a change of \(items)",
            why: "whether it happened is settled, and followers are told, when somebody gets a lock on that",
            remedy: "\(Finding.repair) does it now", mended: "what had happened was recorded, what had not was swept")
    }

    private var swept: [Finding] {
        if leftovers.count == 0 { return [] }
        let count = leftovers.count == 1 ? "one file or directory" : "\(leftovers.count) files and directories"
        return [
            Finding(
                .leftovers, leftovers.bytes < Self.muchRoom ? .note : .warning, item: ".group/staging",
                "\(count) of members that died, \(RoughSize.text(leftovers.bytes))", why: "they only take room",
                remedy: "who opens the container alone sweeps them; \(Finding.repair) does it now",
                mended: "they were removed")
        ]
    }

    /// A member, for people who want to do something about it.
    static func name(_ process: MemberProcess, _ purpose: String) -> String {
        "\(process.description), \(purpose)" + (process.command.map { " ('\($0)')" } ?? "")
    }

    /// What to do about a stopped one. A number of another namespace is no argument for kill: here it may be another
    /// process's.
    static func continuing(_ process: MemberProcess) -> String {
        guard let identifier = process.signalled else { return "continue or end it from its own PID namespace" }
        return "continue it: kill -CONT \(identifier); or end it"
    }
}
