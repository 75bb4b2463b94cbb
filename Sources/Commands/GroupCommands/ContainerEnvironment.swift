package import GroupCommandLine

/// The environment variables that decide where the containers of group identifiers are.
package enum ContainerEnvironment {
    package static let variables = [
        HelpEntry("GROUP_CONTAINERS_HOME", "The directory that holds the containers of group identifiers."),
        HelpEntry(
            "XDG_DATA_HOME",
            "If that is not set, containers are in its directory group-containers. A relative path is ignored."),
        HelpEntry("HOME", "If neither is set, containers are in its directory .local/share/group-containers."),
    ]
    package static let color = HelpEntry(
        "NO_COLOR", "If set and not empty, output is not colored, except with --color always.")
    package static let files = [
        HelpEntry(
            "~/.local/share/group-containers/IDENTIFIER", "The default place of a group identifier's container."),
        HelpEntry("CONTAINER/.group", "The container's own files. Other programs must not write there."),
    ]
}
