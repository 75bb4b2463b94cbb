public import Extensions
public import FoundationEssentials
public import GroupContainer

/// An item of a pasteboard: one thing, in the forms in which it can be pasted.
public struct PasteboardItem: Equatable, Sendable {
    /// The forms, the best one first. No two have one type.
    public var representations: [Attachment]

    /// Creates an item.
    public init(_ representations: [Attachment]) { self.representations = representations }

    /// Creates an item of the type `text`.
    public static func text(_ text: String) -> PasteboardItem { PasteboardItem([.text(text)]) }

    /// Creates an item of the type `url`.
    public static func url(_ url: URL) -> PasteboardItem { PasteboardItem([.url(url)]) }

    /// Creates an item of the type `property-list`.
    public static func propertyList(_ value: DefaultsValue) -> PasteboardItem { PasteboardItem([.propertyList(value)]) }

    /// Creates an item with the content of an open file, which is copied when the item is set.
    public static func file(_ file: AttachedFile, type: ContentType, name: String? = nil) -> PasteboardItem {
        PasteboardItem([Attachment(.file(file), type: type, name: name)])
    }

    /// The types of the representations.
    public var types: [ContentType] { representations.map(\.type) }

    /// Returns the representation of a type; nil where there is none.
    public func representation(of type: ContentType) -> Attachment? { representations.first { $0.type == type } }
}

/// What a pasteboard holds at one moment: all of it was set by one call.
public struct PasteboardContent: Equatable, Sendable {
    /// The number of changes until then; 0 for a pasteboard that no process has set.
    public let changeCount: Int
    /// The items; empty after `clear()`, and after the content has expired. A large representation is an item of the
    /// container, which can be loaded as long as the content is not replaced: see
    /// `GroupPasteboard.representation(of:)`.
    public let items: [PasteboardItem]
    /// The time after which the content is not returned any more; nil for content that does not expire.
    public let expires: Date?

    /// Returns the first representation of a type, in the order of the items; nil where there is none.
    public func representation(of type: ContentType) -> Attachment? {
        items.lazy.compactMap { $0.representation(of: type) }.first
    }
}

/// The limits of what is set. Error: `limitReached`
public enum PasteboardLimits {
    /// The most items.
    public static let items = 256
    /// The most representations of an item.
    public static let representations = 64
    /// The most bytes of all representations together: 1 GiB.
    public static let size: UInt64 = 1 << 30
    /// The most bytes of a representation that is kept within the record: 64 KiB. A larger one becomes an item of the
    /// container.
    public static let inline = 64 << 10
    /// The most bytes of all representations within the record, beyond which the next ones become items: 1 MiB.
    static let allInline = 1 << 20
    /// The most bytes of the record: URLs and property lists are always in it.
    static let record = 8 << 20
}
