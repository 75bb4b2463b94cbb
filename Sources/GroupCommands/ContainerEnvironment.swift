package import GroupCommandLine

/// The environment variables that decide where the containers of group identifiers are.
package enum ContainerEnvironment {
    package static let variables = [
        HelpEntry("GROUP_CONTAINERS_HOME", "The directory that holds the containers of group identifiers."),
        HelpEntry(
            "XDG_DATA_HOME", "Where that is not set: its group-containers; ignored where it is no absolute path."),
        HelpEntry("HOME", "Where neither is set: its .local/share/group-containers."),
    ]
}
