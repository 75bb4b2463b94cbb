import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The changes of a transaction that is not yet committed. All new content is complete in staging before anything
/// happens. Then the manifest, which lists the destination of each file, gets its final name: that is the commit. From
/// then on the transaction only goes forward, whichever process dies: the renames, one record, the manifest's removal.
/// The method follows the write-ahead intents of databases.
///
/// The locks of all items are held from before the first look until after the record, and `inFlight` covers every item
/// meanwhile, so that no holder of a lock sees a part of the transaction.
final class TransactionChanges {
    let container: OpenContainer
    let purpose: [UInt8]
    let durability: Durability
    let operation: [UInt8]
    let preconditions: Preconditions
    private(set) var steps = TransactionSteps()

    init(by container: OpenContainer, purpose: [UInt8], _ durability: Durability, preconditions: Preconditions) {
        self.container = container
        self.purpose = purpose
        self.durability = durability
        self.preconditions = preconditions
        operation = container.memberTable.makeOperation()
    }

    static let manifestSuffix = Array(".manifest".utf8)

    static func manifestName(of operation: [UInt8]) -> [UInt8] { StagingName.of(operation) + manifestSuffix }

    static func name(of operation: [UInt8], _ number: Int) -> [UInt8] {
        StagingName.of(operation) + Array(".\(number)".utf8)
    }

    var staging: FileDescriptor { _read { yield container.directory.staging } }
    var manifest: [UInt8] { Self.manifestName(of: operation) }
    var newManifest: [UInt8] { manifest + Array(".new".utf8) }

    func name(_ number: Int) -> [UInt8] { Self.name(of: operation, number) }

    /// Writes a file's new content into staging. `old` is the status of the file without the transaction: its
    /// attributes are kept, except the mode if `mode` is given.
    func write(
        _ content: NewContent, to location: ItemLocation, replacing old: FileStatus?, mode: UInt32?,
        as kind: ChangeRecord.Kind
    ) throws(CoordinationError) {
        let number = steps.put(
            at: location, kind, isDirectory: false, replacing: old.map(TransactionSteps.PresentItem.init),
            contentHash: container.contentHash(of: content))
        let name = name(number)
        do throws(Errno) {
            try? staging.unlink(name)
            try stage(content, as: name, at: location, isNew: old == nil, mode: mode)
        } catch {
            try? staging.unlink(name)
            steps.forget(location)
            throw CoordinationError(error, operation: "write", item: printable(location.bytes))
        }
    }

    /// Copies another file's content and attributes into staging.
    func copy(
        _ original: FileCopy.Original, to location: ItemLocation, replacing old: FileStatus?
    ) throws(CoordinationError) {
        let (kind, before) = (
            old == nil ? ChangeRecord.Kind.created : .modified, old.map(TransactionSteps.PresentItem.init)
        )
        let name = name(
            steps.put(at: location, kind, isDirectory: false, replacing: before, contentHash: nil))
        do throws(Errno) {
            try? staging.unlink(name)
            let hash = try FileCopy.make(
                name, of: original, in: container.directory, isDurable: durability == .durable,
                hashKey: container.hashKey
            ).contentHash
            _ = steps.put(at: location, kind, isDirectory: false, replacing: before, contentHash: hash)
        } catch {
            try? staging.unlink(name)
            steps.forget(location)
            throw CoordinationError(error, operation: "copy", item: printable(location.bytes))
        }
    }

    func move(_ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing old: FileStatus?) {
        steps.move(
            origin, .init(status), to: location, replacing: old.map(TransactionSteps.PresentItem.init))
    }

    func createDirectory(at location: ItemLocation) throws(CoordinationError) {
        let name = name(steps.put(at: location, .created, isDirectory: true, replacing: nil, contentHash: nil))
        do throws(Errno) {
            try stageDirectory(as: name, at: location)
        } catch {
            try? staging.unlink(name, directory: true)
            steps.forget(location)
            throw CoordinationError(error, operation: "create directory", item: printable(location.bytes))
        }
    }

    func remove(_ location: ItemLocation, present old: FileStatus?) {
        for number in steps.remove(location, present: old.map(TransactionSteps.PresentItem.init)) {
            Self.discard(name(number), in: staging)
        }
    }

    /// Drops the step of an item, which stays as it is without the transaction.
    func forget(_ location: ItemLocation) {
        guard let step = steps[location] else { return }
        steps.forget(location)
        if step.effect != .removal { Self.discard(name(step.number), in: staging) }
    }
}

/// The transaction's files in staging: contents, directories and the manifest; creating and deleting them.
extension TransactionChanges {
    /// Opens the parent directory of a new item; the directory may still be in staging itself.
    private func parent(of location: ItemLocation) throws(Errno) -> FileDescriptor {
        if let parent = location.parent, case .staged(let number, _) = steps.view(parent) {
            return try FileDescriptor.open(name(number), in: staging, [.reading, .directory])
        }
        return try container.openDirectory(location.parent)
    }

    func stage(
        _ content: NewContent, as name: [UInt8], at location: ItemLocation, isNew: Bool, mode: UInt32?
    ) throws(Errno) {
        let attributes =
            isNew
            ? try FileAttributes(ofNewFileIn: parent(of: location), of: container, mode: mode)
            : try FileAttributes(
                ofFileAt: location, replacing: container.status(of: location), in: container, mode: mode)
        _ = try content.make(name, in: staging, attributes, durability)
    }

