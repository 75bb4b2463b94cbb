import GroupContainer

/// The request of the point `keyboard`: the text around the cursor of a user's input. The result is a change of it.
public struct KeyboardInput: Hashable, Sendable {
    /// The text before the cursor, as much of it as the host passes on.
    public var before: String
    /// The text after the cursor.
    public var after: String
    /// What the field is for, such as `text`, `number`, `email` or `url`.
    public var field: String
    /// The language of the text (RFC 5646), if the host knows it.
    public var language: String?

    /// Creates a request.
    public init(before: String, after: String = "", field: String = "text", language: String? = nil) {
        self.before = before
        self.after = after
        self.field = field
        self.language = language
    }

    /// Reads a request. Errors: `MalformedItem`
    public init(_ items: [ExtensionItem]) throws(MalformedItem) {
        let item = try PointItem(items, .keyboard, attachments: 0)
        before = try item.text("before")
        after = try item.text("after")
        field = try item.text("field")
        language = try item.textIfPresent("language")
    }

    /// The items of the request.
    public var items: [ExtensionItem] {
        var values = ["before": before, "after": after, "field": field].mapValues(DefaultsValue.string)
        values["language"] = language.map(DefaultsValue.string)
        return [ExtensionItem(values: values)]
    }

    /// The result of the point `keyboard`.
    public struct Result: Hashable, Sendable {
        /// The number of characters to delete before the cursor.
        public var deleted: Int
        /// The text to insert there then.
        public var inserted: String

        /// Creates a result.
        public init(deleting deleted: Int = 0, inserting inserted: String) {
            self.deleted = deleted
            self.inserted = inserted
        }

        /// Reads a result. Errors: `MalformedItem`
        public init(_ items: [ExtensionItem]) throws(MalformedItem) {
            let item = try PointItem(items, .keyboard, attachments: 0)
            deleted = try item.count("deleted")
            inserted = try item.text("inserted")
        }

        /// The items of the result.
        public var items: [ExtensionItem] {
            [ExtensionItem(values: ["deleted": .integer(deleted), "inserted": .string(inserted)])]
        }

        /// Returns the text before the cursor after the change. Errors: `MalformedItem` if fewer characters are there
        /// than are to be deleted.
        public func applied(to input: KeyboardInput) throws(MalformedItem) -> String {
            guard (0...input.before.count).contains(deleted) else {
                throw MalformedItem(
                    point: .keyboard, reason: "\(deleted) of \(input.before.count) characters are to be deleted")
            }
            return input.before.dropLast(deleted) + inserted
        }
    }
}
