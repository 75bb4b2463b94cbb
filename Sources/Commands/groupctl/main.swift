import GroupCommandLine
import GroupCommands

CommandRun.main(GroupControl.specification) { run in
    run.explainsDiagnostics = true
    return switch run.arguments.subcommands.first {
    case "create": try create(&run)
    case "delete-group": try deleteGroup(&run)
    case "path": try path(&run)
    case "list": try list(&run)
    case "read": try ItemCommands.read(&run)
    case "write": try LocalChanges.commands.write(&run)
    case "update": try LocalChanges.commands.update(&run)
    case "edit": try edit(&run)
    case "mkdir": try LocalChanges.commands.createDirectory(&run)
    case "remove": try LocalChanges.commands.remove(&run)
    case "move": try LocalChanges.commands.move(&run)
    case "copy": try LocalChanges.commands.copy(&run)
    case "lock": try lock(&run)
    case "present": try present(&run)
    case "defaults": try defaults(&run)
    case "channels": try channels(&run)
    case "changes": try changes(&run)
    case "log": try log(&run)
    case "refresh": try refresh(&run)
    case "serve": try serve(&run)
    case "status": try status(&run)
    case "top": try top(&run)
    case "doctor": try doctor(&run)
    default: throw run.arguments.usageError("missing a command: create, list, read, write, …")
    }
}
