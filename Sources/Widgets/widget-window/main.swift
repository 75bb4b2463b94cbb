import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupManifests
import GroupSystemCalls
import GroupWidgetHosting

// A host that shows the widgets of a container as cards of a window.

private let specification = CommandSpecification(
    name: "widget-window", summary: "Shows the widgets of a group container as cards of a window.",
    usage: ["widget-window GROUP [options]"],
    options: [
        .value("widgets", "DIR", help: "The directory of the manifests, *.json, instead of the usual ones."),
        .value("opener", "COMMAND", help: "The command that opens an address; the default is xdg-open."),
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    positionals: [
        PositionalSpecification(
            "GROUP", help: "A group identifier or, if it contains a '/', the path of a container.")
    ],
    description: [
        "The window has what widget-host(1) shows in a terminal: a card for each widget, which is live, and whose buttons and toggles are pressed by the pointer or the keyboard. The menu of a card expands, moves, reloads and removes it; the button at the top adds a widget. Both commands have the same list.",
        "Widgets whose cards are scrolled out of sight are stopped, as are all of them while the window is minimized; they go on, with what has changed meanwhile, when they are seen again. The window is dark where the desktop prefers that, and its text is as large as the desktop's.",
    ],
    environment: ContainerEnvironment.variables + [
        HelpEntry("DISPLAY, WAYLAND_DISPLAY", "The display of the desktop."),
        HelpEntry("XDG_CONFIG_HOME, XDG_DATA_DIRS", "The directories of the manifests, unless --widgets is given."),
        HelpEntry("XDG_STATE_HOME", "The directory of the lists of shown widgets. The default is ~/.local/state."),
    ],
    files: [
        HelpEntry("DIR/*.json", "A manifest for each widget: its kind, its program, its interests."),
        HelpEntry(
            "$XDG_STATE_HOME/widget-host/ID.json", "The list of a container's widgets that are shown to this user."),
    ],
    seeAlso: ["widget-host(1)", "groupctl(1)"],
    examples: [HelpEntry("widget-window --widgets ./widgets ./shared/", "Shows the widgets of a container.")],
    exitStatuses: [
        HelpEntry("0", "the window was closed"), HelpEntry("1", "the window could not be opened"),
        HelpEntry("64", "wrong usage"),
        HelpEntry("65", "the container, a manifest or the list is damaged"), HelpEntry("66", "no such group"),
        HelpEntry("69", "the program was built without the trait GTK, or the file system is not supported"),
        HelpEntry("74", "input/output error"), HelpEntry("75", "a lock was not granted in time"),
        HelpEntry("77", "not permitted"),
        HelpEntry("128+n", "ended by signal n, after the widgets"),
    ])

CommandRun.main(specification, needing: [.gtk]) { run in
    // Signals come to this queue: threads that are started before it would receive them with their usual effect.
    let signals = try SignalQueue([.child, .userTwo, .interrupt, .terminate, .hangup, .quit])
    let container = try run.openContainer()
    _ = container.coordinator(purpose: run.options.purpose)
    var settings = try HostSettings(
        container, directories: ManifestDirectories<WidgetManifest>(run.arguments.text("widgets")))
    settings.options.rooms = WindowFrontEnd.rooms
    if let opener = try run.arguments.text("opener") { settings.opener = opener }
    let window = try Window(title: "Today")
    var host = try WidgetHost(
        container, settings, signals: signals,
        frontEnd: WindowFrontEnd(window, container, settings, isVerbose: run.options.isVerbose))
    return try host.run().map { .signal($0) } ?? .success
}
