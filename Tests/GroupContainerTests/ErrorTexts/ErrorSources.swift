import Foundation

@testable import GroupContainer

/// The places in the sources where an error gets its text, each as what its reader will see, with `<…>` for what is
/// known only then. Read from the sources, so that none can be missing.
struct ErrorSources {
    /// What makes an error of its arguments; of those that are not labelled, texts are causes.
    private static let makers = [
        "CoordinationError", "damaged", "ofDefaults", "limit", "isInTheWay", "notGranted", "notAFile", "invalid",
        "formless",
    ]
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

    /// By file: its path, and its texts in their order.
    static func all() throws -> [(file: String, texts: [String])] {
        let names = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
        return try names.filter(isSearched).sorted().map { name in
            (name, texts(in: try String(contentsOf: directory.appending(path: name), encoding: .utf8)))
        }.filter { !$0.texts.isEmpty }
    }

    /// The modules that make a `CoordinationError`.
    private static func isSearched(_ name: String) -> Bool {
        let module = name.prefix { $0 != "/" }
        let modules = ["GroupContainer", "Widgets", "WidgetApp", "GroupCommands", "groupctl", "watch-group"]
        return name.hasSuffix(".swift") && (modules.contains(String(module)) || module.hasSuffix("Testing"))
    }

    /// The names under which a code is declared.
    static func codes() throws -> [String] {
        let file = directory.appending(path: "GroupContainer/Errors/CoordinationError.swift")
        return try String(contentsOf: file, encoding: .utf8).matches(of: #/static let (\w+) = Code\(/#)
            .map { String($0.1) }
    }

    static func texts(in source: String) -> [String] {
        let code = source.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }.joined(separator: "\n")
        let calls = code.matches(of: #/(?<name>\w+)\(/#).filter { makers.contains(String($0.name)) }
        return calls.compactMap { call in
            let declares = code[..<call.range.lowerBound].hasSuffix("func ")
            let isPattern = code[..<call.range.lowerBound].hasSuffix("case .")
            return declares || isPattern ? nil : SourceCall(of: String(call.name), code[call.range.upperBound...]).text
        }
    }
}

/// The arguments of a call.
private struct SourceCall {
    private let maker: String
    private var arguments: [(label: String?, value: String)] = []

    /// From behind its opening parenthesis.
    init(of maker: String, _ source: Substring) {
        self.maker = maker
        var (depth, value, rest) = (0, "", source)
        while let character = rest.first {
            if character == "\"" {
                let literal = Self.literal(rest)
                value += literal
                rest = rest.dropFirst(literal.count)
                continue
            }
            if ")]}".contains(character) { depth -= 1 }
            if depth < 0 { break }
            if "([{".contains(character) { depth += 1 }
            if character == "," && depth == 0 {
                append(value)
                value = ""
            } else {
                value.append(character)
            }
            rest = rest.dropFirst()
        }
        append(value)
    }

    private mutating func append(_ argument: String) {
        let text = argument.trimmingCharacters(in: .whitespacesAndNewlines)
        if let match = text.prefixMatch(of: #/(\w+):\s+/#) {
            arguments.append((String(match.1), String(text[match.range.upperBound...])))
        } else {
            arguments.append((nil, text))
        }
    }

    private subscript(label: String) -> String? { arguments.first { $0.label == label }.map { Self.said($0.value) } }

    /// Nil: it has none of its own, but hands on another one's.
    var text: String? {
        let unnamed = arguments.filter { $0.label == nil }.map(\.value)
        let cause = self["cause"] ?? unnamed.last { $0.contains("\"") }.map(Self.said)
        if cause == nil && self["advice"] == nil { return nil }
        // A word that is the kernel's, not ours.
        if let cause, maker == "limit" && !cause.contains(" ") { return nil }
        let isDamage = maker == "damaged"
        let code = isDamage ? "damaged: " : unnamed.first { $0.hasPrefix(".") }.map { "\($0.dropFirst()): " } ?? ""
        let file = isDamage && unnamed.count > 1 ? unnamed.first.map(Self.said) : nil
        let item = (self["item"] ?? file).map { " '\($0)'" } ?? ""
        let operation = self["operation"] ?? "<operation>"
        let phrase = CoordinationError.phrases[operation] ?? operation
        return code + "cannot \(phrase)\(item): \(cause ?? "<cause>")"
            + (self["advice"].map { "; \($0)" } ?? "")
    }

    /// The literal at the head of it, with its quotes.
    private static func literal(_ source: Substring) -> String {
        var (taken, depth, rest) = ("\"", 0, source.dropFirst())
        while let character = rest.first {
            taken.append(character)
            rest = rest.dropFirst()
            if depth == 0 && character == "\"" { break }
            if character == "\\", let next = rest.first {
                taken.append(next)
                rest = rest.dropFirst()
                if next == "(" { depth += 1 }
            } else if depth > 0 {
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
            }
        }
        return taken
    }

    /// What an expression says: its literals, one behind the other, or one or the other.
    private static func said(_ value: String) -> String {
        guard value.hasPrefix("\"") || value.contains(" ? ") else { return "<\(value)>" }
        var (parts, rest): ([String], Substring) = ([], value[...])
        while let start = rest.firstIndex(of: "\"") {
            let between = rest[..<start]
            let literal = literal(rest[start...])
            rest = rest[start...].dropFirst(literal.count)
            if !parts.isEmpty && between.contains(":") { parts.append(" | ") }
            parts.append(known(String(literal.dropFirst().dropLast())))
        }
        return parts.joined()
    }

    /// With `<…>` for what is interpolated.
    private static func known(_ literal: String) -> String {
        var (text, rest) = ("", literal[...])
        while let start = rest.range(of: "\\(") {
            text += rest[..<start.lowerBound]
            var (depth, end) = (1, start.upperBound)
            while end < rest.endIndex && depth > 0 {
                depth += rest[end] == "(" ? 1 : rest[end] == ")" ? -1 : 0
                end = rest.index(after: end)
            }
            text += "<" + rest[start.upperBound..<end].dropLast() + ">"
            rest = rest[end...]
        }
        return text + rest
    }
}
