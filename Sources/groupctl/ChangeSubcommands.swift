import GroupCommandLine
import GroupCommands
import GroupContainer

func makeFolder(_ run: inout CommandRun) throws -> ExitStatus {
    let (path, timeout) = (try run.itemPath(), run.leaseTimeout)
    let outcome = try coordinator(run).makeFolder(path, durability(run), timeout: timeout)
    return try tell("created", outcome, path, &run)
}

func remove(_ run: inout CommandRun) throws -> ExitStatus {
    let (path, timeout) = (try run.itemPath(), run.leaseTimeout)
    let generation = try coordinator(run).remove(
        path, recursively: run.arguments.flag("recursive"), durability(run), timeout: timeout)
    return try tell("removed", .written(generation), path, &run)
}

func move(_ run: inout CommandRun) throws -> ExitStatus {
    let (from, to, timeout) = (try run.itemPath("FROM"), try run.itemPath("TO"), run.leaseTimeout)
    let generation = try coordinator(run).move(
        from, to: to, replacing: !run.arguments.flag("no-replace"), durability(run), timeout: timeout)
    return try tell("moved", .written(generation), to, from: from, &run)
}

func copy(_ run: inout CommandRun) throws -> ExitStatus {
    let (from, to, timeout) = (try run.itemPath("FROM"), try run.itemPath("TO"), run.leaseTimeout)
    let outcome = try coordinator(run).copy(
        from, to: to, recursively: run.arguments.flag("recursive"), replacing: !run.arguments.flag("no-replace"),
        durability(run), timeout: timeout)
    return try tell("copied", outcome, to, from: from, &run)
}

private func coordinator(_ run: borrowing CommandRun) throws -> BlockingCoordinator {
    try run.openContainer().coordinator(purpose: run.options.purpose).blocking
}

private func tell(
    _ done: String, _ outcome: WriteOutcome, _ path: ItemPath, from: ItemPath? = nil, _ run: inout CommandRun
) throws -> ExitStatus {
    var generation: UInt64?
    if case .written(let number) = outcome { generation = number }
    if run.options.isJSON {
        var fields: [(String, JSONValue)] = [("path", .string(PipeText.lossyString(path.bytes)))]
        if let from { fields.append(("from", .string(PipeText.lossyString(from.bytes)))) }
        fields += [
            ("outcome", .string(generation == nil ? "unchanged" : done)),
            ("generation", generation.map(JSONValue.unsigned) ?? .null),
        ]
        try run.output.writeLine(JSONValue.object(fields).encoded())
    }
    let how = from.map { " from '\($0)'" } ?? ""
    run.explain(generation.map { "'\(path)' was \(done)\(how), at generation \($0)" } ?? "'\(path)' was so already")
    return generation == nil && run.arguments.flag("exit-code") ? .unchanged : .success
}
