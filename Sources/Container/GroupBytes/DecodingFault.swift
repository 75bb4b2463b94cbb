// Imports nothing: no file, clock or process.

/// Any JSON: what a decoder refuses as this is none.
package struct AnyJSON: Decodable {
    package init(from decoder: any Decoder) {}
}

extension DecodingError {
    /// Returns what is wrong with a text of JSON, and where in it, for its author. `isJSON`: whether the text can be
    /// decoded as `AnyJSON`. A decoder says the same of a number that its member cannot hold as of other text.
    package func fault(isJSON: () -> Bool) -> String {
        func path(_ context: Context, _ last: (any CodingKey)? = nil) -> String {
            let keys = context.codingPath + (last.map { [$0] } ?? [])
            let names = keys.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined().drop { $0 == "." }
            return names.isEmpty ? "" : names + ": "
        }
        return switch self {
        case .keyNotFound(let key, let context): path(context, key) + "it is missing"
        case .valueNotFound(_, let context): path(context) + "it is null"
        case .typeMismatch(let type, let context): path(context) + "it must be of type \(type)"
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            isJSON() ? "a number is too large, or has a fraction where it must be whole" : "it is not JSON"
        case .dataCorrupted(let context): path(context) + context.debugDescription
        @unknown default: "it is no such value"
        }
    }
}
