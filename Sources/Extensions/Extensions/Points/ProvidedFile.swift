import GroupContainer

/// A file that an extension of the point `provide-files` stores, as its requests and results have it.
public struct ProvidedFile: Equatable, Sendable {
    /// A request of the point `provide-files`. Each has files as its result: those in the directory, or the one that
    /// was fetched, with its content, or stored; none for a removal.
    public enum Request: Equatable, Sendable {
        /// Returns the files in a directory; nil is the topmost one.
        case list(directory: String?)
        /// Returns the file with this identifier, with its content.
        case fetch(String)
        /// Stores a content, with the name that its attachment has, in a directory; nil is the topmost one.
        case store(Attachment, directory: String?)
        /// Removes the file with this identifier.
        case remove(String)

        /// Reads a request. Errors: `MalformedItem`
        public init(_ items: [ExtensionItem]) throws(MalformedItem) {
            let item = try PointItem(items, .provideFiles, attachments: 1)
            switch try item.text("request") {
            case "list": self = .list(directory: try item.textIfPresent("directory"))
            case "fetch": self = .fetch(try item.text("identifier"))
            case "store":
                guard let content = item.item.attachments.first, content.name != nil else {
                    throw item.fault("it has no content with a name to store")
                }
                self = .store(content, directory: try item.textIfPresent("directory"))
            case "remove": self = .remove(try item.text("identifier"))
            case let other: throw item.fault("there is no request '\(other.prefix(60))'")
            }
        }

        /// The items of the request.
        public var items: [ExtensionItem] {
            func item(_ request: String, _ name: String, _ value: String?, _ content: [Attachment] = [])
                -> ExtensionItem
            {
                var values = ["request": DefaultsValue.string(request)]
                values[name] = value.map(DefaultsValue.string)
                return ExtensionItem(attachments: content, values: values)
            }
            return switch self {
            case .list(let directory): [item("list", "directory", directory)]
            case .fetch(let identifier): [item("fetch", "identifier", identifier)]
            case .store(let content, let directory): [item("store", "directory", directory, [content])]
            case .remove(let identifier): [item("remove", "identifier", identifier)]
            }
        }
    }

    /// The extension's own name for the file, which stays when the file is renamed.
    public var identifier: String
    /// The file's name, for people.
    public var name: String
    /// The file's type; a directory has `inode/directory`.
    public var type: ContentType
    /// The content; nil in a list.
    public var content: Attachment?

    /// Describes a file.
    public init(_ identifier: String, name: String, type: ContentType, content: Attachment? = nil) {
        self.identifier = identifier
        self.name = name
        self.type = type
        self.content = content
    }

    /// Reads the files of a result. Errors: `MalformedItem`
    public static func files(ofResult items: [ExtensionItem]) throws(MalformedItem) -> [ProvidedFile] {
        var files: [ProvidedFile] = []
        for item in items {
            let item = try PointItem([item], .provideFiles, attachments: 1)
            guard let type = ContentType(try item.text("type")) else { throw item.fault("its value 'type' is no type") }
            files.append(
                ProvidedFile(
                    try item.text("identifier"), name: try item.text("name"), type: type,
                    content: item.item.attachments.first))
        }
        return files
    }

    /// The item of the file in a result.
    public var item: ExtensionItem {
        ExtensionItem(
            attachments: content.map { [$0] } ?? [],
            values: ["identifier": identifier, "name": name, "type": type.rawValue].mapValues(DefaultsValue.string))
    }
}
