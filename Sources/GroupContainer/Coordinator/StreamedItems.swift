/// Reading and writing piece by piece.
extension Access {
    /// Has `body` read an item's content piece by piece; its snapshot's, if the request asked for one. The lock is
    /// held meanwhile: for a reader that takes long, ask with `.forUploading`. Errors: those of `readBytes` and of
    /// `body`. System calls: openat2, statx, read
    public func read<Answer>(_ path: ItemPath, _ body: (inout ItemReader) throws -> Answer) throws -> Answer {
        if let place = snapshotPlace(of: path) {
            var reader = try ItemReader(of: place, in: member.directory.staging, label: path.description)
            return try body(&reader)
        }
        let location = try location(path, for: .reading, "read")
        var reader = try ItemReader(of: location.bytes, in: member.directory.root, label: printable(location.bytes))
        return try body(&reader)
    }

    /// Replaces an item's content atomically by what `body` writes; see `write(bytes:to:if:mode:)`. The lock is held
    /// meanwhile; the coordinator's `write(to:)` asks for it when everything has come. If `body` throws, nothing is
    /// changed. Errors: those of `write(bytes:to:if:mode:)` and of `body`.
    public func write(
        to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteOutcome {
        _ = try location(path, for: .writing, "write")
        return try write(ItemWriter.content(for: path, by: member, body), to: path, if: condition, mode: mode)
    }
}

extension TransactionAccess {
    /// Has `body` read an item's content, as the transaction left it, piece by piece. Errors: those of `readBytes` and
    /// of `body`. System calls: openat2, statx, read
    public func read<Answer>(_ path: ItemPath, _ body: (inout ItemReader) throws -> Answer) throws -> Answer {
        var reader = try reader(of: location(path, for: .reading, "read"))
        return try body(&reader)
    }

    /// Replaces an item's content by what `body` writes; see `write(bytes:to:if:mode:)`. If `body` throws, and the
    /// closure of the transaction does not throw that on, the transaction goes on without this change.
    @discardableResult
    public func write(
        to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> StagedOutcome {
        _ = try location(path, for: .writing, "write")
        return try write(ItemWriter.content(for: path, by: member, body), to: path, if: condition, mode: mode)
    }
}

extension BlockingCoordinator {
    /// Has `body` read an item's content piece by piece, under a shared lock. See `Access.read`.
    public func read<Answer>(
        _ path: ItemPath, timeout: Duration? = .seconds(30), _ body: (inout ItemReader) throws -> Answer
    ) throws -> Answer {
        try coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.read(path, body) }
    }

    /// The same, with the generation that the content has, for a later compare and set. See `Access.readVersion`.
    public func readVersion<Answer>(
        _ path: ItemPath, timeout: Duration? = .seconds(30), _ body: (inout ItemReader) throws -> Answer
    ) throws -> Versioned<Answer> {
        try coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path, body) }
    }

    /// Replaces an item's content by what `body` writes piece by piece. The exclusive lock is asked for when
    /// everything has come: nobody waits for `body`. If that throws, nothing is changed. See `Access.write`.
    @discardableResult
    public func write(
        to path: ItemPath, _ durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = .seconds(30), _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteOutcome {
        let content = try ItemWriter.content(for: path, by: coordinator.member, body)
        return try coordinate([.writing(path)], operation: "write", durability, timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }
    }
}

extension Coordinator {
    /// Has `body` read an item's content piece by piece, under a shared lock, on a thread of its own. See
    /// `Access.read`.
    public func read<Answer: Sendable>(
        _ path: ItemPath, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (inout ItemReader) throws -> Answer
    ) async throws -> Answer {
        try await coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.read(path, body) }
    }

    /// The same, with the generation that the content has, for a later compare and set. See `Access.readVersion`.
    public func readVersion<Answer: Sendable>(
        _ path: ItemPath, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (inout ItemReader) throws -> Answer
    ) async throws -> Versioned<Answer> {
        try await coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path, body) }
    }

    /// Replaces an item's content by what `body` writes piece by piece, on a thread of its own. The exclusive lock is
    /// asked for when everything has come: nobody waits for `body`. If that throws, nothing is changed. See
    /// `Access.write`.
    @discardableResult
    public func write(
        to path: ItemPath, _ durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (inout ItemWriter) throws -> Void
    ) async throws -> WriteOutcome {
        let member = member
        let content = try await Self.offload { try ItemWriter.content(for: path, by: member, body) }
        return try await coordinate([.writing(path)], operation: "write", durability, timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }
    }
}
