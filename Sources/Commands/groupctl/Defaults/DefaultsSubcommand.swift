import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

func defaults(_ run: inout CommandRun) throws -> ExitStatus {
    let arguments = run.arguments
    if arguments.positional("SUITE") == nil { return try listSuites(&run) }
    guard let suite = arguments.positional("SUITE")?.validText else {
        throw arguments.usageError("SUITE is not valid UTF-8")
    }
    if run.options.isJSON, try arguments.text("format") == "plist" {
        throw arguments.usageError("--format plist and --json exclude each other")
    }
    let isBatch = arguments.subcommands.last == "batch"
    let container = try run.openContainer()
    _ = container.coordinator(purpose: run.options.purpose)
    let defaults = try GroupDefaults(container, suite: suite, purpose: run.options.purpose)
    let commands = SuiteCommands(defaults: defaults, mayReadInput: !isBatch)
    if isBatch { return try DefaultsBatch(commands).run(&run) }
    switch try commands.answer(to: arguments) {
    case .done(let fields):
        if run.options.isJSON { try run.output.writeLine(JSONValue.object(fields).encoded()) }
    case .value(let value, let key):
        let line: String
        do throws(NoForm) {
            line = try run.options.isJSON ? value.json().encoded() : value.plainText()
        } catch {
            throw CoordinationError.ofDefaults(
                .invalidContent, operation: "print", key, in: defaults, reason: "\(error)")
        }
        try run.output.writeLine(line)
    case .listing(let members): for line in lines(members, run) { try run.output.writeLine(line) }
    case .document(let json): try run.output.writeLine(json.encoded())
    case .propertyList(let text): try run.output.write(Array(text.utf8))
    }
    return .success
}

/// Prints the names of the suites.
private func listSuites(_ run: inout CommandRun) throws -> ExitStatus {
    let names = try run.openContainer().status().suites.map(\.name).sorted()
    if run.options.isJSON {
        try run.output.writeLine(JSONValue.array(names.map { .string($0) }).encoded())
    } else {
        let isTerminal = StandardOutput.isTerminal
        for name in names {
            try run.output.writeLine(TerminalName.forOutput(Array(name.utf8), isTerminal: isTerminal))
        }
    }
    return .success
}

private func lines(_ members: [String: DefaultsValue], _ run: borrowing CommandRun) -> [String] {
    if run.options.isJSON { return [listing(members).encoded()] }
    let terminal = TerminalText(run.options.color)
    let isShown = terminal.isColored || StandardOutput.isTerminal
    return members.sorted { $0.key < $1.key }.map { key, value in
        let (key, value) = (Array(key.utf8), Array(value.shownText.utf8))
        return isShown
            ? terminal.styled(TerminalName.shown(key), as: .strong) + "\t" + TerminalName.shown(value)
            : PipeText.escaped(key) + "\t" + PipeText.escaped(value)
    }
}

/// Returns all keys and values as one object; a value that has no form in JSON is null.
func listing(_ members: [String: DefaultsValue]) -> JSONValue {
    .object(members.sorted { $0.key < $1.key }.map { ($0.key, (try? $0.value.json()) ?? .null) })
}
