/// A message from a host to an extension: one JSON object a line on the extension's standard input.
/// `docs/reference/extension-protocol.md` has the fields.
package enum ExtensionHostMessage: Sendable {
    /// The request, once, as the first line.
    case begin(Request)
    /// The request is cancelled: end soon. The end of the input means the same.
    case cancel

    package struct Request: Codable, Sendable {
        /// The version of the protocol.
        package var version: Int
        /// The point for which the extension runs.
        package var point: ExtensionPoint
        /// The identifier of the extension.
        package var `extension`: String
        /// The items to work on.
        package var items: [ItemLine]
        /// The time for the result, in seconds.
        package var deadline: Double

        package init(point: ExtensionPoint, extension: String, items: [ItemLine], deadline: Double) {
            version = ExtensionHostMessage.version
            self.point = point
            self.extension = `extension`
            self.items = items
            self.deadline = deadline
        }
    }

    /// The version of the protocol that this library implements.
    package static let version = 1
}

extension ExtensionHostMessage: Codable {
    private enum Verb: String, Codable {
        case begin, cancel
    }

    private enum Field: String, CodingKey {
        case verb = "do"
    }

    package init(from decoder: any Decoder) throws {
        switch try decoder.container(keyedBy: Field.self).decode(Verb.self, forKey: .verb) {
        case .begin: self = .begin(try Request(from: decoder))
        case .cancel: self = .cancel
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        switch self {
        case .begin(let request):
            try fields.encode(Verb.begin, forKey: .verb)
            try request.encode(to: encoder)
        case .cancel: try fields.encode(Verb.cancel, forKey: .verb)
        }
    }
}
