import GroupLocking
import GroupBytes
import GroupSystemCalls

/// Changes that are collected and made later, together: in a transaction, or in a proposal for somebody else to decide.
/// The closure sees them through their steps.
protocol StagedItems: ItemBackend {
    var access: Access { get }
    var steps: TransactionSteps { get }
    /// What the changes are collected in, as errors name it.
    var noun: String { get }
    /// Returns a reader of the staged file of a step.
    func stagedReader(_ number: Int, label: String) throws(CoordinationError) -> ItemReader
    /// Returns the status of what a step has staged.
    func stagedStatus(_ number: Int, isDirectory: Bool, _ label: String, _ operation: String)
        throws(CoordinationError) -> FileStatus?
    /// Adds the step of a directory that is made because an item in it is.
    func stageDirectory(at location: ItemLocation) throws(CoordinationError)
}

extension StagedItems {
    var container: OpenContainer { access.container }

    /// Returns the status of the item as it is without the changes.
    func diskStatus(_ location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try container.status(of: location, for: operation)
    }

    func reader(of location: ItemLocation) throws(CoordinationError) -> ItemReader {
        let label = printable(location.bytes)
        switch steps.view(location) {
        case .untouched:
            return try ItemReader(of: location.bytes, in: container.directory.root, label: label, by: container)
        case .elsewhere(let origin):
            return try ItemReader(
                of: origin.bytes, in: container.directory.root, label: printable(origin.bytes), by: container)
        case .absent: throw CoordinationError(Errno.noSuchEntry, operation: "read", item: label)
        case .staged(let number, let isDirectory):
            if isDirectory { throw .notAFile(label, "read", isDirectory: true) }
            return try stagedReader(number, label: label)
        }
    }

    func status(of location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        switch steps.view(location) {
        case .untouched: try diskStatus(location, operation)
        case .elsewhere(let origin): try diskStatus(origin, operation)
        case .absent: nil
        case .staged(let number, let isDirectory):
            try stagedStatus(number, isDirectory: isDirectory, printable(location.bytes), operation)
        }
    }

    /// Throws if the item was changed: its generation comes when all changes are made.
    func checkIsRecorded(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if steps.view(location) == .untouched { return }
        throw CoordinationError(
            .invalidArgument, operation: operation, item: printable(location.bytes),
            reason: "the \(noun) has changed the item, which has no generation before the \(noun) has ended",
            remedy: .init(.useAnotherTransaction, "read the generation before the change, or after the \(noun)"))
    }

    func checkCanMove(_ path: ItemPath) throws(CoordinationError) {
        let location = try path.location(for: "move")
        if steps.view(location) == .absent {
            throw CoordinationError(Errno.noSuchEntry, operation: "move", item: path.description)
        }
        if !steps.isUntouched(location) { throw isChanged(location, "move") }
    }

    /// Throws if the item was moved, or a directory that contains it: a moved item cannot be changed.
    func checkStays(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if case .elsewhere = steps.view(location) { throw isMoved(location, operation) }
    }

    /// Returns the status of the file that a new one replaces; nil where there is none. Throws if the path is not one
    /// for a file.
    func replacedFile(at location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try checkStays(location, operation)
        let old = steps.isWithinNew(location) ? nil : try diskStatus(location, operation)
        if let old, !old.isRegularFile {
            throw .notAFile(printable(location.bytes), operation, isDirectory: old.isDirectory)
        }
        if case .staged(_, isDirectory: true) = steps.view(location) {
            throw .notAFile(printable(location.bytes), operation, isDirectory: true)
        }
        return old
    }

    /// The form of `replacedFile` for a copy, which may not replace any unless `replacing`.
    func replacedFile(
        at destination: (path: ItemPath, location: ItemLocation), replacing: Bool
    ) throws(CoordinationError) -> FileStatus? {
        try checkStays(destination.location, "copy")
        if !replacing, try status(of: destination.location, "copy") != nil {
            throw CoordinationError(Errno.exists, operation: "copy", item: destination.path.description)
        }
        return try replacedFile(at: destination.location, "copy")
    }

    /// Returns the location of an item that is to be removed, and its status without the changes.
    func removable(
        _ path: ItemPath, if condition: WriteCondition
    ) throws(CoordinationError) -> (ItemLocation, FileStatus?) {
        let location = try access.location(path, for: .exclusive, "remove")
        if steps.hasArrival(atOrBelow: location) { throw isMoved(location, "remove") }
        try checkStays(location, "remove")
        let view = steps.view(location)
        let old = steps.isWithinNew(location) ? nil : try diskStatus(location, "remove")
        if view == .absent || (view == .untouched && old == nil) {
            throw CoordinationError(Errno.noSuchEntry, operation: "remove", item: path.description)
        }
        try access.check(condition, at: location, "remove")
        if old?.isDirectory == true && !access.covers(location, for: .tree) {
            throw access.notGranted(
                path, "remove", remedy: .init(.nameInRequest, "name the directory with its contents: `.forDeleting`"))
        }
        if old?.isDirectory == true { try container.checkHasNoMount(location, "remove") }
        return (location, old)
    }

