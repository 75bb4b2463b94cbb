import GroupLocking
import GroupBytes
import GroupSystemCalls

/// Changes in a transaction: each is staged, and made with all others when the transaction is committed. What the
/// transaction has changed is seen through its steps.
struct TransactionAccess: ItemBackend {
    let access: Access
    let transaction: TransactionChanges

    init(_ access: Access) {
        self.access = access
        transaction = TransactionChanges(
            by: access.container, purpose: access.purpose, access.durability, preconditions: access.preconditions)
    }

    private var container: OpenContainer { access.container }

    /// Returns the status of the item as it is without the transaction.
    private func standing(_ location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try container.status(of: location, for: operation)
    }

    func reader(of location: ItemLocation) throws(CoordinationError) -> ItemReader {
        let label = printable(location.bytes)
        switch transaction.steps.view(location) {
        case .untouched:
            return try ItemReader(of: location.bytes, in: container.directory.root, label: label, by: container)
        case .elsewhere(let place):
            return try ItemReader(
                of: place.bytes, in: container.directory.root, label: printable(place.bytes), by: container)
        case .absent: throw CoordinationError(Errno.noSuchEntry, operation: "read", item: label)
        case .staged(let number, let isDirectory):
            if isDirectory { throw .notAFile(label, "read", isDirectory: true) }
            return try ItemReader(
                of: transaction.name(number), in: container.directory.staging, label: label, by: container)
        }
    }

    func status(of location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        switch transaction.steps.view(location) {
        case .untouched: return try standing(location, operation)
        case .elsewhere(let place): return try standing(place, operation)
        case .absent: return nil
        case .staged(let number, _):
            return try translating(operation, item: printable(location.bytes)) { () throws(Errno) in
                try container.directory.staging.statusIfPresent(of: transaction.name(number))
            }
        }
    }

    /// Throws if the transaction has changed the item: its generation comes with the commit.
    func checkIsRecorded(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if transaction.steps.view(location) == .untouched { return }
        throw CoordinationError(
            .invalidArgument, operation: operation, item: printable(location.bytes),
            reason: "the transaction has changed the item, which has no generation before the commit",
            remedy: .init(.useAnotherTransaction, "read the generation before the change, or after the transaction"))
    }

    func write(
        _ content: NewContent, to location: ItemLocation, mode: UInt32?
    ) throws(CoordinationError) -> WriteResult {
        try checkStays(location, "write")
        let isNew = transaction.steps.isWithinNew(location)
        let old = isNew ? nil : try standing(location, "write")
        var keepsContent = false
        if let old {
            if !old.isRegularFile { throw .notAFile(printable(location.bytes), "write", isDirectory: old.isDirectory) }
            if old.size == content.size {
                keepsContent = try container.isReadable(location, as: content)
            }
            if keepsContent && (mode == nil || mode == old.permissions) {
                transaction.forget(location)
                try access.confirm(location, "write")
                return .unchanged
            }
        }
        if case .staged(_, isDirectory: true) = transaction.steps.view(location) {
            throw .notAFile(printable(location.bytes), "write", isDirectory: true)
        }
        try createMissingDirectories(of: location, "write")
        try transaction.write(
            content, to: location, replacing: old, mode: mode,
            as: old == nil ? .created : keepsContent ? .touched : .modified)
        return .staged
    }

    private func createMissingDirectories(of location: ItemLocation, _ operation: String) throws(CoordinationError) {
        for directory in location.ancestors {
            switch transaction.steps.view(directory) {
            case .staged(_, let isDirectory):
                if !isDirectory { throw .notADirectory(printable(directory.bytes), operation) }
                continue
            case .elsewhere: throw Self.isMoved(directory, operation)
            case .untouched:
                if let status = try standing(directory, "create directory") {
                    if !status.isDirectory { throw .notADirectory(printable(directory.bytes), operation) }
                    continue
                }
            case .absent:
                if transaction.steps[directory] == nil { break }
                throw CoordinationError(
                    .notFound, operation: operation, item: printable(location.bytes),
                    reason: "the transaction removed the directory '\(printable(directory.bytes))'",
                    remedy: .init(.useAnotherTransaction, "create the directory again in another transaction"))
            }
            guard access.covers(directory, for: .exclusive) else {
                throw .directoryRemoved(directory, above: location, operation)
            }
            try transaction.createDirectory(at: directory)
        }
    }

    func createDirectory(at location: ItemLocation) throws(CoordinationError) -> WriteResult {
        try checkStays(location, "create directory")
        let view = transaction.steps.view(location)
        let old = view == .untouched ? try standing(location, "create directory") : nil
        if case .staged(_, let isDirectory) = view, !isDirectory {
            throw .notADirectory(printable(location.bytes), "create directory")
        }
        if let old, !old.isDirectory { throw .notADirectory(printable(location.bytes), "create directory") }
        if old != nil {
            try access.confirm(location, "create directory")
            return .unchanged
        }
        if view == .absent, transaction.steps[location] != nil {
            throw CoordinationError(
                .conflict, operation: "create directory", item: printable(location.bytes),
                reason: "the transaction removed the item that was there",
                remedy: .init(.useAnotherTransaction, "create the directory in another transaction"))
        }
        if view == .untouched || view == .absent {
            try createMissingDirectories(of: location, "create directory")
            try transaction.createDirectory(at: location)
        }
        return .staged
    }

