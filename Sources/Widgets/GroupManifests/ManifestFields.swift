import GroupBytes
package import GroupCommandLine

/// The fields of an object of a manifest, read strictly. Fields that were not read are reported afterwards.
package struct ManifestFields {
    /// The largest size of a manifest's file, in bytes.
    package static let largestFile = 1 << 20

    private let file: String
    /// The names that lead to the object.
    private let path: [String]
    private let members: [(String, JSONValue)]
    private let reading: Reading

    /// What was read, and what is present, in all objects of a file.
    private final class Reading {
        let lines: [[String]: Int]
        var known: Set<[String]> = []
        var present: [[String]] = []

        init(_ lines: [[String]: Int]) { self.lines = lines }
    }

    /// Reads the text of a file. Errors: it is too large, no JSON, or no object.
    package init(_ content: [UInt8], _ file: String, deepest: Int = 16) throws(ManifestError) {
        if content.count > Self.largestFile { throw ManifestError(file, "it is larger than \(Self.largestFile) bytes") }
        let parsed: (value: JSONValue, lines: [[String]: Int])
        do throws(TextFault) {
            parsed = try JSONReader.valueWithLines(of: content, deepest: deepest)
        } catch {
            throw ManifestError(file, line: error.line, "it is not JSON: \(error.what)")
        }
        try self.init(parsed.value, file, path: [], Reading(parsed.lines))
    }

    private init(_ value: JSONValue, _ file: String, path: [String], _ reading: Reading) throws(ManifestError) {
        guard case .object(let members) = value else {
            throw ManifestError(
                file, field: path.isEmpty ? nil : Self.text(path), line: reading.lines[path],
                "it must be an object: {…}")
        }
        self.file = file
        self.path = path
        self.members = members
        self.reading = reading
        reading.present += members.map { path + [$0.0] }
    }

    /// The names as text for people.
    private static func text(_ path: [String]) -> String { PipeText.escaped(Array(path.joined(separator: ".").utf8)) }

    /// The fields of this object and of the objects in it that were not read, except names that begin with "x-" or "$",
    /// which are for other programs.
    package var findings: [ManifestError] {
        let unknown = reading.present.filter { path in
            guard let name = path.last else { return false }
            return !name.hasPrefix("x-") && !name.hasPrefix("$") && !reading.known.contains(path)
        }
        return unknown.map { path in
            let siblings = reading.known.filter { $0.count == path.count && $0.dropLast() == path.dropLast() }
            let near = NearestName.among(siblings.compactMap(\.last).sorted(), to: path.last ?? "")
            return ManifestError(
                file, field: Self.text(path), line: reading.lines[path], "there is no such field",
                advice: near.map { "did you mean '\($0)'?" } ?? "begin the name with 'x-' if the field is your own")
        }
    }

    /// Returns the value of a field; nil if it is absent or `null`.
    package func value(_ name: String) -> JSONValue? {
        reading.known.insert(path + [name])
        guard let value = members.first(where: { $0.0 == name })?.1, value != .null else { return nil }
        return value
    }

    /// Returns an error of a field, with its line if it is present.
    package func error(_ name: String, _ cause: String, _ advice: String? = nil) -> ManifestError {
        let path = path + [name]
        return ManifestError(file, field: Self.text(path), line: reading.lines[path], cause, advice: advice)
    }

    /// Returns a string; nil if the field is absent. Errors: another value, or a NUL in it.
    package func text(_ name: String) throws(ManifestError) -> String? {
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

    /// Returns an array of strings; nil if the field is absent. Errors: another value, or a NUL in it.
    package func texts(_ name: String) throws(ManifestError) -> [String]? {
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

    /// Returns an integer; nil if the field is absent. Errors: another value, or one outside of the range.
    package func number(_ name: String, _ range: ClosedRange<Int>) throws(ManifestError) -> Int? {
        guard let value = value(name) else { return nil }
        guard case .integer(let number) = value, let number = Int(exactly: number), range.contains(number) else {
            throw error(name, "it must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a time: seconds in the file, nanoseconds as the result.
    package func time(_ name: String, _ range: ClosedRange<Double>) throws(ManifestError) -> Int64? {
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

    /// Returns the fields of an object; nil if the field is absent. Errors: another value.
    package func object(_ name: String) throws(ManifestError) -> ManifestFields? {
        guard let value = value(name) else { return nil }
        return try ManifestFields(value, file, path: path + [name], reading)
    }

    /// The names of all fields, in the file's order.
    package var names: [String] { members.map(\.0) }

    /// Returns a name that can be that of a file: letters, digits, '.', '-' and '_', at most 200 bytes. Errors: the
    /// field is absent (`advice` is for that case), or has another text.
    package func plainName(_ name: String, _ advice: String) throws(ManifestError) -> String {
        guard let text = try text(name) else { throw error(name, "it is missing", advice) }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        if text.isEmpty || text.utf8.count > 200 || text.hasPrefix(".") || !isPlain {
            let what = (name.first.map { "aeiou".contains($0) } == true ? "an " : "a ") + name
            throw error(
                name, "'\(PipeText.escaped(Array(text.utf8)))' is not \(what)",
                "\(what) has letters, digits, '.', '-' and '_', and does not begin with '.'")
        }
        return text
    }

    /// Returns the path of a program: one that has a '/' and is relative begins in `directory`; a name without a '/' is
    /// looked up in PATH. Errors: the field is absent or empty; `advice` is for that case.
    package func program(_ name: String, in directory: String, _ advice: String) throws(ManifestError) -> String {
        guard let program = try text(name), !program.isEmpty else { throw error(name, "it is missing", advice) }
        if !program.contains("/") || program.hasPrefix("/") { return program }
        return directory + "/" + (program.hasPrefix("./") ? program.dropFirst(2) : program[...])
    }
}
