/// The name of a container: a group identifier, or a path.
package enum ContainerName: Sendable {
    case identifier(String)
    case path([UInt8])

    /// Returns the path where the container is, or would be. Error: `invalidArgument` for a malformed identifier
    package func location() throws(CoordinationError) -> [UInt8] {
        switch self {
        case .identifier(let identifier): try ContainerLocation.path(ofGroup: identifier)
        case .path(let path): path
        }
    }

    /// `./NAME` where the name is an identifier and the working directory has a container of that name, too.
    package var namesake: String? { identifier.flatMap(ContainerLocation.here) }

    var identifier: String? {
        if case .identifier(let identifier) = self { identifier } else { nil }
    }

    var bytes: [UInt8] {
        switch self {
        case .identifier(let identifier): Array(identifier.utf8)
        case .path(let path): path
        }
    }
}