    /// Returns the status of the file that a moved one replaces; nil where there is none.
    func replacedByMove(
        of status: FileStatus, to location: ItemLocation, replacing: Bool
    ) throws(CoordinationError) -> FileStatus? {
        try checkStays(location, "move")
        if steps[location] != nil { throw isChanged(location, "move") }
        guard let old = steps.isWithinNew(location) ? nil : try diskStatus(location, "move") else { return nil }
        if !replacing { throw CoordinationError(Errno.exists, operation: "move", item: printable(location.bytes)) }
        if old.isDirectory || status.isDirectory {
            throw .notAFile(printable(location.bytes), "move", isDirectory: old.isDirectory)
        }
        return old
    }

    /// Throws where a directory is to be made in place of an item that was removed.
    func checkWasNotRemoved(_ location: ItemLocation) throws(CoordinationError) {
        if steps.view(location) != .absent || steps[location] == nil { return }
        throw CoordinationError(
            .conflict, operation: "create directory", item: printable(location.bytes),
            reason: "the \(noun) removed the item that was there",
            remedy: .init(.useAnotherTransaction, "create the directory in another \(noun)"))
    }

    func createMissingDirectories(of location: ItemLocation, _ operation: String) throws(CoordinationError) {
        for directory in location.ancestors {
            switch steps.view(directory) {
            case .staged(_, let isDirectory):
                if !isDirectory { throw .notADirectory(printable(directory.bytes), operation) }
                continue
            case .elsewhere: throw isMoved(directory, operation)
            case .untouched:
                if let status = try diskStatus(directory, "create directory") {
                    if !status.isDirectory { throw .notADirectory(printable(directory.bytes), operation) }
                    continue
                }
            case .absent:
                if steps[directory] == nil { break }
                throw CoordinationError(
                    .notFound, operation: operation, item: printable(location.bytes),
                    reason: "the \(noun) removed the directory '\(printable(directory.bytes))'",
                    remedy: .init(.useAnotherTransaction, "create the directory again in another \(noun)"))
            }
            try stageDirectory(at: directory)
        }
    }

    private func isMoved(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: operation, item: printable(location.bytes),
            reason: "the \(noun) moves the item, or something in it",
            remedy: .init(.useAnotherTransaction, "change it in another \(noun)"))
    }

    private func isChanged(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: operation, item: printable(location.bytes),
            reason: "the \(noun) has changed the item, or something in it or around it",
            remedy: .init(.useAnotherTransaction, "move it in another \(noun)"))
    }
}

/// Changes in a transaction: each is staged, and made with all others when the transaction is committed.
struct TransactionAccess: StagedItems {
    let access: Access
    let transaction: TransactionChanges
    var steps: TransactionSteps { _read { yield transaction.steps } }
    var noun: String { "transaction" }

    init(_ access: Access) {
        self.access = access
        transaction = TransactionChanges(
            by: access.container, purpose: access.purpose, access.durability, preconditions: access.preconditions)
    }

    func stagedReader(_ number: Int, label: String) throws(CoordinationError) -> ItemReader {
        try ItemReader(of: transaction.name(number), in: container.directory.staging, label: label, by: container)
    }

    func stagedStatus(
        _ number: Int, isDirectory: Bool, _ label: String, _ operation: String
    ) throws(CoordinationError) -> FileStatus? {
        try translating(operation, item: label) { () throws(Errno) in
            try container.directory.staging.statusIfPresent(of: transaction.name(number))
        }
    }

    func stageDirectory(at location: ItemLocation) throws(CoordinationError) {
        if let lock = try access.lock(missing: location, "create directory") { access.keep(lock) }
        // Another request may have made it before the lock was granted.
        if try diskStatus(location, "create directory") != nil { return }
        try transaction.createDirectory(at: location)
    }

    func write(
        _ content: NewContent, to location: ItemLocation, mode: UInt32?
    ) throws(CoordinationError) -> WriteResult {
        let old = try replacedFile(at: location, "write")
        var keepsContent = false
        if let old {
            if old.size == content.size {
                keepsContent = try container.isReadable(location, as: content)
            }
            if keepsContent && (mode == nil || mode == old.permissions) {
                transaction.forget(location)
                try access.confirm(location, "write")
                return .unchanged
            }
        }
        try createMissingDirectories(of: location, "write")
        try transaction.write(
            content, to: location, replacing: old, mode: mode,
            as: old == nil ? .created : keepsContent ? .touched : .modified)
        return .staged
    }

