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

    func location(_ path: ItemPath, for mode: LockMode, _ operation: String) throws(CoordinationError)
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
        case .untouched: return try ItemReader(of: location.bytes, in: member.directory.root, label: label)
        case .elsewhere(let place):
            return try ItemReader(of: place.bytes, in: member.directory.root, label: printable(place.bytes))
        case .absent: throw CoordinationError(Errno.noSuchEntry, item: label, operation: "read")
        case .staged(let number, let isDirectory):
            if isDirectory { throw Self.wrongType(location, "read", isDirectory: true) }
            return try ItemReader(of: transaction.name(number), in: member.directory.staging, label: label)
        }
    }

    /// The same, or nil where nothing stands.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        try ifPresent { () throws(CoordinationError) in try readBytes(path) }
    }

    /// Replaces an item's content; directories on the way are made, as part of the transaction. Attributes are those
    /// that `Access.write` gives. Errors: `wrongType`, `noSpace`, `notPermitted`, `inputOutput`; where the closure does
    /// not throw them on, the transaction goes on without this change. A condition is about what stands there without
    /// the transaction, and is compared now: the lock is kept until the end. `conflict`: see `Access.write`.
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
            if !old.isRegularFile { throw Self.wrongType(location, "write", isDirectory: old.isDirectory) }
            if old.size == content.size {
                keepsContent = try member.isReadable(location, as: content)
            }
            if keepsContent && (mode == nil || mode == old.permissions) {
                transaction.forget(location)
                try access.confirm(location, "write")
                return .unchanged
            }
        }
        if case .staged(_, isDirectory: true) = transaction.steps.view(location) {
            throw Self.wrongType(location, "write", isDirectory: true)
        }
        try createMissingDirectories(of: location, "write")
        try transaction.write(
            content, to: location, replacing: old, mode: mode,
            as: old == nil ? .created : keepsContent ? .touched : .modified)
        return .staged
    }

    static func wrongType(
        _ location: ItemLocation, _ operation: String, isDirectory: Bool
    ) -> CoordinationError {
        CoordinationError(
            .wrongType, item: printable(location.bytes), operation: operation,
            cause: isDirectory ? "it is a directory" : "it is not a regular file")
    }

    private static func notADirectory(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .wrongType, item: printable(location.bytes), operation: operation, cause: "it is not a directory")
    }

    func createMissingDirectories(of location: ItemLocation, _ operation: String) throws(CoordinationError) {
        for directory in location.ancestors {
            switch transaction.steps.view(directory) {
            case .staged(_, let isDirectory):
                if !isDirectory { throw Self.notADirectory(directory, operation) }
                continue
            case .elsewhere: throw Self.isMoved(directory, operation)
            case .untouched:
                if let status = try standing(directory, "create directory") {
                    if !status.isDirectory { throw Self.notADirectory(directory, operation) }
                    continue
                }
            case .absent:
                if transaction.steps[directory] == nil { break }
                throw CoordinationError(
                    .notFound, item: printable(location.bytes), operation: operation,
                    cause: "the transaction removed '\(printable(directory.bytes))'",
                    advice: "make it anew in another transaction")
            }
            guard access.covers(directory, for: .writing) else {
                throw CoordinationError(
                    .conflict, item: printable(location.bytes), operation: operation,
                    cause: "its directory '\(printable(directory.bytes))' was removed meanwhile", advice: "try again")
            }
            try transaction.createDirectory(at: directory)
        }
    }

    /// Makes a directory, and those on the way; unchanged where one stands. Errors: `wrongType`, and those of all.
    @discardableResult
    public func createDirectory(_ path: ItemPath) throws(CoordinationError) -> StagedOutcome {
        let location = try location(path, for: .writing, "create directory")
        try checkStays(location, "create directory")
        let view = transaction.steps.view(location)
        let old = view == .untouched ? try standing(location, "create directory") : nil
        if case .staged(_, let isDirectory) = view, !isDirectory {
            throw Self.notADirectory(location, "create directory")
        }
        if let old, !old.isDirectory { throw Self.notADirectory(location, "create directory") }
        if old != nil {
            try access.confirm(location, "create directory")
            return .unchanged
        }
        if view == .absent, transaction.steps[location] != nil {
            throw CoordinationError(
                .conflict, item: path.description, operation: "create directory",
                cause: "the transaction removed what stood there", advice: "make it in another transaction")
        }
        if view == .untouched || view == .absent {
            try createMissingDirectories(of: location, "create directory")
            try transaction.createDirectory(at: location)
        }
        return .staged
    }

    /// Removes an item. A directory is to be asked for with `.forDeleting`; one that has something in it goes only with
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
        if old?.isDirectory == true && !access.covers(location, for: .structural) {
            throw access.notGranted(
                path, "remove", advice: "ask for the directory with everything in it: .forDeleting")
        }
        if !recursively, try !isEmpty(location, old) {
            throw CoordinationError(Errno.notEmpty, item: path.description, operation: "remove")
        }
        transaction.remove(location, standing: old)
    }

    /// As the transaction sees it.
    private func isEmpty(_ location: ItemLocation, _ old: FileStatus?) throws(CoordinationError) -> Bool {
        if transaction.steps.hasSteps(below: location) { return false }
        if old?.isDirectory != true { return true }
        let names = try translating(printable(location.bytes), "remove") { () throws(Errno) in
            try member.openDirectory(location).entryNames()
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
