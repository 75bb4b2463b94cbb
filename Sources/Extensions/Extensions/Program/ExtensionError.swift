import GroupContainer

/// The error with which an extension ends a request, as its host gets it.
public struct ExtensionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The domain of the code: a reverse-DNS name, or the name of a Swift type.
    public var domain: String
    /// The number of the error in its domain.
    public var code: Int
    /// A sentence for people.
    public var text: String

    /// The domain of `cancelled`.
    public static let cancellationDomain = "CancellationError"
    /// The request was given up: by its user, or by its host.
    public static let cancelled = ExtensionError(domain: cancellationDomain, code: 0, text: "the request was cancelled")

    /// Creates an error.
    public init(domain: String, code: Int = 0, text: String) {
        self.domain = domain
        self.code = code
        self.text = text
    }

    /// Describes any error: an `ExtensionError` is kept, a cancellation is `cancelled`; of another error the domain is
    /// the name of its type, the code 0, and the text its description.
    public init(_ error: any Error) {
        switch error {
        case let error as ExtensionError: self = error
        case is CancellationError: self = .cancelled
        default: self.init(domain: String(reflecting: type(of: error)), text: "\(error)")
        }
    }

    /// The error's text, with its domain and code.
    public var description: String { "\(text) (\(domain) \(code))" }
}

extension ExtensionError: Codable {
    private enum Field: String, CodingKey {
        case domain, code, text
    }

    /// Decodes an error; without `code` and `text` they are 0 and empty.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        self.init(
            domain: try fields.decode(String.self, forKey: .domain),
            code: try fields.decodeIfPresent(Int.self, forKey: .code) ?? 0,
            text: try fields.decodeIfPresent(String.self, forKey: .text) ?? "")
    }
}
