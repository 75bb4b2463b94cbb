import FoundationEssentials
package import GroupContainer

/// An item as a part of a message.
package struct ItemLine: Codable, Sendable {
    var title: String?
    var text: String?
    var attachments: [AttachmentLine]?
    private var values: [String: PropertyListNode]?

    /// Describes an item. `attach` returns the number under which the extension inherits a file. Errors: those of
    /// `attach`.
    package init(
        _ item: ExtensionItem, attach: (AttachedFile) throws(AttachmentError) -> Int32
    ) throws(AttachmentError) {
        title = item.title
        text = item.text
        var lines: [AttachmentLine] = []
        for attachment in item.attachments { lines.append(try AttachmentLine(attachment, attach: attach)) }
        attachments = lines.isEmpty ? nil : lines
        values = item.values.isEmpty ? nil : item.values.mapValues(PropertyListNode.init)
    }

    /// Returns the item. `take` returns the file of an inherited descriptor, which no other attachment may have; items
    /// of attachments are looked up in `container`. Errors: those of `take`; a malformed line.
    package func item(
        in container: Container?, take: (Int32) throws(AttachmentError) -> AttachedFile
    ) throws -> ExtensionItem {
        var item = ExtensionItem(title: title, text: text, values: values?.mapValues(\.value) ?? [:])
        for line in attachments ?? [] {
            item.attachments.append(try line.attachment(take: take).found(in: container))
        }
        return item
    }
}

/// An attachment as a part of a message: its type and name, and one of the other fields.
struct AttachmentLine: Codable, Sendable {
    var type: ContentType
    var name: String?
    private var text: String?
    private var url: String?
    private var value: PropertyListNode?
    /// Base 64.
    private var bytes: Data?
    private var item: String?
    /// The path of an item that is not UTF-8, in base 64.
    private var itemBytes: Data?
    private var descriptor: Int32?

    init(
        _ attachment: Attachment, attach: (AttachedFile) throws(AttachmentError) -> Int32
    ) throws(AttachmentError) {
        type = attachment.type
        name = attachment.name
        switch attachment.content {
        case .text(let text): self.text = text
        case .url(let url): self.url = url.absoluteString
        case .propertyList(let value): self.value = PropertyListNode(value)
        case .bytes(let bytes): self.bytes = Data(bytes)
        case .file(let file): descriptor = try attach(file)
        case .item(let path):
            item = String(validating: path.bytes, as: UTF8.self)
            if item == nil { itemBytes = Data(path.bytes) }
        }
    }

    func attachment(take: (Int32) throws(AttachmentError) -> AttachedFile) throws -> Attachment {
        var contents: [Attachment.Content] = []
        if let text { contents.append(.text(text)) }
        if let url {
            guard let url = URL(absolute: url) else {
                throw MalformedMessage("'\(url.prefix(60))' is not an absolute URL")
            }
            contents.append(.url(url))
        }
        if let value { contents.append(.propertyList(value.value)) }
        if let bytes { contents.append(.bytes(Array(bytes))) }
        if let item { contents.append(.item(ItemPath(item))) }
        if let itemBytes { contents.append(.item(ItemPath(bytes: Array(itemBytes)))) }
        if let descriptor { contents.append(.file(try take(descriptor))) }
        guard contents.count == 1, let content = contents.first else {
            throw MalformedMessage("an attachment has \(contents.count) contents, and not one")
        }
        return Attachment(content, type: type, name: name)
    }
}

/// The fault of a message that is JSON of the right form.
package struct MalformedMessage: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
