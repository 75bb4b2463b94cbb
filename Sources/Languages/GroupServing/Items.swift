import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// A change of an item: a request of its own, or one of a transaction's.
enum ItemChange {
    case write(ItemPath, [UInt8], WriteCondition, mode: UInt32?)
    case remove(ItemPath, recursively: Bool, WriteCondition)
    case move(ItemPath, to: ItemPath, replacing: Bool, WriteCondition)
    case copy(ItemPath, to: ItemPath, recursively: Bool, replacing: Bool)
    case createDirectory(ItemPath)
    /// Changes nothing, and fails where its condition does not hold.
    case check(ItemPath, WriteCondition)

    var isCheck: Bool { if case .check = self { true } else { false } }

    /// Reads a request; nil for one that changes no item.
    init?(_ request: Request) throws(CoordinationError) {
        switch request.operation {
        case .write:
            self = .write(
                try request.path(), try request.content(), try request.condition(), mode: try request.mode())
        case .remove:
            self = .remove(
                try request.path(), recursively: try request.flag("recursively"), try request.condition())
        case .move:
            self = .move(
                try request.path(), to: try request.path("to"), replacing: try request.flag("replacing"),
                try request.condition())
        case .copy:
            self = .copy(
                try request.path(), to: try request.path("to"), recursively: try request.flag("recursively"),
                replacing: try request.flag("replacing"))
        case .createDirectory: self = .createDirectory(try request.path())
        case .check: self = .check(try request.path(), try request.condition())
        default: return nil
        }
    }

    /// Makes the change under locks of its own.
    func make(
        by coordinator: BlockingCoordinator, durability: Durability, timeout: Duration?
    ) throws -> WriteResult {
        switch self {
        case .write(let path, let content, let condition, let mode):
            try coordinator.write(
                bytes: content, to: path, durability: durability, if: condition, mode: mode, timeout: timeout)
        case .remove(let path, let recursively, let condition):
            try coordinator.remove(
                path, recursively: recursively, durability: durability, if: condition, timeout: timeout)
        case .move(let path, let destination, let replacing, let condition):
            try coordinator.move(
                path, to: destination, replacing: replacing, durability: durability, if: condition, timeout: timeout)
        case .copy(let path, let destination, let recursively, let replacing):
            try coordinator.copy(
                path, to: destination, recursively: recursively, replacing: replacing, durability: durability,
                timeout: timeout)
        case .createDirectory(let path):
            try coordinator.createDirectory(path, durability: durability, timeout: timeout)
        case .check(let path, _):
            try coordinator.coordinate(.reading(path), timeout: timeout) { try make(under: $0) }
        }
    }

    /// Makes the change under locks that are held.
    func make(under access: Access) throws -> WriteResult {
        switch self {
        case .write(let path, let content, let condition, let mode):
            return try access.write(bytes: content, to: path, if: condition, mode: mode)
        case .remove(let path, let recursively, let condition):
            return try access.remove(path, recursively: recursively, if: condition)
        case .move(let path, let destination, let replacing, let condition):
            return try access.move(path, to: destination, replacing: replacing, if: condition)
        case .copy(let path, let destination, let recursively, let replacing):
            return try access.copy(path, to: destination, recursively: recursively, replacing: replacing)
        case .createDirectory(let path): return try access.createDirectory(path)
        case .check(let path, let condition):
            let present = try access.generation(of: path)
            let holds =
                switch condition {
                case .always: true
                case .absent: present == nil
                case .generation(let wanted): present == wanted
                }
            if holds { return .unchanged }
            throw CoordinationError(
                .conflict, operation: "check", item: path.description,
                reason: present.map { "it is at generation \($0)" } ?? "there is no item",
                generation: present, remedy: .init(.readAgain, "read the items again, and decide again"))
        }
    }

    /// What a transaction locks for the change.
    var intents: [AccessIntent] {
        switch self {
        case .write(let path, _, _, _), .createDirectory(let path): [.writing(path)]
        case .remove(let path, _, _): [.writing(path, .forDeleting)]
        case .move(let path, let destination, _, _): [.writing(path, .forMoving), .writing(destination)]
        case .copy(let path, let destination, let recursively, _):
            [recursively ? .reading(path, .recursively) : .reading(path), .writing(destination)]
        case .check(let path, _): [.reading(path)]
        }
    }
}

/// A content as text, or in base64 where it is not UTF-8.
func contentMember(_ content: [UInt8]) -> (String, JSONValue) {
    content.validText.map { ("text", .string($0)) } ?? ("bytes", .string(Base64.encoded(content)))
}

