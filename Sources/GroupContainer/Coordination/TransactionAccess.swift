import GroupSystemCalls

/// The result of a change within a transaction.
public enum StagedOutcome: Hashable, Sendable {
    /// The change becomes visible, with all others, when the closure returns; the item's generation is the
    /// transaction's.
    case staged
    /// The item has this content already, or had it before the transaction.
    case unchanged
}

/// Access to the items of a transaction, valid during its closure. The closure sees its changes at once; no other
/// process sees them before the closure has returned. Every call blocks while the disk works.
public final class TransactionAccess {
    let access: Access
    let transaction: TransactionChanges
    /// Whether the closure has ended; every later call on a kept object throws.
    private var hasEnded = false

    init(_ access: Access) {
        self.access = access
        transaction = TransactionChanges(
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

    /// Returns the status of the item as it is without the transaction.
    func standing(_ location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try member.status(of: location, for: operation)
    }

    /// Returns an item's content, with the transaction's changes. Errors: `notFound`, `wrongType`, `inputOutput`.
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

    /// Returns an item's content, or nil where there is no item. See `readBytes`.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        try ifPresent { () throws(CoordinationError) in try readBytes(path) }
    }

    /// Replaces an item's content; missing directories are made as part of the transaction. The attributes are those
    /// that `Access.write` sets. A condition refers to the item as it is without the transaction, and is compared in
    /// this call; it holds until the end, because the lock does. Errors: `wrongType`, `noSpace`, `notPermitted`,
    /// `inputOutput`; if the closure catches them, the transaction continues without this change. `conflict`: see
    /// `Access.write`.
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

    /// Makes a directory and its missing parents; unchanged where the directory exists. Errors: `wrongType`, and those
    /// of all calls.
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

    /// Removes an item. A directory must be requested with `.forDeleting`; a directory that is not empty is removed,
    /// with everything in it, only with `recursively`. The condition is compared as for `write`. Errors: `notFound`,
    /// `notEmpty`, and those of all calls.
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

    /// Whether a directory is empty, with the transaction's changes; true for any other item.
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

    /// Commits the transaction and ends the access. See `TransactionChanges.commit`.
    func commit() throws(CoordinationError) -> TransactionChanges.Outcome {
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

/// Copying and moving within a transaction.
extension TransactionAccess {
    /// Copies a file, with the transaction's changes and with its attributes; see `Access.copy`. Missing directories
    /// are made; with `replacing`, a file at the destination is replaced. Errors: `notFound`; `wrongType` for a source
    /// that is not a regular file; `conflict` where something is in the way; `invalidArgument` for a copy onto itself;
    /// and those of `write`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false
    ) throws(CoordinationError) -> StagedOutcome {
        let source = try location(path, for: .reading, "copy")
        let location = try location(destination, for: .writing, "copy")
        if source == location {
            throw CoordinationError(
                .invalidArgument, item: path.description, operation: "copy", cause: "it cannot be copied onto itself")
        }
        try checkStays(location, "copy")
        let original = try original(source, path)
        let status = try translating(path.description, "copy") { () throws(Errno) in
            try original.open(member.directory.root, member.directory.staging, [.placeOnly, .notFollowing]).status()
        }
        if !status.isRegularFile { throw Self.wrongType(source, "copy", isDirectory: status.isDirectory) }

        let old = transaction.steps.isWithinNew(location) ? nil : try standing(location, "copy")
        let view = transaction.steps.view(location)
        if !replacing && view != .absent && !(view == .untouched && old == nil) {
            throw CoordinationError(Errno.exists, item: destination.description, operation: "copy")
        }
        if case .staged(_, isDirectory: true) = view { throw Self.wrongType(location, "copy", isDirectory: true) }
        if let old {
            if !old.isRegularFile { throw Self.wrongType(location, "copy", isDirectory: old.isDirectory) }
            if try isSame(original, status, location, old) {
                transaction.forget(location)
                try access.confirm(location, "copy")
                return .unchanged
            }
        }
        try createMissingDirectories(of: location, "copy")
        try transaction.copy(original, to: location, replacing: old)
        return .staged
    }

    /// Returns where the content is that the transaction sees at a location.
    private func original(_ location: ItemLocation, _ path: ItemPath) throws(CoordinationError) -> FileCopy.Original {
        switch transaction.steps.view(location) {
        case .absent: throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "copy")
        case .staged(let number, _): .staged(transaction.name(number))
        case .untouched: .item(location)
        case .elsewhere(let place): .item(place)
        }
    }

    private func isSame(
        _ original: FileCopy.Original, _ status: FileStatus, _ location: ItemLocation, _ old: FileStatus
    ) throws(CoordinationError) -> Bool {
        if (status.size, status.permissions) != (old.size, old.permissions) { return false }
        return try translating(printable(location.bytes), "copy") { () throws(Errno) in
            try SeparateTable.within(member.directory.root, member.directory.staging) { root, staging throws(Errno) in
                let other = try FileCopy.Original.item(location).open(root, staging)
                return try original.open(root, staging).hasSameContent(as: other)
            }
        }
    }

    /// Moves an item: a directory with everything in it, a symbolic link as such. Missing directories are made; with
    /// `replacing`, a file replaces another file. Both ends must be requested as for `Access.move`, and the condition
    /// is the same.
    ///
    /// After the move, the item can be read at its new place, and something else can be written to the old one. The
    /// moved item cannot be changed or moved again within the same transaction, nor can an item be moved that the
    /// transaction has changed. Errors: `notFound`; `conflict` where something is in the way; `wrongType` where a
    /// directory is in the way, or a directory would replace an item; `invalidArgument` for a move into itself, and for
    /// an item that is changed as well; and those of all calls.
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, if condition: WriteCondition = .always
    ) throws(CoordinationError) {
        try checkIsOpen(path, "move")
        let asked = try path.location(for: "move")
        if transaction.steps.view(asked) == .absent {
            throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "move")
        }
        if !transaction.steps.isUntouched(asked) { throw Self.isChanged(asked, "move") }
        let (origin, status) = try access.entry(path, "move")
        try access.check(condition, at: origin, "move")
        let location = try destination.location(for: "move")
        if location == origin || location.isBelow(origin) {
            throw CoordinationError(
                .invalidArgument, item: path.description, operation: "move", cause: "it cannot be moved into itself")
        }
        if !access.covers(location, for: status.isDirectory ? .structural : .writing) {
            throw access.notGranted(destination, "move", advice: "ask for its destination, too: .forReplacing")
        }
        try member.checkIsOurs(location, "move")
        try checkStays(location, "move")
        if transaction.steps[location] != nil { throw Self.isChanged(location, "move") }
        let old = transaction.steps.isWithinNew(location) ? nil : try standing(location, "move")
        if let old {
            if !replacing { throw CoordinationError(Errno.exists, item: destination.description, operation: "move") }
            if old.isDirectory || status.isDirectory {
                throw Self.wrongType(location, "move", isDirectory: old.isDirectory)
            }
            if (old.inode, old.device) == (status.inode, status.device) {
                // Two hard links of one file: the move removes this name.
                return transaction.remove(origin, standing: status)
            }
        }
        try createMissingDirectories(of: location, "move")
        transaction.move(origin, status, to: location, replacing: old)
    }

    /// Throws if the transaction moved the item, or a directory that contains it: a moved item cannot be changed.
    func checkStays(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if case .elsewhere = transaction.steps.view(location) { throw Self.isMoved(location, operation) }
    }

    static func isMoved(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: printable(location.bytes), operation: operation,
            cause: "the transaction moves it, or something in it", advice: "change it in another transaction")
    }

    private static func isChanged(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: printable(location.bytes), operation: operation,
            cause: "the transaction has changed it, or something in it or around it", advice: "move it in another one")
    }
}