    func remove(
        _ path: ItemPath, recursively: Bool, if condition: WriteCondition
    ) throws(CoordinationError) -> WriteResult {
        let location = try access.location(path, for: .exclusive, "remove")
        if transaction.steps.hasArrival(atOrBelow: location) { throw Self.isMoved(location, "remove") }
        try checkStays(location, "remove")
        let view = transaction.steps.view(location)
        let old = transaction.steps.isWithinNew(location) ? nil : try standing(location, "remove")
        if view == .absent || (view == .untouched && old == nil) {
            throw CoordinationError(Errno.noSuchEntry, operation: "remove", item: path.description)
        }
        try access.check(condition, at: location, "remove")
        if old?.isDirectory == true && !access.covers(location, for: .tree) {
            throw access.notGranted(
                path, "remove", remedy: .init(.nameInRequest, "name the directory with its contents: `.forDeleting`"))
        }
        if !recursively, try !isEmpty(location, old) {
            throw CoordinationError(Errno.notEmpty, operation: "remove", item: path.description)
        }
        transaction.remove(location, standing: old)
        return .staged
    }

    /// Whether a directory is empty, with the transaction's changes; true for any other item.
    private func isEmpty(_ location: ItemLocation, _ old: FileStatus?) throws(CoordinationError) -> Bool {
        if transaction.steps.hasSteps(below: location) { return false }
        if old?.isDirectory != true { return true }
        let names = try translating("remove", item: printable(location.bytes)) { () throws(Errno) in
            try container.openDirectory(location).entryNames()
        }
        return names.allSatisfy { name in
            let entry = try? ItemLocation(location.bytes + [UInt8(ascii: "/")] + name)
            return entry.map { transaction.steps.view($0) == .absent } ?? false
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
        try checkStays(location, "copy")
        let original = try original(source.location, source.path)
        let status = try translating("copy", item: source.path.description) { () throws(Errno) in
            try original.open(container.directory.root, container.directory.staging, [.placeOnly, .notFollowing])
                .status()
        }
        if !status.isRegularFile { throw .notAFile(source.path.description, "copy", isDirectory: status.isDirectory) }

        let old = transaction.steps.isWithinNew(location) ? nil : try standing(location, "copy")
        let view = transaction.steps.view(location)
        if !replacing && view != .absent && !(view == .untouched && old == nil) {
            throw CoordinationError(Errno.exists, operation: "copy", item: destination.path.description)
        }
        if case .staged(_, isDirectory: true) = view {
            throw .notAFile(printable(location.bytes), "copy", isDirectory: true)
        }
        if let old {
            if !old.isRegularFile { throw .notAFile(printable(location.bytes), "copy", isDirectory: old.isDirectory) }
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
        case .absent: throw CoordinationError(Errno.noSuchEntry, operation: "copy", item: path.description)
        case .staged(let number, _): .staged(transaction.name(number))
        case .untouched: .item(location)
        case .elsewhere(let place): .item(place)
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

    func checkCanMove(_ path: ItemPath) throws(CoordinationError) {
        let location = try path.location(for: "move")
        if transaction.steps.view(location) == .absent {
            throw CoordinationError(Errno.noSuchEntry, operation: "move", item: path.description)
        }
        if !transaction.steps.isUntouched(location) { throw Self.isChanged(location, "move") }
    }

    func move(
        _ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing: Bool
    ) throws(CoordinationError) -> WriteResult {
        try checkStays(location, "move")
        if transaction.steps[location] != nil { throw Self.isChanged(location, "move") }
        let old = transaction.steps.isWithinNew(location) ? nil : try standing(location, "move")
        if let old {
            if !replacing { throw CoordinationError(Errno.exists, operation: "move", item: printable(location.bytes)) }
            if old.isDirectory || status.isDirectory {
                throw .notAFile(printable(location.bytes), "move", isDirectory: old.isDirectory)
            }
            if (old.inode, old.device) == (status.inode, status.device) {
                // Two hard links of one file: the move removes this name.
                transaction.remove(origin, standing: status)
                return .staged
            }
        }
        try createMissingDirectories(of: location, "move")
        transaction.move(origin, status, to: location, replacing: old)
        return .staged
    }

    /// Throws if the transaction moved the item, or a directory that contains it: a moved item cannot be changed.
    private func checkStays(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if case .elsewhere = transaction.steps.view(location) { throw Self.isMoved(location, operation) }
    }

    private static func isMoved(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: operation, item: printable(location.bytes),
            reason: "the transaction moves the item, or something in it",
            remedy: .init(.useAnotherTransaction, "change it in another transaction"))
    }

    private static func isChanged(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: operation, item: printable(location.bytes),
            reason: "the transaction has changed the item, or something in it or around it",
            remedy: .init(.useAnotherTransaction, "move it in another transaction"))
    }
}
