import GroupCommandLine
import GroupCommands
import GroupManifests
import GroupWidgetHosting

private func kinds(_ point: CompletionPoint) -> [String]? {
    switch point.expected {
    case .value(let option) where option.name == "show": break
    case .positional(let positional) where positional.name == "KIND": break
    default: return nil
    }
    let directory = point.options.last { $0.name == "widgets" }?.value.validText
    return ManifestDirectories<WidgetManifest>(directory).read().manifests.map(\.kind).sorted()
}

CommandRun.main(widgetHostSpecification, completing: kinds) { run in
    switch run.arguments.subcommands.first {
    case "show": try show(&run)
    case "run": try runAlone(&run)
    case "list": try list(&run)
    case "add", "remove", "order": try edit(&run)
    default: throw run.arguments.usageError("missing a command: show, run, list, add, remove or order")
    }
}
