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
