import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

/// Prints what is wrong with a container; with `--repair`, repairs what can be repaired, and prints what is left.
func doctor(_ run: inout CommandRun) throws -> ExitStatus {
    guard let group = run.arguments.positional("GROUP") else { throw run.arguments.usageError("GROUP is missing") }
    let doctor = try ContainerCheck(ContainerName(argument: group))
    let repairs = run.arguments.flag("repair")
    let name = PipeText.escaped(group)
    let progress = run.progress("checking \(name)")
    let note = { (what: String) in progress.show("\(name): \(what)") }
    let (repaired, left) = repairs ? try doctor.repair(note) : ([], doctor.examine(note))
    progress.end()
    for finding in repaired { try printFinding(finding, isRepaired: true, &run) }
    for finding in left { try printFinding(finding, isRepaired: false, &run) }
    let isHealthy = left.allSatisfy { $0.severity == .note }
    if isHealthy && !run.options.isJSON { try run.output.writeLine("healthy") }
    return isHealthy ? .success : .failure
}

private func printFinding(_ finding: Finding, isRepaired: Bool, _ run: inout CommandRun) throws {
    if run.options.isJSON {
        try run.output.writeLine(json(finding, isRepaired: isRepaired).encoded())
        return
    }
    let text = TerminalText(run.options.color)
    let role: TerminalText.Role = isRepaired ? .created : finding.severity == .note ? .faint : .error
    let item = finding.item.map { shown($0) + ": " } ?? ""
    let title = (isRepaired ? "repaired" : finding.severity.rawValue).padded(to: 9)
    try run.output.writeLine(text.styled(title, as: role) + item + shown(finding.what))
    if isRepaired {
        try run.output.writeLine("         " + shown(finding.repaired ?? ""))
        return
    }
    try run.output.writeLine("         why it matters: " + shown(finding.why))
    try run.output.writeLine("         what to do: " + shown(finding.remedy))
}

/// Returns the text without what a terminal obeys, because it may contain texts from other processes. Names in it are
/// escaped already.
private func shown(_ text: String) -> String {
    TerminalText.message(text, isForTerminal: StandardOutput.isTerminal)
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

private func json(_ finding: Finding, isRepaired: Bool) -> JSONValue {
    .object([
        ("code", .string(finding.name)), ("severity", .string(finding.severity.rawValue)),
        ("item", finding.item.map(JSONValue.string) ?? .null),
        ("pid", finding.process.map { .integer(Int64($0)) } ?? .null), ("what", .string(finding.what)),
        ("why", .string(finding.why)), ("remedy", .string(finding.remedy)),
        ("repairable", .bool(finding.repaired != nil)), ("repaired", .bool(isRepaired)),
        ("done", isRepaired ? finding.repaired.map(JSONValue.string) ?? .null : .null),
    ])
}
