public import GroupContainer
import GroupProtocolLines

/// What is shared with an app: items that wait in the container until the app has handled them, each in its turn.
///
///     // In a share extension:
///     try await ShareInbox(container).add(item)
///
///     // In the app:
///     let inbox = try ShareInbox(container)
///     try await inbox.handleEach(changing: [.writing("bookmarks.json")]) { shared, access in
///         var bookmarks = try access.read("bookmarks.json", as: [Bookmark].self)
///         …
///         try access.write(json: bookmarks, to: "bookmarks.json")
///     }
///
/// An item is a directory of the inbox with its files and an `item.json`. One durable transaction adds it, so that
/// it is there as a whole or not at all, also after a power cut. Its name is a number that grows from item to item, and
/// is not used again; items that are added at the same time come in any order. `blocking` has the calls that block.
public struct ShareInbox: Sendable {
    /// The container.
    public let container: Container
    /// The directory of the inbox.
    public let directory: ItemPath
    let coordinator: Coordinator
    private let numbers: GroupDefaults

    /// The suite of the numbers: the last one for each directory.
    private static let suite = "share-inbox"
    static let content = "item.json"
    /// Marks an item whose handling was begun.
    static let mark = "begun"

    /// Names the inbox of a container. Creates nothing. Errors: those of `GroupDefaults`
    public init(_ container: Container, at directory: ItemPath = "Share Inbox") throws(CoordinationError) {
        self.container = container
        self.directory = directory
        coordinator = container.coordinator(purpose: "share inbox")
        numbers = try GroupDefaults(container, suite: Self.suite)
    }

    // MARK: Sharing

    /// Adds an item, and returns its identifier once the item is on the disk. The files of its attachments are copied,
    /// on file systems that can do so without copying their bytes; the user's own files stay. With `moving`, items of
    /// the container are moved instead.
    ///
    /// Errors: `AttachmentError` for a file that cannot be read; those of `Coordinator.transaction`, after which
    /// nothing was added.
    @discardableResult
    public func add(_ item: ExtensionItem, moving: Bool = false) async throws -> String {
        while true {
            // The number is on the disk first.
            let new = try await OwnThread.run { try newItem(item, moving: moving) }
            if try await coordinator.transaction(new.intents, { try new.add(by: $0) }).answer { return new.identifier }
        }
    }

    /// Draws a number for an item, and waits for the disk. Another program may have created a directory of that number
    /// all the same.
    func newItem(_ item: ExtensionItem, moving: Bool) throws -> NewSharedItem {
        // The paths of items are of this container.
        for case .item(let path) in item.attachments.map(\.content) where !item.attachments.allSatisfy(isOurs) {
            throw AttachmentError.otherContainer(path)
        }
        let identifier = try nextIdentifier()
        return try NewSharedItem(identifier, item, at: path(of: identifier), moving: moving)
    }

    private func isOurs(_ attachment: Attachment) -> Bool {
        guard case .item = attachment.content, let other = attachment.container else { return true }
        return other.path == container.path
    }

    private func nextIdentifier() throws -> String {
        let key = GroupDefaults.Key("\(directory)", default: 0)
        let number = try numbers.update(key, durability: .durable) { $0 = $0 < 0 || $0 == .max ? 1 : $0 + 1 }
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, Self.digits - digits.count)) + digits
    }

    private static let digits = 12

    // MARK: Waiting items

    /// Returns the identifiers of the items that wait, in their order. Takes no lock. Errors: those of
    /// `Container.items(in:)`
    public func identifiers() throws(CoordinationError) -> [String] {
        do throws(CoordinationError) {
            return try container.items(in: directory).filter { $0.type == .directory }
                .compactMap { Self.identifier(of: $0.path) }
                .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
        } catch {
            if error.code == .notFound { return [] }
            throw error
        }
    }

    private static func identifier(of path: ItemPath) -> String? {
        guard let name = path.description.split(separator: "/").last, name.utf8.count >= digits,
            name.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return String(name)
    }

    /// Removes an item that will not be handled: one that is damaged, for example. Returns false if it was not there.
    /// Errors: those of `Coordinator.remove`
    @discardableResult
    public func remove(_ identifier: String) async throws -> Bool {
        try await coordinator.coordinate(.writing(path(of: identifier), .forDeleting)) { access in
            try remove(identifier, by: access)
        }
    }

    func remove(_ identifier: String, by access: Access) throws -> Bool {
        if try access.item(path(of: identifier)) == nil { return false }
        try access.remove(path(of: identifier), recursively: true)
        return true
    }

    func path(of identifier: String) -> ItemPath { directory.appending(identifier) }
}
