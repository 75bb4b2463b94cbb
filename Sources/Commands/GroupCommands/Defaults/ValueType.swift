import FoundationEssentials
import GroupBytes
import GroupCommandLine
package import GroupContainer

/// The types that `--type` accepts.
package enum ValueType: String, CaseIterable, Sendable {
    case string
    case int
    case double
    case bool
    case date
    case data
    case json

    /// The error for a word that is not a value of the type.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        /// A sentence for the user.
        package let description: String
    }

    /// Returns the value of a word.
    package func value(of word: [UInt8]) throws(Fault) -> DefaultsValue {
        guard let text = word.validText else {
            throw Fault(description: "the value is not UTF-8; --type data takes Base64")
        }
        switch self {
        case .string: return .string(text)
        case .int: return .integer(try found(Int(text), text, "an integer of 64 bits"))
        case .double:
            let number = Double(text).flatMap { $0.isFinite ? $0 : nil }
            return .double(try found(number, text, "a finite number"))
        case .bool: return .bool(try found(Self.truth(text), text, "a Boolean: true, yes, 1, false, no or 0"))
        case .date:
            let seconds = try found(DateText.seconds(of: text), text, "a date like 2026-11-20T10:00:00Z")
            guard DateText.keeps(text) else {
                let nearest = DateText.text(of: seconds).map { "; the nearest one that can be kept is \($0)" } ?? ""
                throw Fault(
                    description:
                        "'\(PipeText.escaped(Array(text.utf8)))' has more digits than a date of that year can keep\(nearest)"
                )
            }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data: return .data(try found(Base64.decoded(word), text, "Base64"))
        case .json:
            do throws(TextFault) {
                return DefaultsValue(try JSONReader.value(of: word, deepest: DefaultsValue.maximumDepth))
            } catch {
                throw Fault(description: "not JSON: \(error)")
            }
        }
    }

    private func found<Value>(_ value: Value?, _ text: String, _ name: String) throws(Fault) -> Value {
        if let value { return value }
        throw Fault(description: "'\(PipeText.escaped(Array(text.prefix(100).utf8)))' is not \(name)")
    }

    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }
}
