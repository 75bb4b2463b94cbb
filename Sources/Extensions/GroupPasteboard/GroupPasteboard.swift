public import Extensions
public import FoundationEssentials
public import GroupContainer

/// A pasteboard that the processes of a container share: items in typed representations, which stay until the next ones
/// are set.
///
///     let pasteboard = try GroupPasteboard(in: container)
///     try await pasteboard.set([PasteboardItem([.text("Bread"), Attachment(.bytes(picture), type: png)])])
///
///     // In another process:
///     for try await _ in pasteboard.changeCounts() {
///         let text = try await pasteboard.representation(of: .text)?.loadText()
///     }
///
/// All that one call sets becomes visible in one step: a reader gets what was set by one call, and no mixture. Large
/// representations are items of the container, in `Pasteboards/NAME`, each of them in a directory that belongs to one
/// content only; the others are in a suite of the defaults. What was replaced is removed; what a process that was
/// killed has left is removed by the next `set`. `blocking` has the calls that block.
public struct GroupPasteboard: Sendable {
    /// The container.
    public let container: Container
    /// The name of the pasteboard.
    public let name: String
    let coordinator: Coordinator
    private let suite: GroupDefaults
    private let directory: ItemPath

    /// The name of the pasteboard that all programs of a group have in common.
    public static let general = "general"
    private static let suiteName = "group-container.pasteboards"
    /// The directory of all pasteboards' directories.
    private static let parent: ItemPath = "Pasteboards"

    /// Names a pasteboard of a container. Creates nothing.
    ///
    /// - Parameters:
    ///   - name: The name, of 1 to 100 bytes, without '/', NUL, and '.' at its beginning.
    ///   - container: The container.
    ///
    /// Errors: `invalidArgument` for the name; those of `GroupDefaults`
    public init(_ name: String = GroupPasteboard.general, in container: Container) throws(CoordinationError) {
        let bytes = Array(name.utf8)
        guard (1...100).contains(bytes.count), bytes.first != UInt8(ascii: "."), !bytes.contains(0),
            !bytes.contains(UInt8(ascii: "/"))
        else {
            throw CoordinationError(
                .invalidArgument, operation: "open pasteboard", item: name,
                reason: "a pasteboard's name has 1 to 100 bytes, no '/', no NUL, and no '.' at its beginning")
        }
        self.container = container
        self.name = name
        coordinator = container.coordinator(purpose: "pasteboard")
        suite = try GroupDefaults(container, suite: Self.suiteName)
        directory = Self.parent.appending(name)
    }

    /// The form whose calls block the thread.
    public var blocking: BlockingGroupPasteboard { BlockingGroupPasteboard(self) }

    // MARK: Reading

    private var contentKey: String { "content/\(name)" }
    private var countKey: GroupDefaults.Key<Int> { GroupDefaults.Key("count/\(name)", default: 0) }

    /// The number of changes that any process has made. Each change adds 1. No system call where nothing has changed.
    public var changeCount: Int { suite[countKey] }

    /// Returns what the pasteboard holds, without its large representations, which are items of the container. Takes no
    /// lock.
    ///
    /// - Returns: The content of one `set` or `clear`.
    ///
    /// Errors: `damaged` for a record that is not what this library writes; the next `set` replaces it.
    public func content() throws(CoordinationError) -> PasteboardContent {
        guard let value = try suite.readVersion(forKey: contentKey).value else {
            return PasteboardContent(changeCount: changeCount, items: [], expires: nil)
        }
        do throws(PasteboardRecord.Malformed) {
            let record = try PasteboardRecord(reading: value)
            let isOver = record.expires.map { $0 <= Date() } ?? false
            let items = try record.items(of: container, in: directory)
            return PasteboardContent(
                changeCount: record.changeCount, items: isOver ? [] : items, expires: record.expires)
        } catch {
            throw damaged(error.reason)
        }
    }

    /// Returns the items that the pasteboard holds. See `content()`.
    public func items() throws(CoordinationError) -> [PasteboardItem] { try content().items }

    private func damaged(_ reason: String) -> CoordinationError {
        CoordinationError(
            .damaged, operation: "read", item: "pasteboard \(name)", containerPath: "\(container.path)",
            reason: reason, remedy: .init(.setValue, "set the pasteboard's content again"))
    }

    /// Returns the first representation of a type. A large one is returned as an open file, which stays readable when
    /// the content is replaced. Takes no lock: the files of a content do not change.
    ///
    /// - Parameter type: The type.
    /// - Returns: The representation; nil where there is none.
    ///
    /// Errors: those of `content()`; `damaged` where the item of a large representation is missing;
    /// `AttachmentError.file`. System calls: openat2(2), statx(2), for a large representation
    public func representation(of type: ContentType) throws -> Attachment? {
        /// The change count of the content whose file was not there.
        var missing: Int?
        while true {
            let content = try content()
            guard var found = content.representation(of: type) else { return nil }
            guard case .item(let path) = found.content else { return found }
            if let file = try AttachedFile.unchanging(path.bytes, below: container.path.bytes, label: "'\(path)'") {
                (found.content, found.container) = (.file(file), nil)
                return found
            }
            // The content was replaced after it was read, or its file was removed by another program.
            if missing == content.changeCount { throw damaged("the item '\(path)' of a representation is missing") }
            missing = content.changeCount
        }
    }

