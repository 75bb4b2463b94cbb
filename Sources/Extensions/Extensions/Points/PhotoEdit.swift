import GroupContainer

/// The request of the point `edit-photo`: a photo, and how it was edited before.
///
///     let edit = try PhotoEdit(context.inputItems)
///     // Resumes its own edit from the base; edits the photo as it is otherwise.
///     let light = edit.earlier.flatMap { Light($0.adjustment) }
///     let photo = light == nil ? edit.photo : edit.base
public struct PhotoEdit: Equatable, Sendable {
    /// The attributes of a manifest.
    public struct Attributes: Codable, Hashable, Sendable {
        /// The format of the extension's adjustment data.
        public var format: String
    }

    /// What an extension needs to resume its edit later: its own bytes, in a format that it names.
    public struct Adjustment: Hashable, Sendable {
        /// The format: a reverse-DNS name.
        public var format: String
        /// The version of the format.
        public var version: String
        /// The bytes.
        public var data: [UInt8]

        /// Creates adjustment data.
        public init(format: String, version: String, data: [UInt8]) {
            self.format = format
            self.version = version
            self.data = data
        }
    }

    /// An earlier edit of the photo.
    public struct Earlier: Equatable, Sendable {
        /// The photo as it was before that edit.
        public var base: Attachment
        /// What made the present photo of it.
        public var adjustment: Adjustment

        /// Describes an earlier edit.
        public init(base: Attachment, adjustment: Adjustment) { (self.base, self.adjustment) = (base, adjustment) }
    }

    /// The photo as it is now, of the type `image/png` for example.
    public var photo: Attachment
    /// The earlier edit; nil if the photo is the original.
    public var earlier: Earlier?

    /// The photo from which a resumed edit begins: that before the earlier edit.
    public var base: Attachment { earlier?.base ?? photo }

    /// Creates a request.
    public init(_ photo: Attachment, earlier: Earlier? = nil) { (self.photo, self.earlier) = (photo, earlier) }

    /// Reads a request. Errors: `MalformedItem`
    public init(_ items: [ExtensionItem]) throws(MalformedItem) {
        let item = try PointItem(items, .editPhoto, attachments: 2)
        guard let photo = item.item.attachments.first else { throw item.fault("it has no photo") }
        self.photo = photo
        if item.item.attachments.count == 2 {
            earlier = Earlier(base: item.item.attachments[1], adjustment: try item.adjustment())
        }
    }

    /// The items of the request.
    public var items: [ExtensionItem] {
        [
            ExtensionItem(
                attachments: [photo] + (earlier.map { [$0.base] } ?? []),
                values: earlier.map { ["adjustment": $0.adjustment.value] } ?? [:])
        ]
    }

    /// The result of the point `edit-photo`: the photo as it is after the edit, and what the edit was.
    public struct Result: Equatable, Sendable {
        /// The photo: bytes, or an item of the extension's container.
        public var photo: Attachment
        /// Its width, in pixels.
        public var width: Int
        /// Its height, in pixels.
        public var height: Int
        /// The edit that made this photo: from the base if `resumed`, else from the photo of the request.
        public var adjustment: Adjustment
        /// Whether the edit began from the base of the earlier edit, which it takes the place of.
        public var resumed: Bool

        /// Creates a result.
        public init(_ photo: Attachment, width: Int, height: Int, adjustment: Adjustment, resumed: Bool) {
            self.photo = photo
            self.width = width
            self.height = height
            self.adjustment = adjustment
            self.resumed = resumed
        }

        /// Reads a result, whose photo may be anything. Errors: `MalformedItem`
        public init(_ items: [ExtensionItem]) throws(MalformedItem) {
            let item = try PointItem(items, .editPhoto, attachments: 1)
            guard let photo = item.item.attachments.first else { throw item.fault("it has no photo") }
            self.photo = photo
            width = try item.count("width")
            height = try item.count("height")
            adjustment = try item.adjustment()
            guard case .bool(let resumed)? = item.item.values["resumed"] else {
                throw item.fault("its value 'resumed' is not true or false")
            }
            self.resumed = resumed
        }

        /// The items of the result.
        public var items: [ExtensionItem] {
            [
                ExtensionItem(
                    attachments: [photo],
                    values: [
                        "width": .integer(width), "height": .integer(height), "adjustment": adjustment.value,
                        "resumed": .bool(resumed),
                    ])
            ]
        }
    }
}

extension PhotoEdit.Adjustment {
    fileprivate var value: DefaultsValue {
        .dictionary(["format": .string(format), "version": .string(version), "data": .data(data)])
    }
}

extension PointItem {
    fileprivate func adjustment() throws(MalformedItem) -> PhotoEdit.Adjustment {
        guard case .dictionary(let fields)? = item.values["adjustment"], case .string(let format)? = fields["format"],
            case .string(let version)? = fields["version"], case .data(let data)? = fields["data"]
        else { throw fault("its value 'adjustment' has not a format, a version and data") }
        return PhotoEdit.Adjustment(format: format, version: version, data: data)
    }
}
