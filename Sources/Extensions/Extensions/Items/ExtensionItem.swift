public import GroupContainer

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
