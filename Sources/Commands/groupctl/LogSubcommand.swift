import GroupCommandLine
import GroupCommands
import GroupContainer

/// Prints the history of an item, the oldest change first: also under the names that it had before.
func log(_ run: inout CommandRun) throws -> ExitStatus {
    let text = try ChangeText(run, times: .relative, isHistory: true)
    let (item, limit) = (try run.itemPath(), try run.arguments.positiveNumber("count"))
    let path = ItemPath(bytes: ItemCommands.withoutSlash(item.bytes))
    let container = try run.openContainer()
    // A damaged journal ends the comparison; its intact records are printed nonetheless.
    let comparison = Result { try container.noteUncoordinatedChanges() }
    let history = try container.history(of: path)
    let shown = history.changes.suffix(limit ?? .max)
    if !shown.isEmpty {
        try run.paged { run in
            for (change, cursor) in shown { try run.output.write(text.line(change, cursor: cursor)) }
        }
    }
    try comparison.get()
    if history.changes.isEmpty {
        throw CoordinationError(
            .notFound, operation: "show the history of", item: path.description,
            containerPath: container.path.description,
            reason: history.isComplete ? "it has no change" : "the journal has no change of it any more",
            remedy: .ofCommand(
                container.nearMiss(of: path.bytes)
                    ?? "groupctl list shows what is there, groupctl changes --since start what has changed"))
    }
    if !history.isComplete && history.changes.first?.change.kind != .created {
        run.explain("the journal keeps no older changes")
    }
    return .success
}
