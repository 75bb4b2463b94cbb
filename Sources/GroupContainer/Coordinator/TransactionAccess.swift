import GroupSystemCalls

/// What a change within a transaction did.
public enum StagedOutcome: Hashable, Sendable {
    /// It becomes visible, with everything else, when the closure returns; its generation is that of the transaction.
    case staged
    /// The item has this content already, or had it before the transaction.
    case unchanged
}

/// Access to the items of a transaction, for the time of its closure. What is changed through it is seen through it at
/// once, and by nobody else before the closure has returned. Every call blocks while the disk works.
public final class TransactionAccess {
    let access: Access
    let transaction: StagedTransaction
    /// A caller that kept the object has nothing.
    private var hasEnded = false

    init(_ access: Access) {
        self.access = access
        transaction = StagedTransaction(
            by: access.member, purpose: access.purpose, access.durability, on: access.ground)
    }

    var member: Member { access.member }

    func location(_ path: ItemPath, for mode: LeaseMode, _ operation: String) throws(CoordinationError)
        -> ItemLocation
    {
        try checkIsOpen(path, operation)
        return try access.location(path, for: mode, operation)
    }

    func checkIsOpen(_ path: ItemPath, _ operation: String) throws(CoordinationError) {
        if !hasEnded { return }
        throw CoordinationError(
            .invalidArgument, item: path.description, operation: operation, cause: "its transaction has ended",
            advice: "use the access within its closure")
    }

    /// What stands there without the transaction.
    func standing(_ location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try member.status(of: location, for: operation)
    }

    /// An item's content, as the transaction left it. Errors: `notFound`, `wrongType`, `inputOutput`.
    /// System calls: openat2, read
    public func readBytes(_ path: ItemPath) throws(CoordinationError) -> [UInt8] {
        var reader = try reader(of: location(path, for: .reading, "read"))
        return try reader.hold()
    }

    func reader(of location: ItemLocation) throws(CoordinationError) -> ItemReader {
        let label = printable(location.bytes)
        switch transaction.steps.view(location) {
        case .untouched: return try ItemReader(of: location.bytes, in: member.folder.root, label: label)
        case .elsewhere(let place):
            return try ItemReader(of: place.bytes, in: member.folder.root, label: printable(place.bytes))
        case .absent: throw CoordinationError(Errno.noSuchEntry, item: label, operation: "read")
        case .staged(let number, let isFolder):
            if isFolder { throw Self.wrongType(location, "read", isFolder: true) }
            return try ItemReader(of: transaction.name(number), in: member.folder.staging, label: label)
        }
    }

