import GroupCommandLine
import GroupCommands
import GroupContainer

/// Runs commands from standard input; each gets a line as its answer.
struct DefaultsBatch {
    private let commands: SuiteCommands
    private let parser: ArgumentParser
    /// The longest line of a command, in bytes: the largest value fits, in base64 or in JSON with escapes.
    private static let longestLine = 128 << 20

    init(_ commands: SuiteCommands) {
        self.commands = commands
        parser = ArgumentParser(
            CommandSpecification(
                name: "groupctl defaults", summary: "", usage: [],
                subcommands: DefaultsCommand.allCases.map { $0.specification(behind: []) }))
    }

    func run(_ run: inout CommandRun) throws -> ExitStatus {
        var lines = InputLines(limit: Self.longestLine)
        var status = ExitStatus.success
        while true {
            switch try lines.next() {
            case .end: return status
            case .dry:
                try run.output.flush()
                try lines.wait()
            case .line(let line):
                let answer: String?
                do {
                    answer = try self.answer(line)
                } catch {
                    status = .failure
                    answer =
                        "error: "
                        + (run.options.isJSON
                            ? ErrorReport.object(error).encoded() : TerminalText.visible(message(of: error)))
                }
                if let answer { try run.output.writeLine(answer) }
            }
        }
    }

    /// Returns the answer to a line; nil for a blank line.
    private func answer(_ line: [UInt8]) throws -> String? {
        let words = try ShellWords.of(line)
        if words.isEmpty { return nil }
        guard case .run(let arguments) = try parser.parse(words) else {
            throw UsageError("--help is not possible in a batch", commandPath: ["groupctl", "defaults"])
        }
        switch try commands.answer(to: arguments) {
        case .done: return "ok"
        case .value(let value, let key):
            do throws(NoForm) {
                return try value.json().encoded()
            } catch {
                throw CoordinationError.ofDefaults(
                    .invalidContent, operation: "print", key, in: commands.defaults, reason: "\(error)")
            }
        case .listing(let members): return listing(members).encoded()
        case .document(let json): return json.encoded()
        case .propertyList:
            throw arguments.usageError("--format: an answer in a batch is one line, and a property list has more")
        }
    }
}
