public import GroupContainer
import GroupProtocolLines

/// An item in a share inbox.
public struct SharedItem: Sendable {
    /// The item's identifier, which no other item of the inbox has.
    public let identifier: String
    /// The item. Its files are items of the container, in `place`.
    public let item: ExtensionItem
    /// The item's directory.
    public let place: ItemPath
    /// Whether the item was handled before by a handler that did not return: its work may have been done, or begun.
    public let again: Bool

    /// Reads an item, under its lock; nil if it is gone. Errors: `damaged` for content that is no item; those of
    /// `Access.readBytes`
    init?(_ identifier: String, in inbox: ShareInbox, by access: Access) throws {
        place = inbox.path(of: identifier)
        guard try access.item(place) != nil else { return nil }
        let content = ItemPath("\(place)/\(ShareInbox.content)")
        let line = try access.read(content, as: ItemLine.self)
        item = try line.item(in: inbox.container) { number throws(AttachmentError) in
            throw AttachmentError.file("descriptor \(number)", reason: "an item in an inbox has none")
        }
        self.identifier = identifier
        again = try access.item(ItemPath("\(place)/\(ShareInbox.mark)")) != nil
    }
}

/// An item that is being added.
struct NewSharedItem: Sendable {
    let identifier: String
    private let place: ItemPath
    private let item: ExtensionItem
    private let moving: Bool
    /// Where the file of each attachment goes that has one.
    private let files: [Int: ItemPath]

    init(_ identifier: String, _ item: ExtensionItem, at place: ItemPath, moving: Bool) throws {
        (self.identifier, self.item, self.place, self.moving) = (identifier, item, place, moving)
        var files: [Int: ItemPath] = [:]
        for (index, attachment) in item.attachments.enumerated() {
            switch attachment.content {
            case .text, .url, .propertyList, .bytes: continue
            case .file, .item: files[index] = ItemPath("\(place)/\(Self.name(of: attachment, index))")
            }
        }
        self.files = files
    }

    /// The number keeps two files of one name apart, and a name from being one of the inbox.
    private static func name(of attachment: Attachment, _ index: Int) -> String {
        var name = (attachment.name ?? "file").filter { $0 != "/" && $0 >= " " }
        while name.utf8.count > 200 { name.removeLast() }
        return "\(index + 1) \(name)"
    }

    var intents: [AccessIntent] {
        var intents = [AccessIntent.writing(place), .writing(ItemPath("\(place)/\(ShareInbox.content)"))]
        for (index, file) in files {
            intents.append(.writing(file))
            guard case .item(let path) = item.attachments[index].content else { continue }
            intents.append(moving ? .writing(path, .forMoving) : .reading(path))
        }
        return intents
    }

    /// Writes the item, in a transaction. Returns false if there is one of this number.
    func add(by access: Access) throws -> Bool {
        if try access.item(place) != nil { return false }
        var item = item
        for (index, file) in files {
            switch item.attachments[index].content {
            case .file(let source): try access.write(to: file) { writer in try source.copy(to: &writer) }
            case .item(let path) where moving: try access.move(path, to: file)
            case .item(let path): try access.copy(path, to: file)
            case .text, .url, .propertyList, .bytes: continue
            }
            item.attachments[index].content = .item(file)
        }
        let line = try ItemLine(item) { _ throws(AttachmentError) in throw AttachmentError.notReturnable }
        try access.write(json: line, to: ItemPath("\(place)/\(ShareInbox.content)"))
        return true
    }
}
