import GroupLocking
import GroupBytes
import GroupSystemCalls

/// The facts about the members, living and dead, and about what they left behind.
struct MembersFacts: Sendable {
    struct Living: Equatable, Sendable {
        var process: MemberProcess
        var purpose: String
        var locks: [Lock]
    }

    struct Lock: Equatable, Sendable {
        var path: String
        var isWriting: Bool
        var isWaiting: Bool
        /// How long the access has lasted, in nanoseconds.
        var lasting: Int64
    }

    /// A member whose process is gone, with in-flight operations that have no record yet.
    struct Dead: Equatable, Sendable {
        var process: MemberProcess
        var purpose: String
        /// The first items of its operations, as far as they are known.
        var items: [String]
        /// The number of its other items.
        var moreItems = 0
    }

    var living: [Living] = []
    var dead: [Dead] = []
    /// The number and the bytes of files in staging and in the directories of logs whose member will not come back.
    var leftovers = (count: 0, bytes: UInt64(0))
    /// The directory among them that this user may not empty, below staging.
    var obstacle: RemovalObstacle?
    /// The number of presenters that the member table shows and that are no longer there.
    var departedPresenters = 0

    /// From this many bytes on, leftovers are a warning instead of a note.
    static let muchRoom: UInt64 = 16 << 20

    /// The number of files and directories in a leftover tree that are looked at.
    static let examined = 100_000

    /// The time in nanoseconds after which a held lock is probably a mistake.
    static let longLock: Int64 = 300_000_000_000

    var findings: [Finding] { crowd + living.flatMap(locks) + dead.map(inFlight) + swept + presenters }

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
        let held = member.locks.filter { !$0.isWaiting }
        guard let oldest = held.max(by: { $0.lasting < $1.lasting }) else { return [] }
        let name = Self.name(member.process, member.purpose)
        let waiting = living.flatMap(\.locks).count { $0.isWaiting }
        let queue =
            waiting == 0
            ? "" : "; \(waiting == 1 ? "one request waits" : "\(waiting) requests wait") in this container now"
        let items = held.map { "'\($0.path)'" }.joined(separator: ", ")
        if member.process.condition == .stopped {
            return [
                Finding(
                    .lockHolderStopped, .warning, item: oldest.path, process: member.process.signalled,
                    "\(name) is stopped, and holds \(items)",
                    why: "requests for the same items wait until their deadlines\(queue)",
                    remedy: "\(Self.continuing(member.process)), which frees what it holds")
            ]
        }
        if oldest.lasting < Self.longLock { return [] }
        return [
            Finding(
                .lockHeldLong, .warning, item: oldest.path, process: member.process.signalled,
                "\(name) has held \(items) for \(RoughTime.text(oldest.lasting))",
                why: "requests for the same items wait until their deadlines\(queue)",
                remedy:
                    "see what \(member.process.description) is doing; a lock is to be held for as long as a change takes"
            )
        ]
    }

    private func inFlight(of member: Dead) -> Finding {
        var items = member.items.isEmpty ? "an item" : member.items.map { "'\($0)'" }.joined(separator: ", ")
        if member.moreItems > 0 { items += " and \(member.moreItems) more" }
        return Finding(
            .deadMember, .warning, item: member.items.first, process: member.process.signalled,
            "\(member.process.description), \(member.purpose), died in the middle of a change of \(items)",
            why: "the next process that gets a lock on the same items finishes or undoes the change",
            remedy: "\(Finding.repair) does it now",
            repaired: "the change was recorded if it had happened, and its remains were removed")
    }

    private var swept: [Finding] {
        if leftovers.count == 0 { return [] }
        let count = leftovers.count == 1 ? "one file or directory" : "\(leftovers.count) files and directories"
        return [
            Finding(
                .leftovers, leftovers.bytes < Self.muchRoom ? .note : .warning, item: ".group/staging",
                "\(count) of members that are gone, \(RoughSize.text(leftovers.bytes))"
                    + (stuck.map { "; \($0)" } ?? ""),
                why: "they only take room", remedy: removal, repaired: obstacle == nil ? "they were removed" : nil)
        ]
    }

    private var stuck: String? {
        obstacle.map {
            "user \(effectiveUser()) may not empty .group/staging/\(printable($0.path)), which is a directory of user \($0.owner)"
        }
    }

    private var removal: String {
        obstacle.map { "have user \($0.owner), or root, remove it (rm -r); then \(Finding.repair) removes the rest" }
            ?? "a process that opens the container alone removes them; \(Finding.repair) does it now"
    }

    private var presenters: [Finding] {
        if departedPresenters == 0 { return [] }
        return [
            Finding(
                .presenterLeftovers, .note, item: PresenterTable.label,
                departedPresenters == 1
                    ? "a presenter of an item is gone, and is still in the table"
                    : "\(departedPresenters) presenters of items are gone, and are still in the table",
                why: "requests for these items look for them first",
                remedy: "the next of these requests removes them; \(Finding.repair) does it now",
                repaired: "they were removed")
        ]
    }

    /// Returns the name of a member for messages to users.
    static func name(_ process: MemberProcess, _ purpose: String) -> String {
        "\(process.description), \(purpose)" + (process.command.map { " ('\($0)')" } ?? "")
    }

    /// Returns the remedy for a stopped process. A process identifier of another namespace is no argument for kill:
    /// here it may belong to another process.
    static func continuing(_ process: MemberProcess) -> String {
        guard let identifier = process.signalled else { return "continue or end it from its own PID namespace" }
        return "continue it: kill -CONT \(identifier); or end it"
    }
}

