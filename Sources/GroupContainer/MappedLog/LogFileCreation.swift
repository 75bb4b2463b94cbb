import GroupSystemCalls

/// How files of a log come into being: built under a private name, complete and on the disk, then renamed to their
/// number without replacing. Who comes second discards; who is stopped in between stops nobody.
extension MappedLog {
    private static let spare = Array("spare".utf8)

    /// A change must not fail for want of room once it is visible. Called before: when the last file runs low, the next
    /// one is allocated now. `bodyCount` is the record's size, where that matters: `limitReached` for one that fits
    /// into no file.
    func ensureRoom(forBodyOf bodyCount: Int = 0) throws(CoordinationError) {
        _ = try writerSlot("allocate")
        let file = try last()
        try checkFits(bodyCount, in: file)
        let (offset, isSealed) = try findEnd(of: file)
        if isSealed { _ = try successor(of: file, sealedAt: offset) }
        if isSealed || offset + LogFile.byteCount(bodyCount: bodyCount) < file.capacity / 4 * 3 { return }
        try translating("\(name)/spare", "allocate") { () throws(Errno) in
            if try directory.statusIfPresent(of: Self.spare) != nil { return }
            let name = try allocate(surroundings.capacity)
            do throws(Errno) {
                try directory.rename(name, to: Self.spare, in: directory, replacing: false)
            } catch {
                try? directory.unlink(name)
                if error != .exists { throw error }
            }
        }
    }

    /// Makes the file that follows `end`, or the first one, leaving out `leap` numbers, with what it begins with.
    /// Returns the one that won, or, where this member was so late that it has been dropped since, the last one.
    func makeFile(
        after end: LogPosition?, leap: UInt64 = 0, preamble: LogPreamble? = nil
    ) throws(CoordinationError) -> LogFile {
        let slot = try writerSlot("create")
        let number = (end?.file ?? 0) &+ 1
        let label = "\(name)/\(number).log"
        let capacity = preamble?.capacity ?? surroundings.capacity
        try translating(label, "create") { () throws(Errno) in
            var name = preamble == nil ? try claimSpare() : nil
            if name == nil { name = try allocate(capacity) }
            guard let name else { return }
            do throws(Errno) {
                let file = try FileDescriptor.open(name, in: directory, .readingAndWriting)
                let header = LogFileHeader(
                    salt: randomWord(), number: number, base: (end?.sequence ?? 0) + leap,
                    previousEnd: UInt64(end?.offset ?? 0),
                    capacity: UInt64(capacity), container: surroundings.container,
                    incarnation: surroundings.incarnation, created: wallNanoseconds())
                try file.writeAll(header.encoded())
                if let preamble { try preamble.write(into: file, header, by: slot) }
                // The salt must be on the disk before the first record that uses it.
                try file.synchronize()
                try directory.rename(name, to: Array("\(number).log".utf8), in: directory, replacing: false)
                // Of what is compacted, who says that something is durable does it: the others need not wait for it.
                if preamble == nil { try directory.synchronize() }
                if end != nil { hasMadeFile.withLock { $0 = true } }
            } catch {
                try? directory.unlink(name)
                if error != .exists { throw error }
            }
        }
        if let file = try file(number) { return file }
        // Later ones are there, and nothing was ever appended to this one: it was ours, and nobody's.
        if try fileNumbers().last ?? 0 > number { try? directory.unlink(Array("\(number).log".utf8)) }
        return try last()
    }

    private func makeUnfinishedName() -> [UInt8] {
        UnfinishedName.bytes(slot: surroundings.slot ?? 0, nonce: surroundings.nonce, randomBytes(8))
    }

    /// An empty file with all its blocks, under a name that nobody else uses.
    private func allocate(_ capacity: Int) throws(Errno) -> [UInt8] {
        // What those left who died here is as large as what is to be made.
        directory.removeUnfinished(among: try directory.entryNames(), where: surroundings.isAbandoned)
        let name = makeUnfinishedName()
        let file = try FileDescriptor.open(
            name, in: directory, [.readingAndWriting, .creating, .exclusively], mode: 0o600)
        do {
            try file.setMode(surroundings.fileMode)
            file.avoidCopyOnWrite()
            try file.allocate(capacity)
        } catch {
            try? directory.unlink(name)
            throw error
        }
        return name
    }

    /// Only one rename away from the spare can succeed.
    private func claimSpare() throws(Errno) -> [UInt8]? {
        let name = makeUnfinishedName()
        do {
            try directory.rename(Self.spare, to: name, in: directory, replacing: false)
            if try directory.status(of: name).isRegularFile { return name }
            try directory.removeTree(name)
            return nil
        } catch {
            if error == .noSuchEntry { return nil }
            throw error
        }
    }
}
