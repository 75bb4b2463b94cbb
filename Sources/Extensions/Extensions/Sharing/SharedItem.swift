import FoundationEssentials
public import GroupContainer
import GroupProtocolLines

/// An item in a share inbox.
public struct SharedItem: Sendable {
    /// The item's identifier, which no other item of the inbox has.
    public let identifier: String
    /// The item. Its files are items of the container, in `path`.
    public let item: ExtensionItem
    /// The item's directory.
    public let path: ItemPath
    /// Whether the item was handled before by a handler that did not return: its work may have been done, or begun.
    public let again: Bool

    /// The error of an item that cannot be read. `ShareInbox.remove(_:)` removes it.
    public struct Damaged: Error, Sendable, CustomStringConvertible {
        /// The item's identifier.
        public let identifier: String
        /// What is wrong with it, for people.
        public let reason: String

        /// A sentence for people.
        public var description: String { "the shared item \(identifier) cannot be read: \(reason)" }
    }

    /// Reads an item, under its lock; nil if it is gone. Errors: `Damaged`
    init?(_ identifier: String, in inbox: ShareInbox, by access: Access) throws {
        path = inbox.path(of: identifier)
        guard try access.item(path) != nil else { return nil }
        self.identifier = identifier
        again = try access.item(path.appending(ShareInbox.mark)) != nil
        do {
            let found = try access.read(path.appending(ShareInbox.content)) {
                try $0.readAll(atMost: Attachment.largestContent)
            }
            guard let content = found, !ProtocolLine.hasTooManyValues(content) else { throw Oversize() }
            let line = try JSONDecoder().decode(ItemLine.self, from: Data(content))
            item = try line.item(in: inbox.container) { number throws(AttachmentError) in
                throw AttachmentError.file("descriptor \(number)", reason: "an item in an inbox has none")
            }
        } catch {
            throw Damaged(identifier: identifier, reason: "\(error)")
        }
        // A handler may move the files that an item names, so an item may name only files of its own directory.
        for case .item(let path) in item.attachments.map(\.content) where !path.isDirectly(in: self.path) {
            throw Damaged(identifier: identifier, reason: "it names '\(path)', which is no file of it")
        }
    }
}

/// The description of an item is too large to be decoded.
private struct Oversize: Error, CustomStringConvertible {
    let description =
        "its \(ShareInbox.content) is longer than \(Attachment.largestContent) bytes, or has more than \(ProtocolLine.mostValues) values"
}

/// An item that is being added.
struct NewSharedItem: Sendable {
    let identifier: String
    private let path: ItemPath
    private let item: ExtensionItem
    private let moving: Bool
    /// Where the file of each attachment goes that has one.
    private let files: [Int: ItemPath]

    init(_ identifier: String, _ item: ExtensionItem, at path: ItemPath, moving: Bool) throws {
        self.identifier = identifier
        self.item = item
        self.path = path
        self.moving = moving
        var files: [Int: ItemPath] = [:]
        for (index, attachment) in item.attachments.enumerated() {
            switch attachment.content {
            case .text, .url, .propertyList, .bytes: continue
            case .file, .item: files[index] = path.appending(attachment.fileName(index))
            }
        }
        self.files = files
    }

    var intents: [AccessIntent] {
        var intents = [AccessIntent.writing(path), .writing(path.appending(ShareInbox.content))]
        for (index, file) in files {
            intents.append(.writing(file))
            guard case .item(let path) = item.attachments[index].content else { continue }
            intents.append(moving ? .writing(path, .forMoving) : .reading(path))
        }
        return intents
    }

    /// Writes the item, in a transaction. Returns false if there is one of this number.
    func add(by access: Access) throws -> Bool {
        if try access.item(path) != nil { return false }
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
        try access.write(json: line, to: path.appending(ShareInbox.content))
        return true
    }
}

extension Attachment {
    /// Returns the name of the file that holds the content. The number keeps two files of one name apart, and a name
    /// from being one that the directory has for another purpose.
    package func fileName(_ index: Int) -> String {
        var name = (name ?? "file").unicodeScalars.filter { scalar in
            scalar != "/" && scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
        }
        while String(name).utf8.count > 200 { name.removeLast() }
        return "\(index + 1) \(String(name))"
    }
}

extension ItemPath {
    /// Returns the path of an entry of this directory.
    package func appending(_ name: String) -> ItemPath {
        ItemPath(bytes: bytes + [UInt8(ascii: "/")] + Array(name.utf8))
    }

    /// Returns whether this is the path of an entry of a directory.
    package func isDirectly(in directory: ItemPath) -> Bool {
        let start = directory.bytes + [UInt8(ascii: "/")]
        let name = bytes.dropFirst(start.count)
        return bytes.starts(with: start) && !name.isEmpty && !name.contains(UInt8(ascii: "/"))
            && ![Array(".".utf8), Array("..".utf8)].contains(Array(name))
    }
}
