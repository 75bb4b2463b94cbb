import GroupSystemCalls

/// What is copied and moved within a transaction.
extension TransactionAccess {
    /// Makes a copy of a file, as the transaction left it, with its attributes; see `Access.copy`. Directories on the
    /// way are made; with `replacing`, a file at the destination is replaced. Errors: `notFound`, `wrongType` for what
    /// is no file; `conflict` where something is in the way; `invalidArgument`: onto itself; and those of `write`.
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

    /// The content that the transaction sees there.
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

    /// Moves an item, a directory with everything in it; of a link, the link. Directories on the way are made; with
    /// `replacing`, a file takes the place of another file. Both ends are to be asked for as for `Access.move`, and the
    /// condition is the same.
    ///
    /// What is moved can be read at its new place, and something else written to the old one. It cannot be changed, nor
    /// moved again, within the same transaction, nor can what the transaction has changed be moved. Errors: `notFound`;
    /// `conflict` where something is in the way; `wrongType` where that is a directory, or a directory would take its
    /// place; `invalidArgument`: into itself, or changed as well; and those of all.
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
                // Two names of one file: the move takes this one away.
                return transaction.remove(origin, standing: status)
            }
        }
        try createMissingDirectories(of: location, "move")
        transaction.move(origin, status, to: location, replacing: old)
    }

    /// What was moved stays as it is.
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
