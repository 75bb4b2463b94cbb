import GroupLocking
import GroupBytes
import GroupSystemCalls

/// Collects the changes of a call for a proposal: none is made here. Contents are staged below `.group`, and the
/// generation of each item is noted under the lock when the closure first reads or changes it. The closure sees its
/// changes, as in a transaction.
///
/// Nothing is left out because an item has the requested content already: the decider may know better.
final class ProposedChanges: StagedItems {
    let access: Access
    let noun = "request"
    /// Whether the changes fit only the items as they are now.
    private let isConditional: Bool
    private let terms: Proposal.Terms
    private let operation = Proposal.newName()
    private(set) var steps = TransactionSteps()
    /// The generations of the items that the closure has looked at, before it changed them; nil where there is no item.
    private var generations: [ItemLocation: UInt64?] = [:]
    /// The items that were read, in the order of the first read.
    private var reads: [ItemLocation] = []
    /// The generations of the items that move, by where they arrive.
    private var movedGenerations: [ItemLocation: UInt64?] = [:]
    private var modes: [ItemLocation: UInt32] = [:]
    /// The directories that were asked for and are here, perhaps not yet known to the decider.
    private var presentDirectories: [ItemLocation] = []
    /// The directories that are made only because they are around an item.
    private var impliedDirectories: Set<ItemLocation> = []
    private var files: ProposalFiles?

    init(_ access: Access, isConditional: Bool, _ terms: Proposal.Terms) {
        self.access = access
        self.isConditional = isConditional
        self.terms = terms
    }

    // MARK: What the closure sees

    var contentLimit: ContentLimit? { terms.contentLimit }

    /// Notes the generation of an item before it is read, so that a change after that is found. What the call has
    /// changed itself needs no note.
    func noteRead(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if steps.view(location) != .untouched || generations[location] != nil { return }
        guard String(validating: location.bytes, as: UTF8.self) != nil else { return }
        try note(location, operation)
        reads.append(location)
    }

    func stagedReader(_ number: Int, label: String) throws(CoordinationError) -> ItemReader {
        let files = try open()
        return try ItemReader(of: files.name(number), in: files.directory, label: label, by: container)
    }

    func stagedStatus(
        _ number: Int, isDirectory: Bool, _ label: String, _ operation: String
    ) throws(CoordinationError) -> FileStatus? {
        let files = try open()
        return try translating(operation, item: label) { () throws(Errno) in
            // No directory is made: any other looks like it.
            isDirectory ? try files.directory.status() : try files.directory.status(of: files.name(number))
        }
    }

    // MARK: Changes

    func write(
        _ content: NewContent, to location: ItemLocation, mode: UInt32?
    ) throws(CoordinationError) -> WriteResult {
        let label = printable(location.bytes)
        if let mode, mode > 0o777 {
            throw CoordinationError(
                .invalidArgument, operation: "write", item: label,
                reason: "\(terms.decider) takes modes of at most 0777, octal")
        }
        try terms.checkSize(content.size, label, "write")
        let old = try replacedFile(at: location, "write")
        try note(location, "write")
        try createMissingDirectories(of: location, "write")
        try stage(at: location, replacing: old, "write") { (files, name) throws(Errno) in
            try files.stage(content, as: name, from: container.directory.staging)
        }
        modes[location] = mode
        return .staged
    }

    func createDirectory(at location: ItemLocation) throws(CoordinationError) -> WriteResult {
        try checkStays(location, "create directory")
        let view = steps.view(location)
        if case .staged(_, let isDirectory) = view {
            if !isDirectory { throw .notADirectory(printable(location.bytes), "create directory") }
            impliedDirectories.remove(location)
            return .staged
        }
        try checkWasNotRemoved(location)
        try note(location, "create directory")
        if view == .untouched, let old = try diskStatus(location, "create directory") {
            if !old.isDirectory { throw .notADirectory(printable(location.bytes), "create directory") }
            if !presentDirectories.contains(location) { presentDirectories.append(location) }
            return .staged
        }
        try createMissingDirectories(of: location, "create directory")
        _ = steps.put(at: location, .created, isDirectory: true, replacing: nil, contentHash: nil)
        return .staged
    }

    func remove(
        _ path: ItemPath, recursively: Bool, if condition: WriteCondition
    ) throws(CoordinationError) -> WriteResult {
        let (location, old) = try removable(path, if: condition)
        if let old { try checkType(old, location, "remove") }
        var below: [(ItemLocation, FileStatus)] = []
        if old?.isDirectory == true {
            let inside = try ContainersInside(location, of: container, "remove")
            defer { extendLifetime(inside) }
            below = try itemsBelow(location)
        }
        if !recursively && (steps.hasSteps(below: location) || below.contains { steps.view($0.0) != .absent }) {
            throw CoordinationError(Errno.notEmpty, operation: "remove", item: path.description)
        }
        for (item, status) in below {
            try checkType(status, item, "remove")
            try note(item, "remove")
        }
        try note(location, "remove")
        for (item, status) in below + (old.map { [(location, $0)] } ?? []) { remove(item, status) }
        if old == nil { remove(location, nil) }
        return .staged
    }

