import FoundationEssentials
import GroupCommandLine
package import GroupContainer

extension PropertyList {
    /// Returns the list that holds a dictionary, keys sorted, as plistlib writes it. A date loses its fraction of a
    /// second, which the format does not have; a URL becomes a string. Error: the key of a value that has no form in
    /// the format.
    package static func text(of members: [String: DefaultsValue]) throws(Fault) -> String {
        var writer = PropertyListWriter()
        writer.open("dict", members.isEmpty)
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            do throws(NoForm) {
                try writer.writeKey(key)
                try writer.write(value)
            } catch {
                throw Fault(key: key, cause: error)
            }
        }
        writer.close("dict", members.isEmpty)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            \(writer.lines.joined(separator: "\n"))
            </plist>

            """
    }

    /// A value that has no form in a property list.
    package struct Fault: Error {
        /// The key in the suite.
        package let key: String
        package let cause: NoForm
    }
}

private struct PropertyListWriter {
    private(set) var lines: [String] = []
    private var depth = 0
    private static let dataWidth = 76

    private mutating func line(_ text: String) { lines.append(String(repeating: "\t", count: depth) + text) }

    mutating func open(_ name: String, _ isEmpty: Bool) {
        line(isEmpty ? "<\(name)/>" : "<\(name)>")
        if !isEmpty { depth += 1 }
    }

    mutating func close(_ name: String, _ isEmpty: Bool) {
        if isEmpty { return }
        depth -= 1
        line("</\(name)>")
    }

    mutating func writeKey(_ key: String) throws(NoForm) { line("<key>\(try escaped(key))</key>") }

    mutating func write(_ value: DefaultsValue) throws(NoForm) {
        switch value {
        case .bool(let value): line(value ? "<true/>" : "<false/>")
        case .integer(let value): line("<integer>\(value)</integer>")
        case .double(let value): line("<real>\(Self.text(of: value, value.description))</real>")
        case .float(let value): line("<real>\(Self.text(of: Double(value), value.description))</real>")
        case .string(let text), .url(let text): line("<string>\(try escaped(text))</string>")
        case .date(let date):
            guard let text = DateText.text(of: date.timeIntervalSinceReferenceDate, isWhole: true) else {
                throw NoForm("the year of a date has more than four digits")
            }
            line("<date>\(text)</date>")
        case .data(let bytes): write(bytes)
        case .array(let values):
            open("array", values.isEmpty)
            for value in values { try write(value) }
            close("array", values.isEmpty)
        case .dictionary(let values):
            open("dict", values.isEmpty)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                try writeKey(name)
                try write(value)
            }
            close("dict", values.isEmpty)
        case .json:
            let structured = DefaultsValue(try value.json())
            if case .json = structured { throw NoForm("a property list has no null") }
            try write(structured)
        case .unknown: throw NoForm("a newer version wrote the value")
        }
    }

    private mutating func write(_ bytes: [UInt8]) {
        line("<data>")
        let text = Array(Base64.encoded(bytes).utf8)
        for start in stride(from: 0, to: text.count, by: Self.dataWidth) {
            line(String(decoding: text[start..<min(start + Self.dataWidth, text.count)], as: UTF8.self))
        }
        line("</data>")
    }

    private static func text(of value: Double, _ text: String) -> String {
        if value.isNaN { return "nan" }
        return value.isInfinite ? (value < 0 ? "-infinity" : "+infinity") : text
    }

    /// Returns the text escaped. A carriage return becomes a reference, because a reader would turn it into a newline.
    private func escaped(_ text: String) throws(NoForm) -> String {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": bytes += Array("&amp;".utf8)
            case "<": bytes += Array("&lt;".utf8)
            case ">": bytes += Array("&gt;".utf8)
            case "\r": bytes += Array("&#13;".utf8)
            case _ where PropertyList.canHold(scalar): bytes += Array(String(scalar).utf8)
            default: throw NoForm("XML cannot hold the character U+\(String(scalar.value, radix: 16, uppercase: true))")
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