extension Connection {
    /// The most bytes of an item that is read: half of a line, as base64 takes a third more.
    static let longestContent = longestLine / 2

    func coordinator(_ entry: Entry) -> BlockingCoordinator {
        container.coordinator(purpose: purpose).blocking.ending(with: entry.token)
    }

    /// Runs work under the locks that a request names; nil where it names none.
    private func underLock<Answer>(
        _ request: Request, _ entry: Entry, _ work: (Access) throws -> Answer
    ) throws -> Answer? {
        if entry.holder == nil { return nil }
        let locks = try locks(request, entry)
        return try Caller.during(entry.caller) { try locks.perform(work) }
    }

    /// Returns the locks that a request names.
    private func locks(_ request: Request, _ entry: Entry) throws(CoordinationError) -> HeldLocks {
        guard let locks = entry.holder?.locks else {
            throw request.invalid("there is no lock of this id: it was not granted, or has ended")
        }
        return locks
    }

    func read(_ request: Request, _ entry: Entry) throws -> JSONValue {
        let path = try request.path()
        let timeout = try request.timeout()
        let read = { (access: Access) throws -> (Versioned<[UInt8]>, [CoordinationError.Holder]) in
            if let size = try access.item(path)?.size, size > UInt64(Self.longestContent) {
                throw CoordinationError(
                    .limitReached, operation: "read", item: path.description,
                    reason: "its \(size) bytes are more than a line has room for, \(Self.longestContent)",
                    remedy: .init(.reduceSize, "lock it, and read the file itself"))
            }
            return (try access.readVersion(path), access.unresponsivePresenters)
        }
        let (version, silent) =
            try underLock(request, entry, read) ?? coordinator(entry).coordinate(.reading(path), timeout: timeout, read)
        let presenters = silent.isEmpty ? [] : [("unanswered", JSONValue.array(silent.map(ErrorReport.object)))]
        return .object(
            [contentMember(version.value), ("generation", .unsigned(version.generation.rawValue))] + presenters)
    }

    func change(_ change: ItemChange, _ request: Request, _ entry: Entry) throws -> JSONValue {
        let (durability, timeout) = (try request.durability(), try request.timeout())
        let result =
            try underLock(request, entry) { try change.make(under: $0) }
            ?? change.make(by: coordinator(entry), durability: durability, timeout: timeout)
        return made(result.isChanged, result.generation)
    }

    private func made(_ isChanged: Bool, _ generation: Generation?) -> JSONValue {
        ["changed": .bool(isChanged), "generation": generation.map { .unsigned($0.rawValue) } ?? .null]
    }

    func list(_ request: Request) throws -> JSONValue {
        ["items": .array(try container.items(in: try request.pathIfPresent("path")).map(\.json))]
    }

    func lock(_ request: Request, _ entry: Entry) throws -> JSONValue {
        let (reading, writing) = (try request.paths("reading"), try request.paths("writing"))
        if reading.isEmpty && writing.isEmpty {
            throw request.invalid("'reading' and 'writing' are arrays of paths, one of which must have a path")
        }
        let intents = reading.map { AccessIntent.reading($0) } + writing.map { .writing($0) }
        let (durability, timeout) = (try request.durability(), try request.timeout())
        if entry.holder != nil { _ = try self.locks(request, entry) }
        let locks = try Caller.during(entry.caller) {
            try coordinator(entry).lock(intents, durability: durability, timeout: timeout)
        }
        entry.held = .locks(locks)
        return [:]
    }

    func unlock(_ request: Request, _ entry: Entry) throws -> JSONValue {
        guard let id = try request.earlier("lock"), let holder = entry.holder else {
            throw request.invalid("the id 'lock' is missing")
        }
        let locks = try locks(request, entry)
        holder.held = .nothing
        forget(id, holder)
        // Also where the changes are not on the disk.
        defer { holder.noteEnd() }
        try locks.unlock()
        return [:]
    }

    func transaction(_ request: Request, _ entry: Entry) throws -> JSONValue {
        let all = try request.changes().map { change throws(CoordinationError) in
            guard let known = try ItemChange(change) else {
                throw request.invalid("'\(change.operation.rawValue)' is no change of an item")
            }
            return known
        }
        // What was read is compared before anything is changed.
        let changes = all.filter(\.isCheck) + all.filter { !$0.isCheck }
        let (durability, timeout) = (try request.durability(), try request.timeout())
        let done = try coordinator(entry).transaction(
            changes.flatMap(\.intents), durability: durability, timeout: timeout
        ) { access in
            for change in changes { _ = try change.make(under: access) }
        }
        return made(done.generation != nil, done.generation)
    }
}