    func stageDirectory(as name: [UInt8], at location: ItemLocation) throws(Errno) {
        let attributes = try FileAttributes(ofNewDirectoryIn: parent(of: location), of: container)
        try staging.createDirectory(name, mode: attributes.creationMode)
        let made = try FileDescriptor.open(name, in: staging, [.reading, .directory])
        try attributes.apply(to: made)
        if durability == .durable { try made.synchronize() }
    }

    /// Returns the manifest's content: the files in staging, and their destinations in order.
    func describe() throws(CoordinationError) -> TransactionManifest {
        var manifest = TransactionManifest(
            isDurable: durability == .durable, journalSegment: 0, journalOffset: 0, steps: [],
            record: ChangeRecord(
                transaction: [], operation: operation, processIdentifier: processIdentifier(),
                purpose: purpose, time: wallNanoseconds()))
        for step in steps.inOrder {
            var part = ChangePart(kind: .removed, path: step.location.bytes, state: nil)
            part.wasDirectory = step.before?.isDirectory ?? false
            var inode = step.before?.inode ?? 0
            var replaces = false
            if case .placement(let kind, _, let contentHash) = step.effect {
                let status = try translating("transaction", item: printable(step.location.bytes)) { () throws(Errno) in
                    try staging.status(of: name(step.number))
                }
                part = ChangePart(
                    kind: kind, path: step.location.bytes, state: ItemState(status, contentHash: contentHash))
                inode = status.inode
            }
            if case .arrival(let origin, let item) = step.effect {
                part = try describeArrival(at: step.location, from: origin, item)
                inode = item.inode
                replaces = step.before != nil
            }
            manifest.record.parts.append(part)
            manifest.steps.append(
                TransactionManifest.Step(number: UInt32(step.number), inode: inode, replaces: replaces))
        }
        let tail = container.journal.log.tail()
        (manifest.journalSegment, manifest.journalOffset) = (tail.segment, UInt64(tail.offset))
        return manifest
    }

    private func describeArrival(
        at location: ItemLocation, from origin: ItemLocation, _ item: TransactionSteps.PresentItem
    ) throws(CoordinationError) -> ChangePart {
        let label = printable(origin.bytes)
        let status = try translating("transaction", item: label) { () throws(Errno) in try container.status(of: origin)
        }
        guard let status, status.inode == item.inode else {
            throw CoordinationError(
                .conflict, operation: "transaction", item: label,
                reason: "the item was changed meanwhile without coordination",
                remedy: .init(.tryAgain, "nothing was changed; try again"))
        }
        return ChangePart(
            kind: .moved, path: location.bytes, from: origin.bytes, state: ItemState(status, contentHash: nil))
    }

    /// Writes the manifest under its provisional name, which does not commit.
    func writeManifest(_ content: TransactionManifest) throws(Errno) {
        let file = try FileDescriptor.open(newManifest, in: staging, .newFile, mode: 0o600)
        // The repairer may be another user of the Unix group.
        if container.directory.fileMode != 0o600 { try file.setMode(container.directory.fileMode) }
        try file.writeAll(content.encoded())
        if durability == .durable {
            try file.synchronize()
            // The files that the manifest names must be on the disk before its final name can be.
            try staging.synchronize()
        }
    }

    /// Deletes all of the transaction's files in staging, before the commit. Files that cannot be deleted go with the
    /// repair of the member's slot.
    func discard() {
        try? staging.unlink(newManifest)
        for step in steps.inOrder where step.effect != .removal { Self.discard(name(step.number), in: staging) }
    }

    static func discard(_ name: [UInt8], in staging: borrowing FileDescriptor) {
        try? staging.removeTree(name)
    }

    /// Deletes the transaction's files in staging, after the record. The manifest goes first, so that no process
    /// repeats a step whose trace in staging is gone.
    static func sweep(_ operation: [UInt8], _ names: [[UInt8]], in container: OpenContainer) {
        do throws(Errno) {
            try container.directory.staging.unlink(manifestName(of: operation))
        } catch {
            if error != .noSuchEntry { return }
        }
        for name in names { container.removeStaged(name) }
    }
}

extension TransactionSteps.PresentItem {
    init(_ status: FileStatus) { self.init(inode: status.inode, isDirectory: status.isDirectory) }
}

extension TransactionChanges {
    /// Returns the preconditions of a transaction, except those that its own steps fulfill.
    func preconditions(of parts: [ChangePart]) throws(CoordinationError) -> [Precondition] {
        var preconditions: [Precondition] = []
        for (step, part) in zip(steps.inOrder, parts) {
            let location = step.location
            if part.kind != .removed, let directory = location.parent, !steps.isWithinNew(location) {
                preconditions.append(.directory(directory))
            }
            switch part.kind {
            case .removed, .touched: preconditions += try presentState(location, keepsContent: part.kind == .touched)
            case .moved:
                if let state = part.state, let origin = part.from.flatMap({ try? ItemLocation($0) }) {
                    preconditions.append(.item(origin, state))
                }
                preconditions +=
                    step.before == nil ? [.vacancy(location)] : try presentState(location, keepsContent: false)
            case .created, .modified, .exchanged, .transaction, .term, .degraded: break
            }
        }
        return preconditions
    }

    private func presentState(_ location: ItemLocation, keepsContent: Bool) throws(CoordinationError) -> [Precondition]
    {
        let status = try translating("transaction", item: printable(location.bytes)) { () throws(Errno) in
            try container.status(of: location)
        }
        guard let state = status.map({ ItemState($0, contentHash: nil) }) else { return [] }
        return [keepsContent ? .item(location, state) : .presence(location, state.type)]
    }
}
