import GroupSystemCalls

extension JournalFacts {
    /// Reads every record that is kept, and the checkpoint. Linear in both.
    init(_ container: ExaminedContainer) {
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
        let fault = Damage(file: error.item ?? ".group/journal", cause: error.cause)
        switch error.code {
        case .damaged: damage.append(fault)
        case .newerFormat: newer.append(fault)
        default: failed.append(fault)
        }
    }

    private mutating func look(through log: MappedLog) throws(CoordinationError) {
        let numbers = try log.fileNumbers()
        for found in try log.findDamage() where !log.isTorn(found) {
            damage.append(Damage(file: found.file, cause: found.cause))
        }
        for number in numbers {
            guard let file = try? log.file(number) else { continue }
            if file.cut != nil { cut.append(file.name) }
            if file.map.load64(LogFileHeader.poisoned) != 0 { poisoned.append((file.name, number == numbers.last)) }
        }
    }

    private static func checkpoint(of journal: Journal) -> Checkpoint {
        var checkpoint = Checkpoint.good
        do {
            _ = try journal.checkpoint.read()
        } catch {
            if error.code == .newerFormat { return .newer(error.cause) }
            checkpoint = .damaged(error.cause)
        }
        do {
            _ = try RecordedTree(journal)
        } catch {
            // What is wrong with the journal itself is said there.
            if error.item == CheckpointFile.label { return .lost(error.cause) }
        }
        return checkpoint
    }

    private static let inMemory: [Int: String] = [0x0102_1994: "tmpfs", 0x8584_58f6: "ramfs"]

    private mutating func look(at directory: GroupDirectory) {
        temporary = (try? directory.root.fileSystemType()).flatMap { Self.inMemory[$0] }
        free = try? directory.group.freeSpace()
    }

    private mutating func look(forRoom directory: GroupDirectory, _ retention: JournalRetention) {
        let checkpoint = (try? directory.group.statusIfPresent(of: Array("checkpoint".utf8)))?.size ?? 0
        let spare = try? directory.journalDirectory().statusIfPresent(of: Array("spare".utf8))
        needed = checkpoint + (spare.flatMap(\.self) == nil ? UInt64(retention.fileSize) : 0) + 65_536
    }
}

extension MappedLog {
    /// Nobody has recovered the log since a boot: what is broken there is where it ends, and nothing to be mended.
    fileprivate func isTorn(_ damage: LogDamage) -> Bool {
        guard let unrecovered, damage.file == "\(name)/\(unrecovered).log", let offset = damage.offset,
            let file = try? file(unrecovered)
        else { return false }
        return isTorn(file, at: offset)
    }

    /// The latest time that a record of the last file names.
    fileprivate func latestTime() throws(CoordinationError) -> Int64? {
        var place = LogPosition.start(of: try last().header)
        var latest: Int64?
        while case .entry(let entry) = try knownStep(behind: place) {
            place = entry.position
            var reader = ByteReader(entry.body)
            if (try? reader.raw(8)) != nil, let time = try? reader.number(Int64.self) {
                latest = max(latest ?? time, time)
            }
        }
        return latest
    }
}
