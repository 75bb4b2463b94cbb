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
}