    private func remove(_ location: ItemLocation, _ old: FileStatus?) {
        for number in steps.remove(location, present: old.map(TransactionSteps.PresentItem.init)) {
            files?.remove(number)
        }
    }

    /// Returns all items below a directory, each before the directory that contains it.
    private func itemsBelow(_ directory: ItemLocation) throws(CoordinationError) -> [(ItemLocation, FileStatus)] {
        var (items, next): ([(ItemLocation, FileStatus)], Int) = ([], 0)
        var below: ItemLocation? = directory
        while let present = below {
            for name in try names(in: present) {
                guard let item = ItemLocation.entry(name, of: present) else {
                    throw CoordinationError(
                        .outsideContainer, operation: "remove", item: printable(present.bytes),
                        reason: "the directory is another container, or has an item in it that cannot be named")
                }
                guard let status = try diskStatus(item, "remove") else { continue }
                items.append((item, status))
            }
            try checkCount(items.count)
            while next < items.count, !items[next].1.isDirectory { next += 1 }
            below = next < items.count ? items[next].0 : nil
            next += 1
        }
        return items.reversed()
    }

    private func names(in directory: ItemLocation) throws(CoordinationError) -> [[UInt8]] {
        try translating("remove", item: printable(directory.bytes)) { () throws(Errno) in
            try container.openDirectory(directory).entryNames()
        }
    }

    func move(
        _ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing: Bool
    ) throws(CoordinationError) -> WriteResult {
        try checkType(status, origin, "move")
        let old = try replacedByMove(of: status, to: location, replacing: replacing)
        if let old, (old.inode, old.device) == (status.inode, status.device) {
            // Two hard links of one file: the move removes this name.
            try note(origin, "move")
            remove(origin, status)
            return .staged
        }
        if status.isDirectory { extendLifetime(try ContainersInside(origin, of: container, "move")) }
        _ = try text(origin, "move")
        let generation = try access.presentGeneration(at: origin, "move")
        try note(location, "move")
        try createMissingDirectories(of: location, "move")
        movedGenerations[location] = .some(generation?.rawValue)
        steps.move(
            origin, .init(status), to: location, replacing: old.map(TransactionSteps.PresentItem.init))
        return .staged
    }

    func setMode(_ mode: UInt32, at location: ItemLocation) throws(CoordinationError) -> WriteResult {
        throw CoordinationError(
            .invalidArgument, operation: "set the mode of", item: printable(location.bytes),
            reason: "\(terms.decider) takes a mode only together with the content",
            remedy: .init(.useAccess, "write the item with this mode"))
    }

    /// Copies a file's content and permissions: the copy is a write.
    func copy(
        _ source: (path: ItemPath, location: ItemLocation), to destination: (path: ItemPath, location: ItemLocation),
        recursively: Bool, replacing: Bool
    ) throws(CoordinationError) -> WriteResult {
        let (location, label) = (destination.location, source.path.description)
        if source.location == location {
            throw CoordinationError(
                .invalidArgument, operation: "copy", item: label, reason: "the item cannot be copied onto itself")
        }
        guard let status = try status(of: source.location, "copy") else {
            throw CoordinationError(Errno.noSuchEntry, operation: "copy", item: label)
        }
        if !status.isRegularFile { throw .notAFile(label, "copy", isDirectory: status.isDirectory) }
        try terms.checkSize(status.size, label, "copy")
        let old = try replacedFile(at: destination, replacing: replacing)
        let (root, staged): (ItemLocation?, Int?) =
            switch steps.view(source.location) {
            case .untouched: (source.location, nil)
            case .elsewhere(let origin): (origin, nil)
            case .staged(let number, _): (nil, number)
            case .absent: (nil, nil)
            }
        let mode = staged == nil ? status.permissions & 0o777 : modes[source.location]
        try note(location, "copy")
        try createMissingDirectories(of: location, "copy")
        try stage(at: location, replacing: old, "copy") { (files, name) throws(Errno) in
            if let root {
                try files.copy(root.bytes, in: container.directory.root, as: name, atMost: terms.largestContent)
            } else if let staged {
                let staged = files.name(staged)
                try files.copy(staged, in: files.directory, as: name, atMost: terms.largestContent)
            }
        }
        modes[location] = mode
        return .staged
    }

