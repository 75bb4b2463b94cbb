import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

func deleteGroup(_ run: inout CommandRun) throws -> ExitStatus {
    guard let group = run.arguments.positional("GROUP") else { throw run.arguments.usageError("GROUP is missing") }
    let path = try ContainerName(argument: group).location()
    let name = PipeText.escaped(path)
    let removal = try ContainerDeletion(ContainerName(argument: group))
    let counting = run.progress("counting the items of \(name)")
    let contents = try removal.survey { counting.note(UInt64($0)) }
    counting.end()
    let items = contents.items == 1 ? "1 item" : "\(contents.items) items"
    if !run.arguments.flag("yes") {
        throw run.arguments.usageError(
            "this deletes \(name) permanently: \(items), \(contents.bytes) bytes; confirm with --yes")
    }
    let deleting = run.progress("deleting \(name)")
    deleting.note(0, of: UInt64(contents.items))
    let isGone = try removal.remove { deleting.advance(by: 1) }
    deleting.end()
    if run.options.isJSON {
        try run.output.writeLine(
            JSONValue.object([
                ("path", .string(PipeText.lossyString(path))),
                ("items", .integer(Int64(contents.items))), ("bytes", .unsigned(contents.bytes)),
                ("directoryRemoved", .bool(isGone)),
            ]).encoded())
    }
    run.explain("\(name) was deleted: \(items), \(contents.bytes) bytes")
    if !isGone { run.complain("\(name) itself remains: this user may not remove it, or something new is in it") }
    return .success
}
