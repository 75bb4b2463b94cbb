import GroupBytes
package import GroupContainer

extension ContainerName {
    /// Parses a command's GROUP argument: a path if it contains a `/`, else a group identifier.
    package init(argument: [UInt8]) {
        self = argument.contains(UInt8(ascii: "/")) ? .path(argument) : .identifier(printable(argument))
    }
}

extension Container {
    /// Opens the container that a command's GROUP argument names.
    package convenience init(
        named argument: [UInt8], creating: Bool = false, adopting: Bool = false, unixGroup: String? = nil,
        retention: JournalRetention = .standard, timeout: Duration? = Container.openingTimeout
    ) throws(CoordinationError) {
        try self.init(
            ContainerName(argument: argument), creating: creating, adopting: adopting, unixGroup: unixGroup,
            retention: retention, timeout: timeout)
    }
}