    func createDirectory(at location: ItemLocation) throws(CoordinationError) -> WriteResult {
        try checkStays(location, "create directory")
        let view = steps.view(location)
        let old = view == .untouched ? try diskStatus(location, "create directory") : nil
        if case .staged(_, let isDirectory) = view, !isDirectory {
            throw .notADirectory(printable(location.bytes), "create directory")
        }
        if let old, !old.isDirectory { throw .notADirectory(printable(location.bytes), "create directory") }
        if old != nil {
            try access.confirm(location, "create directory")
            return .unchanged
        }
        try checkWasNotRemoved(location)
        if view == .untouched || view == .absent {
            try createMissingDirectories(of: location, "create directory")
            try transaction.createDirectory(at: location)
        }
        return .staged
    }

    func remove(
        _ path: ItemPath, recursively: Bool, if condition: WriteCondition
    ) throws(CoordinationError) -> WriteResult {
        let (location, old) = try removable(path, if: condition)
        if !recursively, try !isEmpty(location, old) {
            throw CoordinationError(Errno.notEmpty, operation: "remove", item: path.description)
        }
        transaction.remove(location, present: old)
        return .staged
    }

    /// Whether a directory is empty, with the transaction's changes; true for any other item.
    private func isEmpty(_ location: ItemLocation, _ old: FileStatus?) throws(CoordinationError) -> Bool {
        if steps.hasSteps(below: location) { return false }
        if old?.isDirectory != true { return true }
        let names = try translating("remove", item: printable(location.bytes)) { () throws(Errno) in
            try container.openDirectory(location).entryNames()
        }
        return names.allSatisfy { name in
            let entry = try? ItemLocation(location.bytes + [UInt8(ascii: "/")] + name)
            return entry.map { steps.view($0) == .absent } ?? false
        }
    }

    func setMode(_ mode: UInt32, at location: ItemLocation) throws(CoordinationError) -> WriteResult {
        throw CoordinationError(
            .invalidArgument, operation: "set the mode of", item: printable(location.bytes),
            reason: "a transaction sets a mode only together with the content",
            remedy: .init(.useAccess, "write the item with this mode"))
    }

    func copy(
        _ source: (path: ItemPath, location: ItemLocation), to destination: (path: ItemPath, location: ItemLocation),
        recursively: Bool, replacing: Bool
    ) throws(CoordinationError) -> WriteResult {
        let location = destination.location
        if source.location == location {
            throw CoordinationError(
                .invalidArgument, operation: "copy", item: source.path.description,
                reason: "the item cannot be copied onto itself")
        }
        let original = try original(source.location, source.path)
        let status = try translating("copy", item: source.path.description) { () throws(Errno) in
            try original.open(container.directory.root, container.directory.staging, [.pathOnly, .notFollowing])
                .status()
        }
        if !status.isRegularFile { throw .notAFile(source.path.description, "copy", isDirectory: status.isDirectory) }

        let old = try replacedFile(at: destination, replacing: replacing)
        if let old, try isSame(original, status, location, old) {
            transaction.forget(location)
            try access.confirm(location, "copy")
            return .unchanged
        }
        try createMissingDirectories(of: location, "copy")
        try transaction.copy(original, to: location, replacing: old)
        return .staged
    }

    /// Returns where the content is that the transaction sees at a location.
    private func original(_ location: ItemLocation, _ path: ItemPath) throws(CoordinationError) -> FileCopy.Original {
        switch steps.view(location) {
        case .absent: throw CoordinationError(Errno.noSuchEntry, operation: "copy", item: path.description)
        case .staged(let number, _): .staged(transaction.name(number))
        case .untouched: .item(location)
        case .elsewhere(let origin): .item(origin)
        }
    }

    private func isSame(
        _ original: FileCopy.Original, _ status: FileStatus, _ location: ItemLocation, _ old: FileStatus
    ) throws(CoordinationError) -> Bool {
        if (status.size, status.permissions) != (old.size, old.permissions) { return false }
        return try translating("copy", item: printable(location.bytes)) { () throws(Errno) in
            try SeparateTable.within(container.directory.root, container.directory.staging) {
                root, staging throws(Errno) in
                let other = try FileCopy.Original.item(location).open(root, staging)
                return try original.open(root, staging).hasSameContent(as: other)
            }
        }
    }

    func move(
        _ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing: Bool
    ) throws(CoordinationError) -> WriteResult {
        let old = try replacedByMove(of: status, to: location, replacing: replacing)
        if let old, (old.inode, old.device) == (status.inode, status.device) {
            // Two hard links of one file: the move removes this name.
            transaction.remove(origin, present: status)
            return .staged
        }
        try createMissingDirectories(of: location, "move")
        transaction.move(origin, status, to: location, replacing: old)
        return .staged
    }
}
