import GroupCommandLine
import GroupCommands
import GroupContainer

func deleteGroup(_ run: inout CommandRun) throws -> ExitStatus {
    guard let group = run.arguments.positional("GROUP") else { throw run.arguments.usageError("GROUP is missing") }
    let place = PipeText.escaped(try Container.location(named: group))
    let removal = try ContainerDeletion(named: group)
    let counting = run.progress("counting what is in \(place)")
    let contents = try removal.survey { counting.note(UInt64($0)) }
    counting.end()
    let items = contents.items == 1 ? "1 item" : "\(contents.items) items"
    if !run.arguments.flag("yes") {
        throw run.arguments.usageError(
            "this deletes \(place) for good: \(items), \(contents.bytes) bytes; say --yes if that is meant")
    }
    let deleting = run.progress("deleting \(place)")
    deleting.note(0, of: UInt64(contents.items))
    let isGone = try removal.remove { deleting.advance(by: 1) }
    deleting.end()
    if run.options.isJSON {
        try run.output.writeLine(
            JSONValue.object([
                ("path", .string(PipeText.lossyString(try Container.location(named: group)))),
                ("items", .integer(Int64(contents.items))), ("bytes", .unsigned(contents.bytes)),
                ("directoryRemoved", .bool(isGone)),
            ]).encoded())
    }
    run.explain("\(place) was deleted: \(items), \(contents.bytes) bytes")
    if !isGone { run.explain("the directory itself stays: it may not be removed, or something new is in it") }
    return .success
}