extension MembersFacts {
    init(_ container: CheckedContainer) {
        self.init()
        guard let memberTable = container.memberTable else { return }
        // Read before the members, so that files that a living member has staged since are not in it.
        let staged = container.stagedNames()
        let now = wallNanoseconds()
        var processes = ProcessTable()
        living = memberTable.liveMembers().map { member in
            Living(
                process: processes.process(of: member), purpose: member.purpose,
                locks: memberTable.publishedLocks(of: member).map { access in
                    Lock(
                        path: access.path, isWriting: access.claim.part.mode != .shared,
                        isWaiting: access.claim.stage != .held, lasting: now - access.since)
                })
        }
        // After another boot the slots contain what was true before it.
        var concerned = Set(memberTable.liveMembers().map(\.nonce))
        var operations = OperationsInFlight()
        if !container.awaitsRecovery {
            for slot in memberTable.slotsWithInFlight() where !memberTable.isAlive(slot) {
                guard let member = memberTable.member(at: slot) else { continue }
                concerned.insert(member.nonce)
                var found = Dead(process: processes.process(of: member), purpose: member.purpose, items: [])
                for change in memberTable.inFlight(of: slot) {
                    found.add(operations.items(of: change, by: member, in: container))
                }
                dead.append(found)
            }
        }
        departedPresenters = container.countDepartedPresenters()
        for name in staged where name.nonce.map({ !concerned.contains($0) }) ?? true {
            if name.isUnfinished, !memberTable.isAbandoned(name.name) { continue }
            leftovers.count += 1
            leftovers.bytes += name.size
            if obstacle == nil, name.directory == nil {
                obstacle = container.directory.staging.removalObstacle(in: name.name, limit: Self.examined)
            }
        }
    }
}

/// An entry of staging, or an unfinished file of a log.
struct StagedName {
    var name: [UInt8]
    /// The directory of the log, below `.group`; nil for staging.
    var directory: String?
    /// The nonce of the member that made the file; nil where the file's name does not contain it.
    var nonce: UInt64?
    /// Whether it is an unfinished file of a log.
    var isUnfinished = false
    var size: UInt64

    init(staged name: [UInt8], size: UInt64) {
        self.name = name
        self.size = size
        guard let bytes = Hexadecimal.decode(String(decoding: name.prefix(16), as: UTF8.self)), bytes.count == 8 else {
            return
        }
        var reader = ByteReader(bytes)
        nonce = try? reader.number()
    }

