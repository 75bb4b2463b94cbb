import GroupBytes
import GroupCommandLine

/// The fields of an object of a manifest, read strictly. Fields that were not read are reported afterwards.
struct ManifestFields {
    private let file: String
    private let path: String
    private let members: [(String, JSONValue)]
    private let reading: Reading

    /// The fields that were read, and those that are present, in all objects of a file.
    private final class Reading {
        var known: Set<String> = []
        var present: [(path: String, name: String)] = []
    }

    init(_ value: JSONValue, _ file: String) throws(ManifestError) {
        try self.init(value, file, path: "", Reading())
    }

    private init(_ value: JSONValue, _ file: String, path: String, _ reading: Reading) throws(ManifestError) {
        guard case .object(let members) = value else {
            throw ManifestError(
                file, field: path.isEmpty ? nil : String(path.dropLast()), "it must be an object: {…}")
        }
        (self.file, self.path, self.members, self.reading) = (file, path, members, reading)
        reading.present += members.map { (path, $0.0) }
    }

    /// The fields of this object and of the objects in it that were not read, except names that begin with "x-" or "$",
    /// which are for other programs.
    var findings: [ManifestError] {
        let unknown = reading.present.filter { path, name in
            !name.hasPrefix("x-") && !name.hasPrefix("$") && !reading.known.contains(path + name)
        }
        return unknown.map { path, name in
            let siblings = reading.known.filter { $0.hasPrefix(path) && !$0.dropFirst(path.count).contains(".") }
            let near = NearestName.among(siblings.map { String($0.dropFirst(path.count)) }.sorted(), to: name)
            return ManifestError(
                file, field: PipeText.escaped(Array((path + name).utf8)), "there is no such field",
                advice: near.map { "did you mean '\($0)'?" } ?? "begin the name with 'x-' if the field is your own")
        }
    }

    private func value(_ name: String) -> JSONValue? {
        reading.known.insert(path + name)
        guard let value = members.first(where: { $0.0 == name })?.1, value != .null else { return nil }
        return value
    }

    func error(_ name: String, _ cause: String, _ advice: String? = nil) -> ManifestError {
        ManifestError(file, field: path + name, cause, advice: advice)
    }

    func text(_ name: String) throws(ManifestError) -> String? {
        switch value(name) {
        case nil: return nil
        case .string(let text):
            if text.unicodeScalars.contains(where: { $0.value == 0 }) {
                throw error(name, "it contains a NUL character")
            }
            return text
        default: throw error(name, "it must be a string: \"…\"")
        }
    }

    func texts(_ name: String) throws(ManifestError) -> [String]? {
        guard let value = value(name) else { return nil }
        guard case .array(let elements) = value else { throw error(name, "it must be an array of strings: [\"…\"]") }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element, !text.unicodeScalars.contains(where: { $0.value == 0 }) else {
                throw error(name, "it must be an array of strings without NUL characters")
            }
            texts.append(text)
        }
        return texts
    }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(ManifestError) -> Int? {
        guard let value = value(name) else { return nil }
        guard case .integer(let number) = value, let number = Int(exactly: number), range.contains(number) else {
            throw error(name, "it must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a time: seconds in the file, nanoseconds as the result.
    func time(_ name: String, _ range: ClosedRange<Double>) throws(ManifestError) -> Int64? {
        let seconds: Double
        switch value(name) {
        case nil: return nil
        case .integer(let number): seconds = Double(number)
        case .double(let number): seconds = number
        default: seconds = -.infinity
        }
        if !range.contains(seconds) {
            throw error(name, "it must be a number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int64(seconds * 1e9)
    }

    func object(_ name: String) throws(ManifestError) -> ManifestFields? {
        guard let value = value(name) else { return nil }
        return try ManifestFields(value, file, path: "\(path)\(name).", reading)
    }
}
