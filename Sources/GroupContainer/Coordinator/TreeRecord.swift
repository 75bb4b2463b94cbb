import GroupSystemCalls

/// What the journal has of a directory's copy.
extension TreeCopy {
    static func open(_ location: ItemLocation, in member: Member) throws(Fault) -> FileDescriptor {
        do throws(Errno) {
            return try member.openDirectory(location)
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
    }

    /// Makes it in staging. The program around this library may have files of it open, and locked: they are opened and
    /// closed in another table of descriptors.
    mutating func make(
        _ name: [UInt8], of location: ItemLocation, in member: Member, isDurable: Bool, hashKey: SipHash? = nil
    ) throws(Fault) -> FileStatus {
        let source = try Self.open(location, in: member)
        var made: Result<FileStatus, Fault>?
        do throws(Errno) {
            try SeparateTable.within(member.directory.staging, source) { staging, source throws(Errno) in
                made = Result { () throws(Fault) in
                    try make(name, in: staging, of: source, isDurable: isDurable, hashKey: hashKey)
                }
            }
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
        guard let made else { throw Fault(reason: .inputOutput, path: [UInt8(ascii: ".")]) }
        return try made.get()
    }

    /// The list of what is to be copied; throws whatever can be known before anything is. Errors: `wrongType`,
    /// `invalidArgument` for a path that becomes too long, `limitReached`, and those of the system.
    static func survey(
        _ source: ItemLocation, for destination: ItemLocation, by member: Member, purpose: String
    ) throws(CoordinationError) -> TreeCopy {
        let tree: TreeCopy
        do throws(Fault) {
            tree = try TreeCopy(of: open(source, in: member))
        } catch {
            throw CoordinationError(error, in: source)
        }
        try tree.refuseContainers(in: source, "copy")
        try tree.refuseSpecialEntries(in: source)
        let parts = tree.parts(at: destination)
        for part in parts {
            do {
                _ = try ItemLocation(part.path)
            } catch {
                throw CoordinationError(error, path: part.path, operation: "copy")
            }
        }
        // As long as the one that will be written.
        let top = ChangePart(kind: .created, path: destination.bytes, state: parts.first?.state)
        let record = ChangeRecord(
            transaction: [top] + parts, operation: ChangeRecord.noOperation, processIdentifier: processIdentifier(),
            purpose: Array(purpose.utf8), time: 0)
        do {
            try member.journal.log.ensureRoom(forBodyOf: record.encoded().count)
        } catch {
            if error.code != .limitReached { throw error }
            throw CoordinationError(
                .limitReached, item: printable(source.bytes), operation: "copy",
                cause: "it has \(parts.count) items in it, and one record of the journal has no room for them",
                advice: "copy the directories in it one after the other")
        }
        return tree
    }

    /// Others are using it: what is copied of it file by file fits nothing. Errors: `outsideContainer`
    func refuseContainers(in source: ItemLocation, _ operation: String) throws(CoordinationError) {
        if let container { throw .hasContainer(source.bytes + container.dropFirst(), source, operation) }
    }

    private func refuseSpecialEntries(in source: ItemLocation) throws(CoordinationError) {
        var special: [String] = []
        for directory in directories {
            for entry in directory.entries
            where !entry.status.isDirectory && !entry.status.isRegularFile && !entry.status.isLink {
                special.append(printable(source.bytes + directory.path(of: entry).dropFirst()))
            }
        }
        if special.isEmpty { return }
        let rest = special.count > 3 ? " and \(special.count - 3) more" : ""
        throw CoordinationError(
            .wrongType, item: printable(source.bytes), operation: "copy",
            cause: "in it are FIFOs, sockets or devices: \(special.prefix(3).joined(separator: ", "))\(rest)",
            advice: "remove them, or copy the rest one by one")
    }

    /// What is in the directory, once it stands at `location`; parents first.
    func parts(at location: ItemLocation) -> [ChangePart] {
        directories.flatMap { directory in
            directory.entries.map { entry in
                ChangePart(
                    kind: .created, path: location.bytes + directory.path(of: entry).dropFirst(),
                    state: entry.state ?? ItemState(entry.status, contentHash: nil))
            }
        }
    }
}

extension CoordinationError {
    init(_ fault: TreeCopy.Fault, in source: ItemLocation) {
        self.init(fault.reason, item: printable(source.bytes + fault.path.dropFirst()), operation: "copy")
    }
}
