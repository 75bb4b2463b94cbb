/// A message from an extension to its host: one JSON object a line on the extension's standard output.
package enum ExtensionMessage: Sendable {
    /// The result: the request is complete. The first of `complete` and `cancel` counts.
    case complete([ItemLine])
    /// The result: the request could not be completed, or the user gave it up.
    case cancel(ExtensionError)
    /// A request to open a URL.
    case open(url: String)
    /// A line for the host's log.
    case log(String)
}

extension ExtensionMessage: Codable {
    private enum Verb: String, Codable {
        case complete, cancel, open, log
    }

    private enum Field: String, CodingKey {
        case verb = "say"
        case items, error, url, text
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        switch try fields.decode(Verb.self, forKey: .verb) {
        case .complete: self = .complete(try fields.decodeIfPresent([ItemLine].self, forKey: .items) ?? [])
        case .cancel: self = .cancel(try fields.decode(ExtensionError.self, forKey: .error))
        case .open: self = .open(url: try fields.decode(String.self, forKey: .url))
        case .log: self = .log(try fields.decode(String.self, forKey: .text))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        switch self {
        case .complete(let items):
            try fields.encode(Verb.complete, forKey: .verb)
            try fields.encode(items, forKey: .items)
        case .cancel(let error):
            try fields.encode(Verb.cancel, forKey: .verb)
            try fields.encode(error, forKey: .error)
        case .open(let url):
            try fields.encode(Verb.open, forKey: .verb)
            try fields.encode(url, forKey: .url)
        case .log(let text):
            try fields.encode(Verb.log, forKey: .verb)
            try fields.encode(text, forKey: .text)
        }
    }
}

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