    // MARK: Setting

    /// Replaces the content, in one step. Texts and bytes beyond `PasteboardLimits.inline`, files and items become
    /// items of the container: by a copy, on file systems that can do so without copying their bytes. A process that is
    /// killed before the step has changed nothing.
    ///
    /// - Parameters:
    ///   - items: The items, the most important one first.
    ///   - expires: The time after which readers get no items; nil for content that stays.
    ///   - timeout: The limit of the wait for the locks on items of the container that are copied.
    /// - Returns: The change count of the content.
    ///
    /// Errors: `limitReached` (see `PasteboardLimits`); `invalidArgument` for an item without a representation, or with
    /// two of one type; `invalidContent` for a value that has no form in JSON; `AttachmentError` for a file that cannot
    /// be read; those of `Coordinator.coordinate` and `GroupDefaults.set`. After an error nothing was changed, except
    /// after `notDurable`.
    @discardableResult
    public func set(
        _ items: [PasteboardItem], expires: Date? = nil, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> Int {
        let new = try await OwnThread.run { try newContent(items, expires: expires) }
        let count: Result<Int, any Error>
        do {
            count = .success(
                new.intents.isEmpty
                    ? try await OwnThread.run { try record(new) }
                    : try await coordinator.coordinate(new.intents, timeout: timeout) { access in
                        try self.put(new, by: access)
                    })
        } catch {
            count = .failure(error)
        }
        let others = otherDirectories()
        do {
            if new.directory != nil || !others.isEmpty { try await OwnThread.run { try flush() } }
        } catch {
            _ = try count.get()
            throw error
        }
        for other in others {
            _ = try? await coordinator.coordinate(.writing(other, .forDeleting), timeout: .zero) { access in
                try self.remove(other, by: access)
            }
        }
        return try count.get()
    }

    /// Removes all items. See `set(_:expires:timeout:)`.
    @discardableResult
    public func clear() async throws -> Int { try await set([]) }

    func newContent(_ items: [PasteboardItem], expires: Date?) throws -> NewContent {
        try NewContent(items, expires: expires, in: container, directory)
    }

    /// Writes the files, and then records the content that has them. The lock on their directory is held until the
    /// record is there, so that no other process takes them for what a killed one has left.
    func put(_ new: NewContent, by access: Access) throws -> Int {
        try new.write(by: access)
        return try record(new)
    }

    /// Makes content the present one: the one step in which readers see it.
    func record(_ new: NewContent) throws -> Int {
        try suite.transaction { transaction in
            let last = transaction.storedValue(forKey: countKey.name)?.integerValue ?? 0
            let count = last < 0 || last == .max ? 1 : last + 1
            transaction.set(.integer(count), forKey: countKey.name)
            transaction.set(try new.value(count), forKey: contentKey)
            return count
        }
    }

    /// Waits until what was recorded is on the disk: before the files of an earlier content are removed.
    func flush() throws(CoordinationError) { try suite.flush() }

    // MARK: What was replaced

    /// The name of the directory of the present content; nil where there is none. Errors: `damaged`
    private func presentDirectory() throws(CoordinationError) -> String? {
        guard let value = try suite.readVersion(forKey: contentKey).value else { return nil }
        do throws(PasteboardRecord.Malformed) {
            return try PasteboardRecord(reading: value).directory
        } catch {
            throw damaged(error.reason)
        }
    }

    /// Returns the directories of contents that are not the present one: replaced, about to be set, or left by a
    /// process that was killed.
    func otherDirectories() -> [ItemPath] {
        do throws(CoordinationError) {
            let items = try container.items(in: directory)
            if items.isEmpty { return [] }
            let present = try presentDirectory().map(directory.appending)
            return items.filter { $0.type == .directory && $0.path != present && Self.isContent($0.path) }.map(\.path)
        } catch {
            // There is no directory, or it is not known which content is the present one.
            return []
        }
    }

    private static func isContent(_ path: ItemPath) -> Bool {
        guard let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")) else { return false }
        return PasteboardRecord.isName(String(decoding: path.bytes[(slash + 1)...], as: UTF8.self))
    }

    /// Removes the directory of a content. The caller holds its lock, so no process is writing it. Does nothing if it
    /// has become the present content.
    func remove(_ path: ItemPath, by access: Access) throws {
        if try presentDirectory().map(directory.appending) == path { return }
        if try access.item(path) != nil { try access.remove(path, recursively: true) }
    }

    // MARK: Observing

    /// Returns the change counts: first the present one, then each time another one, as soon as a process has set or
    /// cleared the pasteboard. Where several changes were made meanwhile, only the last count. Ends when the task is
    /// cancelled.
    ///
    /// Errors of the iteration: those of `GroupDefaults.changes(of:since:delivering:)`
    public func changeCounts() -> PasteboardChangeCounts {
        PasteboardChangeCounts(counts: suite.values(of: countKey, delivering: .latest))
    }

    /// Follows the change counts, for calls that block.
    func followCounts() throws(CoordinationError) -> Follower<DefaultsChange> {
        try suite.follow(of: [countKey.name], since: .now)
    }
}
