import GroupBytes
import GroupCommandLine
@testable import GroupCommands
import GroupContainer
@testable import Widgets

extension Decoder {
    static let commands = [arguments, words]

    private static let common: [OptionSpecification] = [
        .flag("json", help: "Write JSON."), .value("timeout", "TIME", help: "Give up."),
        .flag("quiet", letter: "q", help: "Say nothing."),
    ]

    /// A specification with options and positionals of every kind.
    private static let specification = CommandSpecification(
        name: "tool", summary: "Does it.", usage: ["tool COMMAND"], options: common,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "Lists.", usage: ["tool list"],
                options: [.value("count", letter: "n", "N", help: "")],
                positionals: [PositionalSpecification("GROUP", .optional), PositionalSpecification("PATH", .optional)]),
            CommandSpecification(
                name: "lock", summary: "Locks.", usage: ["tool lock"],
                positionals: [PositionalSpecification("GROUP"), PositionalSpecification("PATH", .variadic)],
                trailingCommand: .required),
            CommandSpecification(
                name: "watch", summary: "Watches.", usage: ["tool watch"],
                options: [.repeatable("include", "GLOB", help: ""), .flag("null", letter: "0", help: "")],
                positionals: [PositionalSpecification("GROUP")], trailingCommand: .optional),
            CommandSpecification(
                name: "defaults", summary: "Sets.", usage: ["tool defaults"],
                subcommands: [
                    CommandSpecification(
                        name: "set", summary: "Sets.", usage: ["tool set"], options: [.value("type", "TYPE", help: "")],
                        positionals: ["GROUP", "SUITE", "KEY", "VALUE"].map { PositionalSpecification($0) })
                ]),
        ])

    private static func line(_ words: String...) -> [UInt8] { Array(words.map { [UInt8]($0) }.joined(separator: [0])) }

    /// Words with zeros between them, as the kernel passes them.
    private static let arguments = Decoder(
        "arguments",
        [
            "list": line("list", "--timeout=0.5", "-qn5", "group"),
            "lock": line("lock", "g", "a", "b", "--", "make", "-n"),
            "watch": line("watch", "--include", "a*", "-0", "g", "--", "make", "--json"),
            "set": line("--json", "defaults", "set", "g", "s", "--", "-k", "v"),
            "help": line("defaults", "set", "g", "--help"), "version": line("--version"),
        ]
    ) { bytes in
        let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
        let invocation: Invocation
        do throws(UsageError) { invocation = try ArgumentParser(specification).parse(words) } catch {
            try expect(!"\(error)".isEmpty && !"\(error)".utf8.contains { $0 < 0x20 && $0 != 0x0A }, "\(error)")
            return false
        }
        switch invocation {
        case .run(let parsed): try expectSorted(parsed, words)
        case .help(let text): try expect(text.contains("Usage"), "a help without a usage")
        case .version: break
        }
        return true
    }

    /// Checks that the arguments have every word once, and no other word.
    private static func expectSorted(_ parsed: ParsedArguments, _ words: [[UInt8]]) throws {
        let command = parsed.command ?? []
        try expect(words.suffix(command.count).elementsEqual(command), "another command")
        let before = words.dropLast(command.count)
        let names = parsed.subcommands.map { [UInt8]($0) }
        for word in parsed.positionals + names {
            try expect(before.contains(word), "a word that is not in the line: \(word)")
        }
        for option in parsed.options {
            let isThere = before.contains {
                $0 == option.value || $0.suffix(option.value.count).elementsEqual(option.value)
            }
            try expect(isThere, "a value that is not in the line: \(option)")
        }
        // `--` ends the options, or begins the command; an option's value may be a word of its own.
        let least = parsed.positionals.count + names.count
        try expect(least <= before.count, "more words than there were")
        do throws(UsageError) { _ = try parsed.time("timeout") } catch {}
    }

    /// The values of options and files: times, dates, interests, formats of lines, typed values.
    private static let words = Decoder(
        "words",
        [
            "time": [UInt8]("250.5ms"), "date": [UInt8]("2026-11-20T10:00:00.25Z"),
            "interest": [UInt8]("defaults:settings:opened"), "format": [UInt8]("%T %w%f %,e%%%0"),
            "base64": [UInt8]("aGk="), "number": [UInt8]("-12"), "json": [UInt8]("[1,null]"),
        ]
    ) { bytes in
        _ = try? LineFormat(bytes, timeFormat: nil)
        try expect(Base64.decoded(Base64.encoded(bytes).utf8) == bytes, "base 64 that does not come back")
        for type in ValueType.allCases {
            guard let value = try? type.value(of: bytes) else { continue }
            let text = value.shownText
            try expect(!text.isEmpty || bytes.isEmpty || type == .data, "a value without a text: \(value)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        if DateText.keeps(text) {
            guard let again = DateText.seconds(of: text).flatMap({ DateText.text(of: $0) }), DateText.keeps(again)
            else {
                throw Broken("a date that does not come back: \(text)")
            }
        }
        if let time = try? TimeArgument.parse(text) { try expect(time >= .zero, "a negative time") }
        if let interest = WidgetInterest(text: text) { _ = Concerns([interest]) }
        let escaped = PipeText.escaped(bytes)
        try expect(!escaped.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control character in a pipe: \(escaped)")
        return true
    }
}