    /// Creates an unfinished file from its name; nil for another name.
    init?(unfinished name: [UInt8], of directory: String?, size: UInt64) {
        if UnfinishedName(name) == nil { return nil }
        self.name = name
        self.directory = directory
        self.isUnfinished = true
        self.size = size
    }
}

extension CheckedContainer {
    fileprivate func countDepartedPresenters() -> Int {
        guard let memberTable, let presenters, !awaitsRecovery else { return 0 }
        func look() -> Set<Int> {
            Set(
                memberTable.presenterEntries().filter { index in
                    guard let entry = presenters.entry(index) else { return true }
                    return !memberTable.isAlive(entry.slot, nonce: entry.nonce)
                })
        }
        var departed = look()
        if departed.isEmpty { return 0 }
        // A presenter that ends at this moment has freed its entry, and not yet cleared its bits.
        pause(nanoseconds: 100_000_000)
        departed.formIntersection(look())
        return departed.count
    }

    func stagedNames() -> [StagedName] {
        let staged = ((try? directory.staging.entryNames()) ?? []).map { name in
            StagedName(staged: name, size: size(of: name, in: directory.staging))
        }
        return (["journal"] + directory.storeNames().map { "\($0.kind.directory)/\($0.name)" }).reduce(into: staged) {
            names, log in
            guard let directory = try? directory.existingDirectory(log) else { return }
            for name in (try? directory.entryNames()) ?? [] {
                let size = size(of: name, in: directory)
                if let unfinished = StagedName(unfinished: name, of: log, size: size) { names.append(unfinished) }
            }
        }
    }

    private func size(of name: [UInt8], in directory: borrowing FileDescriptor) -> UInt64 {
        directory.sizeOfTree(name, limit: MembersFacts.examined)
    }
}

extension MembersFacts.Dead {
    /// So many items are named in a finding.
    fileprivate static let mostItems = 8

    /// Adds the items of an operation.
    fileprivate mutating func add(_ operation: OperationsInFlight.Items) {
        let room = max(0, Self.mostItems - items.count)
        items += operation.first.prefix(room)
        moreItems += operation.count - min(room, operation.first.count)
    }
}

/// Reads what the operations of dead members concern, by the intent records or the manifests that they wrote before. A
/// file is read once, however many entries of the member table name it, and only so many bytes are read of all of them:
/// a member may have forged all entries.
private struct OperationsInFlight {
    /// The items of an operation.
    struct Items {
        var first: ArraySlice<String>
        var count: Int
    }

    private var known: Set<[UInt8]> = []
    /// The number of bytes that may still be read.
    private var room = 2 * TransactionManifest.largest

    /// Returns the items of an operation; none where its file was read for another entry.
    mutating func items(
        of change: MemberTable.InFlightOperation, by member: MemberTable.Member, in container: CheckedContainer
    ) -> Items {
        guard let record = record(of: change, by: member, in: container) else { return Items(first: [], count: 0) }
        let paths = record.parts.isEmpty ? [record.path] : record.parts.map(\.path)
        let first = paths.prefix(MembersFacts.Dead.mostItems).map(printable)
        return Items(first: first[...], count: paths.count)
    }

    private mutating func record(
        of change: MemberTable.InFlightOperation, by member: MemberTable.Member, in container: CheckedContainer
    ) -> ChangeRecord? {
        let intentName = StagingName.intentRecord(nonce: member.nonce, entry: change.entry)
        if let bytes = content(of: intentName, container), let intent = IntentRecord(decoding: bytes) {
            return intent.change
        }
        let manifestName = TransactionChanges.manifestName(of: change.operation)
        guard let bytes = content(of: manifestName, container) else { return nil }
        return TransactionManifest(decoding: bytes)?.record
    }

    /// Returns the content of a file in staging that was not read before; nil if there is none.
    private mutating func content(of name: [UInt8], _ container: CheckedContainer) -> [UInt8]? {
        if room <= 0 || known.contains(name) { return nil }
        let limit = min(room, TransactionManifest.largest)
        guard let content = try? FileDescriptor.content(of: name, in: container.directory.staging, limit: limit) else {
            return nil
        }
        known.insert(name)
        room -= content.count
        return content
    }
}
