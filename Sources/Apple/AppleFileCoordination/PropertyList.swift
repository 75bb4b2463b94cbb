import Foundation
import GroupContainer

/// The objects of property lists as values of the group defaults, and back.
extension DefaultsValue {
    /// Converts an object of a property list: a text, a number, a truth value, data, a date, an array, a dictionary
    /// with texts as keys; or a URL. Foundation's classes (`NSNumber`, `NSString`, …) are converted as the types that
    /// they bridge to. Errors: `invalidContent` for any other object; `limitReached` for a whole number beyond `Int`,
    /// and for more levels than `maximumDepth`.
    init(propertyList object: Any, depth: Int = 1) throws(CoordinationError) {
        if depth > Self.maximumDepth {
            throw Self.refusal(.limitReached, "the value is nested more than \(Self.maximumDepth) levels deep")
        }
        if let value = object as? any DefaultsRepresentable {
            self = value.defaultsValue
        } else if let number = object as? any BinaryInteger {
            self = .integer(try Self.whole(Int(exactly: number), of: "\(number)"))
        } else if let number = object as? CGFloat {
            self = .double(Double(number))
        } else if let number = object as? NSNumber {
            self = try Self.value(of: number)
        } else if let value = Self.bridged(object) {
            self = value
        } else if let elements = object as? [Any] {
            var values: [DefaultsValue] = []
            for element in elements { values.append(try DefaultsValue(propertyList: element, depth: depth + 1)) }
            self = .array(values)
        } else if let members = object as? [AnyHashable: Any] {
            var values: [String: DefaultsValue] = [:]
            for (key, member) in members {
                values[try Self.name(key)] = try DefaultsValue(propertyList: member, depth: depth + 1)
            }
            self = .dictionary(values)
        } else {
            throw Self.refusal(.invalidContent, "an object of type \(type(of: object)) is in no property list")
        }
    }

    /// Converts the object that is to be set for a key. Errors: those of `init(propertyList:)`, with the key.
    static func stored(_ object: Any, forKey key: String) throws(CoordinationError) -> DefaultsValue {
        do throws(CoordinationError) {
            return try DefaultsValue(propertyList: object)
        } catch {
            var error = error
            error.item = key
            throw error
        }
    }

    /// Converts the objects that are to be set for several keys. Errors: as those for one key.
    static func stored(_ objects: [String: Any]) throws(CoordinationError) -> [String: DefaultsValue] {
        var values: [String: DefaultsValue] = [:]
        for (key, object) in objects { values[key] = try stored(object, forKey: key) }
        return values
    }

    /// The value as an object of a property list, with the types that Foundation's `UserDefaults` returns on Linux:
    /// `Bool`, `Int`, `Double`, `Float`, `String`, `Data`, `Date`, `[Any]`, `[String: Any]`; and `URL`. Nil for JSON
    /// that is not valid, and for a kind that a newer version has written.
    var propertyList: Any? {
        switch self {
        case .bool(let value): value
        case .integer(let value): value
        case .double(let value): value
        case .float(let value): value
        case .string(let text): text
        case .data(let bytes): Data(bytes)
        case .date(let date): date
        case .url(let text): URL(string: text)
        case .array(let values): values.compactMap(\.propertyList)
        case .dictionary(let values): values.compactMapValues(\.propertyList)
        case .json: structured?.propertyList
        case .unknown: nil
        }
    }

    /// The value with each URL as its path, as Foundation's own domains have it: they end the process for a URL within
    /// an array or a dictionary.
    var withPathsOfURLs: DefaultsValue {
        switch self {
        case .url(let text): .string(URL(string: text)?.path ?? text)
        case .array(let values): .array(values.map(\.withPathsOfURLs))
        case .dictionary(let values): .dictionary(values.mapValues(\.withPathsOfURLs))
        case .bool, .integer, .double, .float, .string, .data, .date, .json, .unknown: self
        }
    }

    private static func bridged(_ object: Any) -> DefaultsValue? {
        if let text = object as? String { return .string(text) }
        if let data = object as? Data { return .data(Array(data)) }
        if let date = object as? Date { return .date(date) }
        return (object as? URL).map { .url($0.absoluteString) }
    }

    private static func value(of number: NSNumber) throws(CoordinationError) -> DefaultsValue {
        // A truth value is one of two objects; its Objective-C type is that of a small number.
        if number === NSNumber(value: true) { return .bool(true) }
        if number === NSNumber(value: false) { return .bool(false) }
        switch unsafe UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"): return .float(number.floatValue)
        case UInt8(ascii: "d"): return .double(number.doubleValue)
        default:
            let isTooLarge = number.compare(NSNumber(value: Int.max)) == .orderedDescending
            return .integer(try whole(isTooLarge ? nil : number.intValue, of: number.stringValue))
        }
    }

    private static func name(_ key: AnyHashable) throws(CoordinationError) -> String {
        if let name = key.base as? String { return name }
        throw refusal(.invalidContent, "a dictionary in a property list has texts as keys, not \(key.base)")
    }

    private static func whole(_ number: Int?, of text: String) throws(CoordinationError) -> Int {
        if let number { return number }
        throw refusal(.limitReached, "\(text) is no signed integer of 64 bits")
    }

    private static func refusal(_ code: CoordinationError.Code, _ reason: String) -> CoordinationError {
        CoordinationError(code, operation: "set", reason: "\(reason); nothing was changed")
    }
}
