import GroupBytes
import GroupLog
import GroupSystemCalls

/// The facts about the journal, the checkpoint, and the disk that holds them.
struct JournalFacts: Sendable {
    struct Damage: Equatable, Sendable {
        var file: String
        var cause: String
    }

    enum Checkpoint: Equatable, Sendable {
        /// The checkpoint is good; or there is none, and none is needed.
        case good
        case damaged(String)
        case newer(String)
        /// There is no valid checkpoint, and the journal's beginning is gone.
        case lost(String)
    }

    var damage: [Damage] = []
    /// The files of a newer version.
    var newer: [Damage] = []
    /// The files that could not be examined.
    var failed: [Damage] = []
    /// The files whose synchronization failed. Such a file no longer matters once another file has followed it.
    var failedSyncs: [(file: String, isLast: Bool)] = []
    /// The files that end early, because of damage that was found before.
    var cut: [String] = []
    var checkpoint = Checkpoint.good
    /// The latest time in a record, and the present time, in nanoseconds since 1970.
    var newest: Int64?
    var now: Int64 = 0
    /// The space that the next file of the journal and the next checkpoint need, and the free space, in bytes.
    var needed: UInt64 = 0
    var free: UInt64?
    /// How many files and directories can still be made on the file system, and are needed.
    var freeInodes: UInt64?
    static let neededInodes: UInt64 = 16
    /// The name of the file system, where it keeps everything in memory.
    var temporary: String?

    var findings: [Finding] {
        broken + strange + undurable + [cutSegments, checkpointFinding, room, clock, memory].compactMap(\.self)
    }

    private var broken: [Finding] {
        damage.map { damage in
            Finding(
                .journalDamaged, .error, item: damage.file, damage.cause,
                why:
                    "changes recorded behind the damage cannot be read; followers that come to it compare everything once",
                remedy: "\(Finding.repair) keeps what can be read; look after the disk, too",
                repaired: "what can be read was kept; followers compare everything once")
        }
    }

    private var strange: [Finding] {
        newer.map { fault in
            Finding(
                .formatNewer, .error, item: fault.file, fault.cause,
                why: "this version would misunderstand what is in it",
                remedy: "use a newer version of this program")
        }
            + failed.map { fault in
                Finding(
                    .partDamaged, .error, item: fault.file, fault.cause, why: "the container cannot be opened",
                    remedy: "look after its permissions, and after the disk")
            }
    }

    private var undurable: [Finding] {
        failedSyncs.map { file, isLast in
            Finding(
                .journalNotDurable, isLast ? .error : .warning, item: file,
                "the disk refused to keep it (fdatasync failed)",
                why: isLast
                    ? "no change is durable until the disk takes it again"
                    : "everything was written again, and the journal went on in another file; the disk may be failing",
                remedy: "look after the disk: dmesg, smartctl" + (isLast ? "; the next change tries again" : ""))
        }
    }

    private var cutSegments: Finding? {
        cut.first.map { file in
            Finding(
                .journalCut, .note, item: file,
                "it was damaged, and ends before that\(cut.count > 1 ? " (and \(cut.count - 1) more)" : "")",
                why: "followers that had not read it compared everything",
                remedy: "nothing needs to be done; the file is dropped when it is old enough")
        }
    }

    private var checkpointFinding: Finding? {
        let item = ".group/checkpoint"
        switch checkpoint {
        case .good: return nil
        case .newer(let cause):
            return Finding(
                .formatNewer, .error, item: item, cause,
                why: "this version cannot read which items the journal has, so it neither watches nor compares",
                remedy: "use a newer version of this program")
        case .damaged(let cause):
            return Finding(
                .checkpointDamaged, .warning, item: item, cause,
                why:
                    "the journal is read from its beginning instead, which takes long, and nothing of it can be dropped",
                remedy: "the next one replaces it; \(Finding.repair) makes it now", repaired: "it was made anew")
        case .lost(let cause):
            return Finding(
                .checkpointLost, .error, item: item, cause,
                why: "the items that the journal had are unknown: generations and watching end in errors",
                remedy: "\(Finding.repair) makes it anew; followers compare everything once",
                repaired: "it was made anew; followers compare everything once")
        }
    }

