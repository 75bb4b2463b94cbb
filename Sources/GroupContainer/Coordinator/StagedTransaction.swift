import GroupSystemCalls

/// Several changes on their way in. All that is new lies in staging, complete, before anything happens. Then the
/// manifest, which says what goes where, gets its final name: that is the commit. From there on the transaction only
/// goes forward, whichever process dies: the renames, one record, the manifest's end. After the manner of the
/// write-ahead intents of databases.
///
/// The locks of all items are held from before the first look until after the record, and `pending` covers every item
/// meanwhile, so no holder of a lock sees a part of it.
final class StagedTransaction {
    let member: Member
    let purpose: String
    let durability: Durability
    let operation: [UInt8]
    let ground: Ground
    private(set) var steps = TransactionSteps()

    init(by member: Member, purpose: String, _ durability: Durability, on ground: Ground) {
        (self.member, self.purpose, self.durability, self.ground) = (member, purpose, durability, ground)
        operation = member.memberTable.makeOperation()
    }

    static let manifestSuffix = Array(".manifest".utf8)

    static func manifestName(of operation: [UInt8]) -> [UInt8] { StagedChange.name(of: operation) + manifestSuffix }

    static func name(of operation: [UInt8], _ number: Int) -> [UInt8] {
        StagedChange.name(of: operation) + Array(".\(number)".utf8)
    }

    var staging: FileDescriptor { _read { yield member.directory.staging } }
    var manifest: [UInt8] { Self.manifestName(of: operation) }
    var newManifest: [UInt8] { manifest + Array(".new".utf8) }

    func name(_ number: Int) -> [UInt8] { Self.name(of: operation, number) }

    /// Puts a file's new content into staging. `old` is what stands there without the transaction: its attributes
    /// are kept, unless `mode` says otherwise.
    func write(
        _ content: NewContent, to location: ItemLocation, replacing old: FileStatus?, mode: UInt32?,
        as kind: ChangeRecord.Kind
    ) throws(CoordinationError) {
        let number = steps.place(
            at: location, kind, isDirectory: false, replacing: old.map(TransactionSteps.Standing.init),
            contentHash: member.contentHash(of: content))
        let name = name(number)
        do throws(Errno) {
            try? staging.unlink(name)
            try stage(content, as: name, at: location, isNew: old == nil, mode: mode)
        } catch {
            try? staging.unlink(name)
            steps.forget(location)
            throw CoordinationError(error, item: printable(location.bytes), operation: "write")
        }
    }

    /// The same with another file's content and attributes.
    func copy(
        _ original: FileCopy.Original, to location: ItemLocation, replacing old: FileStatus?
    ) throws(CoordinationError) {
        let (kind, before) = (
            old == nil ? ChangeRecord.Kind.created : .modified, old.map(TransactionSteps.Standing.init)
        )
        let name = name(
            steps.place(at: location, kind, isDirectory: false, replacing: before, contentHash: nil))
        do throws(Errno) {
            try? staging.unlink(name)
            let hash = try FileCopy.make(
                name, of: original, in: member.directory, isDurable: durability == .durable, hashKey: member.hashKey
            ).contentHash
            _ = steps.place(at: location, kind, isDirectory: false, replacing: before, contentHash: hash)
        } catch {
            try? staging.unlink(name)
            steps.forget(location)
            throw CoordinationError(error, item: printable(location.bytes), operation: "copy")
        }
    }

    func move(_ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing old: FileStatus?) {
        steps.move(
            origin, TransactionSteps.Standing(status), to: location, replacing: old.map(TransactionSteps.Standing.init))
    }

    func createDirectory(at location: ItemLocation) throws(CoordinationError) {
        let name = name(steps.place(at: location, .created, isDirectory: true, replacing: nil, contentHash: nil))
        do throws(Errno) {
            try stageDirectory(as: name, at: location)
        } catch {
            try? staging.unlink(name, directory: true)
            steps.forget(location)
            throw CoordinationError(error, item: printable(location.bytes), operation: "create directory")
        }
    }

    func remove(_ location: ItemLocation, standing old: FileStatus?) {
        for number in steps.remove(location, standing: old.map(TransactionSteps.Standing.init)) {
            Self.discard(name(number), in: staging)
        }
    }

    /// It stays as it stands.
    func forget(_ location: ItemLocation) {
        guard let step = steps[location] else { return }
        steps.forget(location)
        if step.effect != .removal { Self.discard(name(step.number), in: staging) }
    }
}
