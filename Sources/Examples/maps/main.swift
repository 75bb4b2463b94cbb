import GroupCommandLine
import GroupCommands
import GroupContainer
import MapsShared
import GroupSystemCalls
import WidgetApp

// The app of the maps. When a map has arrived, the app is started by its URL, and shows the map: here, the list notes
// that.

private let specification = CommandSpecification(
    name: "maps", summary: "Maps that a widget has loaded.",
    usage: ["maps [--group GROUP] install | want NAME URL | list | wait NAME | open"],
    options: [
        .value("group", letter: "g", "GROUP", help: "The container; the default is \(Maps.group).")
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    subcommands: [
        CommandSpecification(
            name: "install", summary: "Registers the app, which is started by its URLs then.", usage: ["maps install"]),
        CommandSpecification(
            name: "want", summary: "Puts a map on the list.", usage: ["maps want NAME URL"],
            positionals: [
                PositionalSpecification("NAME", help: "Its name."),
                PositionalSpecification("URL", help: "Its address."),
            ]),
        CommandSpecification(name: "list", summary: "Prints the maps.", usage: ["maps list"]),
        CommandSpecification(
            name: "wait", summary: "Waits until the app has shown a map.", usage: ["maps wait NAME"],
            positionals: [PositionalSpecification("NAME", help: "Its name.")]),
        CommandSpecification(
            name: "open", summary: "Opens the URLs of maps until none has come for 5 s.", usage: ["maps open"]),
    ],
    examples: [HelpEntry("maps want town http://localhost:8000/town.map", "")])

CommandRun.main(specification) { run in
    let group = run.arguments.value("group") ?? Array(Maps.group.utf8)
    let container = run.use(try Container(named: group, creating: true))
    let maps = try Maps(in: container)
    let operands = run.arguments.positionals.compactMap(\.validText)
    if operands.count < run.arguments.positionals.count { throw run.arguments.usageError("NAME and URL are UTF-8") }
    switch run.arguments.subcommands.first {
    case "install": _ = try links(container)
    case "want":
        guard operands.count == 2, Maps.path(operands[0]) != nil else {
            throw run.arguments.usageError("name the map and its address; a name has no '/'")
        }
        try maps.want(operands[0], from: operands[1])
    case "list":
        for map in try maps.all() {
            try run.output.writeLine(TerminalName.line(of: [map.name, maps.text(map), map.isShown ? "shown" : ""]))
        }
    case "wait":
        var changes = try container.follow(since: .now, matching: ["\(Maps.list)"])
        while try !maps.all().contains(where: { $0.name == operands.first && $0.isShown }) {
            _ = try changes.next(timeout: nil)
        }
    case "open":
        let (links, signals) = (try links(container), TerminationSignals())
        while try links.openNext(timeout: .seconds(5), until: { signals.received != nil }, { _ in _ = try maps.show() })
        {}
    default: throw run.arguments.usageError("missing a command: install, want, list, wait or open")
    }
    return .success
}

private func links(_ container: Container) throws -> AppLinks {
    try AppLinks(container, scheme: Maps.scheme, arguments: ["--group", container.path.description, "open"])
}