    // MARK: Staging

    private func open() throws(CoordinationError) -> ProposalFiles {
        if let files { return files }
        let new = try ProposalFiles(of: operation, terms, in: container)
        files = new
        return new
    }

    /// Adds the step of a write, whose content `make` stages. If that fails, the request goes on without the item.
    private func stage(
        at location: ItemLocation, replacing old: FileStatus?, _ operation: String,
        _ make: (ProposalFiles, [UInt8]) throws(Errno) -> Void
    ) throws(CoordinationError) {
        let files = try open()
        let number = steps.put(
            at: location, old == nil ? .created : .modified, isDirectory: false,
            replacing: old.map(TransactionSteps.PresentItem.init), contentHash: nil)
        do throws(Errno) {
            files.remove(number)
            try make(files, files.name(number))
        } catch {
            files.remove(number)
            steps.forget(location)
            throw CoordinationError(error, operation: operation, item: printable(location.bytes))
        }
    }

    /// Notes the generation of an item before its first change in the request. An external change is recorded before.
    private func note(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        _ = try text(location, operation)
        if generations[location] != nil { return }
        let isThere = !steps.isWithinNew(location)
        generations[location] = .some(
            isThere ? try access.presentGeneration(at: location, operation)?.rawValue : nil)
        try checkCount(generations.count)
    }

    func stageDirectory(at directory: ItemLocation) throws(CoordinationError) {
        try note(directory, "create directory")
        impliedDirectories.insert(directory)
        _ = steps.put(at: directory, .created, isDirectory: true, replacing: nil, contentHash: nil)
    }

    // MARK: The proposal

    /// Returns the proposal of all changes, whose files are the caller's from then on; nil where there is none. What
    /// was only read is a condition of a proposal whose changes are conditional.
    func take() throws(CoordinationError) -> Proposal? {
        var proposal = Proposal(operation: operation, files: files)
        for directory in presentDirectories { proposal.add(try part(.createDirectory, directory)) }
        for step in steps.inOrder {
            let location = step.location
            switch step.effect {
            case .placement(_, isDirectory: true, _):
                var made = try part(.createDirectory, location)
                if impliedDirectories.contains(location) { made.isConditional = false }
                proposal.add(made)
            case .placement:
                var made = try part(.write, location)
                made.content = String(decoding: ProposalFiles.name(operation, step.number), as: UTF8.self)
                made.mode = modes[location].map { UInt16(truncatingIfNeeded: $0) }
                proposal.add(made)
            case .removal: proposal.add(try part(.remove, location))
            case .arrival(let origin, _):
                // The path is made free by a part of its own, in the same request.
                if step.before != nil { proposal.add(try part(.remove, location)) }
                var made = try part(.move, origin)
                made.destination = try text(location, "move")
                made.before = movedGenerations[location] ?? nil
                made.isConditional = true
                proposal.add(made)
            }
        }
        if proposal.parts.isEmpty { return nil }
        var checked = proposal
        if isConditional {
            checked = Proposal(operation: operation, files: files)
            let changed = Set(proposal.parts.map(\.path))
            for location in reads where !changed.contains(try text(location, "read")) {
                checked.add(try part(.check, location))
            }
            for part in proposal.parts { checked.add(part) }
        }
        try checkCount(checked.parts.count)
        files = nil
        return checked
    }

    /// Removes the files of a request that was not taken.
    func discard() {
        files?.discard(steps.inOrder.map(\.number))
        files = nil
    }

    private func part(
        _ action: Proposal.Part.Action, _ location: ItemLocation
    ) throws(CoordinationError) -> Proposal.Part {
        Proposal.Part(
            action, path: try text(location, "write"), before: generations[location] ?? nil,
            isConditional: isConditional)
    }

    // MARK: Checks

    private func text(_ location: ItemLocation, _ operation: String) throws(CoordinationError) -> String {
        try ItemPath(bytes: location.bytes).checkedText(for: operation)
    }

    private func checkCount(_ count: Int) throws(CoordinationError) {
        if count <= terms.largestCount { return }
        throw CoordinationError(
            .limitReached, operation: "write",
            reason:
                "\(terms.decider) takes at most \(terms.largestCount) changes in one request; nothing was changed",
            remedy: .init(.reduceSize, "make several requests"))
    }

    private func checkType(
        _ status: FileStatus, _ location: ItemLocation, _ operation: String
    ) throws(CoordinationError) {
        if status.isRegularFile || status.isDirectory || status.isLink { return }
        throw CoordinationError(
            .wrongType, operation: operation, item: printable(location.bytes),
            reason: "\(terms.decider) takes only files, directories and symbolic links",
            remedy: .init(.handleSeparately, "change the item on this machine alone"))
    }
}