    private var room: Finding? {
        let why = "changes are refused then, before anything happens"
        if let freeInodes, freeInodes < Self.neededInodes {
            return Finding(
                .spaceLow, .warning,
                freeInodes == 0
                    ? "no inode is left: the file system can hold no further file"
                    : "only \(freeInodes) inodes are left: the file system can hold no more files than that",
                why: why, remedy: "remove files or directories on its file system")
        }
        guard let free, free < needed else { return nil }
        return Finding(
            .spaceLow, .warning,
            "\(RoughSize.text(free)) are free; the journal needs \(RoughSize.text(needed)) to go on", why: why,
            remedy: "make room on its file system")
    }

    private var clock: Finding? {
        // A difference of up to a minute is not reported.
        guard let newest, newest > now, newest - max(0, now) > 60_000_000_000 else { return nil }
        return Finding(
            .clockBehind, .warning,
            "the clock is \(RoughTime.text(newest - now)) behind the time of the latest change",
            why:
                "the order of changes is right all the same; their times are not, and the journal is kept too long or too short",
            remedy: "set the clock")
    }

    private var memory: Finding? {
        temporary.map { name in
            Finding(
                .fileSystemTemporary, .note, "it lies on \(name), in memory",
                why: "durable means nothing here: everything is gone after a restart",
                remedy: "nothing, if that is meant; else put it on a disk")
        }
    }
}

extension JournalFacts {
    /// Reads every record that is kept, and the checkpoint. Linear in both.
    init(_ container: CheckedContainer) {
        self.init()
        now = wallNanoseconds()
        look(at: container.directory)
        guard let format = container.format else { return }
        do {
            guard let journal = try container.journal() else { return }
            try look(through: journal.log)
            checkpoint = Self.checkpoint(of: journal)
            newest = try? journal.log.latestTime()
        } catch {
            note(error)
        }
        look(forRoom: container.directory, format.retention)
    }

    private mutating func note(_ error: CoordinationError) {
        let fault = Damage(file: error.item ?? ".group/journal", cause: error.reason)
        switch error.code {
        case .damaged: damage.append(fault)
        case .newerFormat: newer.append(fault)
        default: failed.append(fault)
        }
    }

    private mutating func look(through log: SegmentedLog) throws(CoordinationError) {
        let numbers = try translating(log.segmentNumbers())
        for found in try translating(log.findDamage()) where !log.isTorn(found) {
            damage.append(Damage(file: found.file, cause: found.kind.cause))
        }
        for number in numbers {
            guard let segment = try? log.segment(number) else { continue }
            if segment.cut != nil { cut.append(segment.name) }
            if segment.hasFailedSync { failedSyncs.append((segment.name, number == numbers.last)) }
        }
    }

    private static func checkpoint(of journal: Journal) -> Checkpoint {
        var checkpoint = Checkpoint.good
        do {
            _ = try journal.checkpoint.read()
        } catch {
            if error.code == .newerFormat { return .newer(error.reason) }
            checkpoint = .damaged(error.reason)
        }
        do {
            _ = try JournalView(journal)
        } catch {
            // Faults of the journal itself are reported with the journal.
            if error.item == CheckpointFile.label { return .lost(error.reason) }
        }
        return checkpoint
    }

    private static let inMemory: [Int: String] = [0x0102_1994: "tmpfs", 0x8584_58f6: "ramfs"]

    private mutating func look(at directory: ContainerDirectories) {
        temporary = (try? directory.root.fileSystemType()).flatMap { Self.inMemory[$0] }
        let room = try? directory.group.freeSpace()
        (free, freeInodes) = (room?.bytes, room?.inodes)
    }

    private mutating func look(forRoom directory: ContainerDirectories, _ retention: JournalRetention) {
        let checkpoint = (try? directory.group.statusIfPresent(of: Array("checkpoint".utf8)))?.size ?? 0
        let spare = try? directory.journalDirectory().statusIfPresent(of: Array("spare".utf8))
        needed = checkpoint + (spare.flatMap(\.self) == nil ? UInt64(retention.segmentSize) : 0) + 65_536
    }
}

extension SegmentedLog {
    /// Returns the latest time in the records of the last file.
    fileprivate func latestTime() throws(CoordinationError) -> Int64? {
        var position = LogPosition.start(of: try translating(last()).header)
        var latest: Int64?
        while case .entry(let entry) = try translating(knownStep(behind: position)) {
            position = entry.position
            var reader = ByteReader(entry.body)
            if (try? reader.raw(8)) != nil, let time = try? reader.number(Int64.self) {
                latest = max(latest ?? time, time)
            }
        }
        return latest
    }
}
