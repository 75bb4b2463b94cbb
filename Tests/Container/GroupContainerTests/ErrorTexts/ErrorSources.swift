import Foundation
import TestSupport

@testable import GroupContainer

/// The places in the sources where an error gets its text, each as a user reads it, with `<…>` for what is known only
/// at run time. They are read from the sources, so that none can be missing.
struct ErrorSources {
    /// Functions that make an error from their arguments. An unlabeled text among the arguments is the reason.
    private static let makers = [
        "CoordinationError", "damaged", "ofDefaults", "limit", "slotInTheWay", "notGranted", "notAFile", "invalid",
        "formless",
    ]
    /// What makes a remedy.
    private static let remedyMakers = ["Remedy", "init", "ofCommand"]
    private static let directory = projectDirectory.appending(path: "Sources")

    /// Returns each file's path and its texts in their order.
    static func all() throws -> [(file: String, texts: [String])] {
        let names = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
        return try names.filter(isSearched).sorted().map { name in
            (name, texts(in: try String(contentsOf: directory.appending(path: name), encoding: .utf8)))
        }.filter { !$0.texts.isEmpty }
    }

    /// Returns whether a file belongs to a module that makes a `CoordinationError`.
    private static func isSearched(_ name: String) -> Bool {
        let module = name.split(separator: "/").dropFirst().first ?? ""
        let modules = [
            "GroupContainer", "Cluster", "Widgets", "WidgetApp", "GroupWidgetAdapters", "GroupCommands", "groupctl",
            "watch-group",
        ]
        return name.hasSuffix(".swift") && (modules.contains(String(module)) || module.hasSuffix("Testing"))
    }

    /// Returns the names under which codes are declared.
    static func codes() throws -> [String] {
        let file = directory.appending(path: "Container/GroupContainer/Errors/CoordinationError.swift")
        return try String(contentsOf: file, encoding: .utf8).matches(of: #/static let (\w+) = Code\(/#)
            .map { String($0.1) }
    }

    /// The texts of remedies that have a name, by that name: code and text.
    static let remedies: [String: (code: String, text: String)] = {
        let file = directory.appending(path: "Container/GroupContainer/Errors/Remedy.swift")
        let source = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let found = source.matches(of: #/static let (\w+) = Remedy\(\s*\.(\w+), "([^"]*)"\)/#)
        return Dictionary(found.map { (String($0.1), (String($0.2), String($0.3))) }) { first, _ in first }
    }()

    static func texts(in source: String) -> [String] {
        let code = source.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }.joined(separator: "\n")
        let calls = code.matches(of: #/(?<name>\w+)\(/#)
        var (texts, end): ([String], String.Index) = ([], code.startIndex)
        for call in calls where call.range.lowerBound >= end {
            let name = String(call.name)
            let isRemedy = remedyMakers.contains(name)
            let before = code[..<call.range.lowerBound]
            if !(makers.contains(name) || isRemedy) || before.hasSuffix("func ") || before.hasSuffix("case .") {
                continue
            }
            let made = SourceCall(of: name, code[call.range.upperBound...])
            guard let text = isRemedy ? made.remedyText.map({ "; \($0)" }) : made.text else { continue }
            end = made.end
            texts.append(text)
        }
        return texts
    }
}

/// The arguments of a call.
private struct SourceCall {
    private let maker: String
    private var arguments: [(label: String?, value: String)] = []
    /// The place behind the arguments.
    private(set) var end: String.Index

    /// Parses what follows the opening parenthesis of a call.
    init(of maker: String, _ source: Substring) {
        self.maker = maker
        end = source.startIndex
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
        end = rest.startIndex
    }

    private mutating func append(_ argument: String) {
        let text = argument.trimmingCharacters(in: .whitespacesAndNewlines)
        if let match = text.prefixMatch(of: #/(\w+):\s+/#) {
            arguments.append((String(match.1), String(text[match.range.upperBound...])))
        } else {
            arguments.append((nil, text))
        }
    }

    private subscript(label: String) -> String? { arguments.first { $0.label == label }.map { Self.text($0.value) } }

    /// The text; nil if the call has none of its own and passes on another error's.
    var text: String? {
        let unnamed = arguments.filter { $0.label == nil }.map(\.value)
        let reason = self["reason"] ?? unnamed.last { $0.contains("\"") }.map(Self.text)
        let remedy = arguments.first { $0.label == "remedy" }.map { Self.remedy($0.value) }
        if reason == nil && remedy == nil { return nil }
        // A single word comes from the kernel.
        if let reason, maker == "limit" && !reason.contains(" ") { return nil }
        let code = maker == "damaged" ? "damaged: " : unnamed.first { $0.hasPrefix(".") }.map { "\($0.dropFirst()): " }
        let item = self["item"].map { " '\($0)'" } ?? ""
        let operation = self["operation"] ?? "<operation>"
        let phrase = CoordinationError.phrases[operation] ?? operation
        return (code ?? "") + "cannot \(phrase)\(item): \(reason ?? "<reason>")" + (remedy.map { "; \($0)" } ?? "")
    }

    /// Returns the text of a remedy and its code; nil if it is no remedy.
    var remedyText: String? {
        let code = arguments.first.map(\.value) ?? ""
        if maker == "ofCommand" { return code.contains("\"") ? Self.text(code) + " [command]" : nil }
        guard arguments.count > 1, arguments[1].label == nil, arguments[1].value.contains("\""),
            code.wholeMatch(of: #/\.\w+|\S*Code\(rawValue: "\w+"\)/#) != nil
        else { return nil }
        return "\(Self.text(arguments[1].value)) [\(code.matches(of: #/\w+/#).last.map { String($0.output) } ?? "")]"
    }

    private static func remedy(_ value: String) -> String {
        let calls = value.matches(of: #/(?<name>init|Remedy|ofCommand)\(/#)
        let made = calls.compactMap { SourceCall(of: String($0.name), value[$0.range.upperBound...]).remedyText }
        let named = value.matches(of: #/\.(\w+)/#).compactMap { ErrorSources.remedies[String($0.1)] }
            .map { "\($0.text) [\($0.code)]" }
        let all = made + (made.isEmpty || value.contains("?") ? named.filter { !made.contains($0) } : [])
        return all.isEmpty ? "<\(value)>" : all.joined(separator: " | ")
    }

    /// Returns the string literal at the beginning, with its quotes.
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

    /// Returns an expression's text: its literals joined, or as alternatives.
    private static func text(_ value: String) -> String {
        if let optional = value.prefixMatch(of: #/(?<first>[^"\s]+(?: [^"\s?]+)*)\s+\?\?\s+/#) {
            return "<\(optional.first)> | " + text(String(value[optional.range.upperBound...]))
        }
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

    /// Returns a literal with `<…>` for its interpolations.
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
