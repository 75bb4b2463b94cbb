public import Extensions
import FoundationEssentials

/// The description of an installed extension: what it is for, what it takes, and its program.
public struct ExtensionManifest: Hashable, Sendable {
    /// The point that the extension is for.
    public var point: ExtensionPoint
    /// The name of the extension, of which only one manifest counts.
    public var identifier: String
    /// The title, for people.
    public var title: String
    /// The icon: a name of the icon theme, or a path; nil for none.
    public var icon: String?
    /// The contents that the extension takes.
    public var rule: ActivationRule
    /// The program: a path, or a name that is looked up in PATH.
    public var executable: String
    /// The arguments of the program.
    public var arguments: [String]
    /// The group identifier of the container that the extension gets, or, with a '/', the container's path; nil if it
    /// gets none.
    public var group: String?
    /// What the hosts of the point need to know besides: a JSON object, as its text.
    public var attributes: [UInt8]
    /// The directory of the manifest's file, where relative paths in the attributes begin; nil if it is from no file.
    public var directory: String?

    /// Creates a description.
    public init(
        point: ExtensionPoint, identifier: String, title: String? = nil, icon: String? = nil,
        rule: ActivationRule = ActivationRule([]), executable: String, arguments: [String] = [], group: String? = nil,
        attributes: [UInt8] = Array("{}".utf8)
    ) {
        self.point = point
        self.identifier = identifier
        self.title = title ?? identifier
        self.icon = icon
        self.rule = rule
        self.executable = executable
        self.arguments = arguments
        self.group = group
        self.attributes = attributes
    }

    /// Decodes the attributes. Errors: those of `JSONDecoder`
    public func decodeAttributes<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(attributes))
    }

    /// Returns why the extension does not take these items; nil if it does. All their attachments count together.
    public func refusal(of items: [ExtensionItem]) -> ActivationRule.Refusal? {
        rule.refusal(of: items.flatMap { $0.attachments.map(\.type) })
    }
}

/// The order in which a user wants the extensions offered: a text with one identifier a line. Empty lines, and those
/// that begin with '#', mean nothing.
struct ExtensionOrder: Hashable, Sendable {
    private let ranks: [String: Int]

    init(_ text: String) {
        var ranks: [String: Int] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let name = line.drop(while: \.isWhitespace)
            let end = name.lastIndex { !$0.isWhitespace }
            guard let end, !name.hasPrefix("#") else { continue }
            let identifier = String(name[...end])
            if ranks[identifier] == nil { ranks[identifier] = ranks.count }
        }
        self.ranks = ranks
    }

    /// Returns whether the left extension comes before the right one: those in the text in its order, then all others
    /// by title and identifier.
    func isBefore(_ left: (title: String, identifier: String), _ right: (title: String, identifier: String)) -> Bool {
        switch (ranks[left.identifier], ranks[right.identifier]) {
        case (let left?, let right?): left < right
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): (left.title, left.identifier) < (right.title, right.identifier)
        }
    }
}
