public import FoundationEssentials
public import GroupContainer

/// A content of an item, with its type. The content is loaded by an asynchronous call, as it may be in a file.
public struct Attachment: Sendable {
    /// The form in which the content is passed.
    public enum Content: Equatable, Sendable {
        /// Text.
        case text(String)
        /// An absolute URL.
        case url(URL)
        /// A value of the kinds that a key of the group defaults can hold.
        case propertyList(DefaultsValue)
        /// Bytes, which are sent within a message: some KiB rather than MiB.
        case bytes([UInt8])
        /// An open file, which the extension inherits. Only a host can attach one.
        case file(AttachedFile)
        /// An item of the group's container.
        case item(ItemPath)
    }

    /// The type of the content, as its sender has it.
    public var type: ContentType
    /// The name of the content, such as a file's name.
    public var name: String?
    /// The content, or where to load it from.
    public var content: Content
    /// The container of `item`; nil where there is none.
    package var container: Container?

    /// Creates an attachment.
    public init(_ content: Content, type: ContentType, name: String? = nil) {
        self.content = content
        self.type = type
        self.name = name
    }

    /// Creates an attachment of the type `text`.
    public static func text(_ text: String) -> Attachment { Attachment(.text(text), type: .text) }

    /// Creates an attachment of the type `url`.
    public static func url(_ url: URL) -> Attachment { Attachment(.url(url), type: .url) }

    /// Creates an attachment of the type `property-list`.
    public static func propertyList(_ value: DefaultsValue) -> Attachment {
        Attachment(.propertyList(value), type: .propertyList)
    }

    /// Returns the attachment with the container in which an item is looked up. A host needs this to load an item that
    /// an extension returns; the attachments of an extension's context have the group's container already.
    public func found(in container: Container?) -> Attachment {
        var attachment = self
        attachment.container = container
        return attachment
    }
}

extension Attachment: Equatable {
    /// Returns whether type, name and content are equal. Two open files are equal if they are one object.
    public static func == (left: Attachment, right: Attachment) -> Bool {
        left.type == right.type && left.name == right.name && left.content == right.content
    }
}

/// One logical unit of the input of an extension, or of its result: a text with attachments, for example.
public struct ExtensionItem: Equatable, Sendable {
    /// The title, for people.
    public var title: String?
    /// The text that belongs to the attachments.
    public var text: String?
    /// The contents of the item.
    public var attachments: [Attachment]
    /// Further values, by names that the host and the extension agree on.
    public var values: [String: DefaultsValue]

    /// Creates an item.
    public init(
        title: String? = nil, text: String? = nil, attachments: [Attachment] = [], values: [String: DefaultsValue] = [:]
    ) {
        self.title = title
        self.text = text
        self.attachments = attachments
        self.values = values
    }
}
