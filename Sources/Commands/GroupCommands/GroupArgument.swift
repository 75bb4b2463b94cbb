import GroupBytes
import GroupCommandLine
import GroupSystemCalls
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

/// A GROUP argument that is something else.
enum GroupArgument {
    /// Returns a usage error with the call that was meant, where GROUP is the path of an item of a container.
    static func explained(_ error: any Error) -> any Error {
        let slash = UInt8(ascii: "/")
        guard let usage = error as? UsageError, let path = usage.groupOfMissingPath else { return error }
        for end in path.indices.reversed() where path[end] == slash && end > 0 {
            let item = Array(path[(end + 1)...])
            let group = Array(path[...end])
            let mark = group + Array(".group".utf8)
            if item.isEmpty || (try? FileDescriptor.open(path: mark, [.pathOnly, .directory])) == nil { continue }
            let words = (usage.commandPath.map { Array($0.utf8) } + [group, item]).map(ShellWords.quoted)
            return UsageError(
                usage.message + "; '\(PipeText.escaped(path))' is an item of a container: "
                    + words.joined(separator: " "),
                commandPath: usage.commandPath)
        }
        return error
    }
}
