import GroupSystemCalls

extension MembersFacts {
    init(_ container: ExaminedContainer) {
        self.init()
        guard let memberTable = container.memberTable else { return }
        // Before the members: what somebody who lives now has staged since is not among them.
        let staged = container.stagedNames()
        let now = wallNanoseconds()
        var processes = ProcessTable()
        living = memberTable.liveMembers().map { member in
            Living(
                process: processes.process(of: member), purpose: member.purpose,
                accesses: memberTable.accesses(of: member).map { access in
                    Access(
                        path: access.path, isWriting: access.claim.part.mode != .reading,
                        isWaiting: access.claim.stage != .held, lasting: now - access.since)
                })
        }
        // After another boot the slots say what was then.
        var concerned = Set(memberTable.liveMembers().map(\.nonce))
        if !container.awaitsRecovery {
            for slot in memberTable.slotsWithPending() where !memberTable.isAlive(slot) {
                guard let member = memberTable.member(at: slot) else { continue }
                concerned.insert(member.nonce)
                dead.append(
                    Dead(
                        process: processes.process(of: member), purpose: member.purpose,
                        items: memberTable.pending(of: slot).flatMap { container.items(of: $0, by: member) }))
            }
        }
        for name in staged where name.nonce.map({ !concerned.contains($0) }) ?? true {
            if let unfinished = name.unfinished, !memberTable.isAbandoned(unfinished) { continue }
            leftovers.count += 1
            leftovers.bytes += name.size
        }
    }
}

/// An entry of staging, or an unfinished file of a log.
struct StagedName {
    var name: [UInt8]
    /// The log's, below `.group`; nil for staging.
    var directory: String?
    /// Of the member that made it; nil where its name does not say.
    var nonce: UInt64?
    /// Of a log's file.
    var unfinished: UnfinishedName?
    var size: UInt64

    init(staged name: [UInt8], size: UInt64) {
        (self.name, self.size) = (name, size)
        guard let bytes = Hexadecimal.decode(String(decoding: name.prefix(16), as: UTF8.self)), bytes.count == 8 else {
            return
        }
        var reader = ByteReader(bytes)
        nonce = try? reader.number()
    }

    /// Nil for what is none.
    init?(unfinished name: [UInt8], of directory: String?, size: UInt64) {
        guard let unfinished = UnfinishedName(name) else { return nil }
        (self.name, self.directory, self.unfinished, self.size) = (name, directory, unfinished, size)
    }
}

extension ExaminedContainer {
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
        guard let status = try? directory.status(of: name), status.isRegularFile else { return 0 }
        return status.size
    }

    /// What an operation was about, by what its member wrote before it.
    fileprivate func items(of change: MemberTable.PendingChange, by member: MemberTable.Member) -> [String] {
        let note = NoteFiles.name(nonce: member.nonce, entry: change.entry)
        let manifest = StagedTransaction.manifestName(of: change.operation)
        let staging: FileDescriptor.Access = [.reading, .nonBlocking]
        func content(_ name: [UInt8]) -> [UInt8]? {
            guard let file = try? FileDescriptor.open(name, in: directory.staging, staging) else { return nil }
            return try? file.readAll(limit: TransactionManifest.largest)
        }
        let record =
            content(note).flatMap { OperationRecord(decoding: $0) }?.change
            ?? content(manifest).flatMap { TransactionManifest(decoding: $0) }?.record
        guard let record else { return [] }
        return (record.parts.isEmpty ? [record.path] : record.parts.map(\.path)).map(printable)
    }
}
