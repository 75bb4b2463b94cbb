import GroupCommandLine
import GroupCommands

CommandRun.main(widgetHostSpecification) { run in
    switch run.arguments.subcommands.first {
    case "show": try show(&run)
    case "run": try runAlone(&run)
    case "list": try list(&run)
    case "add", "remove", "order": try edit(&run)
    default: throw run.arguments.usageError("say show, run, list, add, remove or order")
    }
}