    /// The same, or nil where nothing stands.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        try ifPresent { () throws(CoordinationError) in try readBytes(path) }
    }

    /// Replaces an item's content; folders on the way are made, as part of the transaction. Attributes are those that
    /// `Access.write` gives. Errors: `wrongType`, `noSpace`, `notPermitted`, `inputOutput`; where the closure does not
    /// throw them on, the transaction goes on without this change. A condition is about what stands there without the
    /// transaction, and is compared now: the lease is kept until the end. `conflict`: see `Access.write`.
    @discardableResult
    public func write(
        bytes content: [UInt8], to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil
    ) throws(CoordinationError) -> StagedOutcome {
        try write(.bytes(content), to: path, if: condition, mode: mode)
    }

    func write(
        _ content: NewContent, to path: ItemPath, if condition: WriteCondition, mode: UInt32?
    ) throws(CoordinationError) -> StagedOutcome {
        let location = try location(path, for: .writing, "write")
        try access.check(condition, at: location, "write")
        try checkStays(location, "write")
        let isNew = transaction.steps.isWithinNew(location)
        let old = isNew ? nil : try standing(location, "write")
        var keepsContent = false
        if let old {
            if !old.isRegularFile { throw Self.wrongType(location, "write", isFolder: old.isFolder) }
            if old.size == content.size {
                keepsContent = try member.isReadable(location, as: content)
            }
            if keepsContent && (mode == nil || mode == old.permissions) {
                transaction.forget(location)
                try access.confirm(location, "write")
                return .unchanged
            }
        }
        if case .staged(_, isFolder: true) = transaction.steps.view(location) {
            throw Self.wrongType(location, "write", isFolder: true)
        }
        try makeMissingFolders(of: location, "write")
        try transaction.write(
            content, to: location, replacing: old, mode: mode,
            as: old == nil ? .created : keepsContent ? .touched : .modified)
        return .staged
    }

    static func wrongType(
        _ location: ItemLocation, _ operation: String, isFolder: Bool
    ) -> CoordinationError {
        CoordinationError(
            .wrongType, item: printable(location.bytes), operation: operation,
            cause: isFolder ? "it is a folder" : "it is not a regular file")
    }

    private static func notAFolder(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .wrongType, item: printable(location.bytes), operation: operation, cause: "it is not a folder")
    }

    func makeMissingFolders(of location: ItemLocation, _ operation: String) throws(CoordinationError) {
        for folder in location.ancestors {
            switch transaction.steps.view(folder) {
            case .staged(_, let isFolder):
                if !isFolder { throw Self.notAFolder(folder, operation) }
                continue
            case .elsewhere: throw Self.isMoved(folder, operation)
            case .untouched:
                if let status = try standing(folder, "make folder") {
                    if !status.isFolder { throw Self.notAFolder(folder, operation) }
                    continue
                }
            case .absent:
                if transaction.steps[folder] == nil { break }
                throw CoordinationError(
                    .notFound, item: printable(location.bytes), operation: operation,
                    cause: "the transaction removed '\(printable(folder.bytes))'",
                    advice: "make it anew in another transaction")
            }
            guard access.covers(folder, for: .writing) else {
                throw CoordinationError(
                    .conflict, item: printable(location.bytes), operation: operation,
                    cause: "its folder '\(printable(folder.bytes))' was removed meanwhile", advice: "try again")
            }
            try transaction.makeFolder(at: folder)
        }
    }

    /// Makes a folder, and those on the way; unchanged where one stands. Errors: `wrongType`, and those of all.
    @discardableResult
    public func makeFolder(_ path: ItemPath) throws(CoordinationError) -> StagedOutcome {
        let location = try location(path, for: .writing, "make folder")
        try checkStays(location, "make folder")
        let view = transaction.steps.view(location)
        let old = view == .untouched ? try standing(location, "make folder") : nil
        if case .staged(_, let isFolder) = view, !isFolder { throw Self.notAFolder(location, "make folder") }
        if let old, !old.isFolder { throw Self.notAFolder(location, "make folder") }
        if old != nil {
            try access.confirm(location, "make folder")
            return .unchanged
        }
        if view == .absent, transaction.steps[location] != nil {
            throw CoordinationError(
                .conflict, item: path.description, operation: "make folder",
                cause: "the transaction removed what stood there", advice: "make it in another transaction")
        }
        if view == .untouched || view == .absent {
            try makeMissingFolders(of: location, "make folder")
            try transaction.makeFolder(at: location)
        }
        return .staged
    }

    /// Removes an item. A folder is to be asked for with `.forDeleting`; one that has something in it goes only with
    /// `recursively`, with everything. A condition as for `write`. Errors: `notFound`, `notEmpty`, and those of all.
    public func remove(
        _ path: ItemPath, recursively: Bool = false, if condition: WriteCondition = .always
    ) throws(CoordinationError) {
        let location = try location(path, for: .writing, "remove")
        if transaction.steps.hasArrival(atOrBelow: location) { throw Self.isMoved(location, "remove") }
        try checkStays(location, "remove")
        let view = transaction.steps.view(location)
        let old = transaction.steps.isWithinNew(location) ? nil : try standing(location, "remove")
        if view == .absent || (view == .untouched && old == nil) {
            throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "remove")
        }
        try access.check(condition, at: location, "remove")
        if old?.isFolder == true && !access.covers(location, for: .structural) {
            throw access.notGranted(
                path, "remove", advice: "ask for the folder with everything in it: .forDeleting")
        }
        if !recursively, try !isEmpty(location, old) {
            throw CoordinationError(Errno.notEmpty, item: path.description, operation: "remove")
        }
        transaction.remove(location, standing: old)
    }

    /// As the transaction sees it.
    private func isEmpty(_ location: ItemLocation, _ old: FileStatus?) throws(CoordinationError) -> Bool {
        if transaction.steps.hasSteps(below: location) { return false }
        if old?.isFolder != true { return true }
        let names = try translating(printable(location.bytes), "remove") { () throws(Errno) in
            try member.openFolder(location).entryNames()
        }
        return names.allSatisfy { name in
            let entry = try? ItemLocation(location.bytes + [UInt8(ascii: "/")] + name)
            return entry.map { transaction.steps.view($0) == .absent } ?? false
        }
    }

    func discard() {
        hasEnded = true
        transaction.discard()
    }

    /// See `StagedTransaction.commit`.
    func commit() throws(CoordinationError) -> StagedTransaction.Outcome {
        hasEnded = true
        access.hasChanged = true
        let outcome = try transaction.commit { access.granted?.handOver() }
        if access.durability == .durable, let position = outcome.position { access.durableThrough = position }
        return outcome
    }
}

extension TransactionAccess {
    /// Decodes an item's JSON. Errors: `invalidContent`, and those of `readBytes`.
    public func read<Value: Decodable>(_ path: ItemPath, as type: Value.Type) throws(CoordinationError) -> Value {
        try ItemCoding.decode(type, readBytes(path), from: path)
    }

    /// Writes a value as JSON. Errors: `invalidContent`, and those of `write(bytes:to:)`.
    @discardableResult
    public func write(
        _ value: some Encodable, to path: ItemPath, if condition: WriteCondition = .always
    ) throws(CoordinationError) -> StagedOutcome {
        try write(bytes: ItemCoding.encode(value, for: path), to: path, if: condition)
    }
}
