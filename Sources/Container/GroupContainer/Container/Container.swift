import GroupLocking
import GroupBytes
import GroupSystemCalls

/// A directory that an app process and its widgets, helpers or plug-ins share. However often a process opens the
/// container, the process is one member of it, until its last `Container` is released or the process dies. There is no
/// daemon: the kernel and the files are the runtime.
///
/// Opening waits at most `timeout` for other processes that are opening the container, which takes milliseconds unless
/// one of them is stopped; with nil it waits without limit. Where this process may only read the container, it can be
/// opened all the same, except with `creating`: see `isReadOnly`.
///
/// Errors of the initializers: `lockTimedOut`, which names the process that is opening it, `notFound`,
/// `invalidArgument` (a malformed identifier), `notPermitted`, `damaged`, `newerFormat`, `olderFormat`,
/// `unsupportedFileSystem`, `noSpace`.
public final class Container: Sendable {
    package let opened: OpenContainer

    /// The default time that opening waits: 30 s.
    public static let openingTimeout = Duration.seconds(30)

    /// Creates another object for a member.
    init(_ opened: OpenContainer) { self.opened = opened }

    /// Opens the container of a group identifier, such as `group.com.example.todo`. With `creating` the container is
    /// created if it does not exist: for the user alone (mode 0700), or, with `unixGroup`, for that Unix group (2770,
    /// setgid). `retention` applies only to a container that is created now.
    public convenience init(
        group identifier: String, creating: Bool = false, unixGroup: String? = nil,
        retention: JournalRetention = .standard, timeout: Duration? = Container.openingTimeout
    ) throws(CoordinationError) {
        try self.init(
            try ContainerLocation.path(ofGroup: identifier), identifier, creating, unixGroup, retention, timeout)
    }

    /// Opens the container of a group identifier in another directory than the environment's.
    package convenience init(
        group identifier: String, below home: String, creating: Bool
    ) throws(CoordinationError) {
        let path = try ContainerLocation.path(ofGroup: identifier, in: home)
        try self.init(path, identifier, creating, nil, .standard, Self.openingTimeout)
    }

    /// Opens the container at a path. With `creating` the container is created if it does not exist, in a directory of
    /// its own: one that is made now, or an empty one of this user. With `adopting`, a directory of this user with
    /// contents becomes the container, too, and its files become items.
    ///
    /// Errors: `notPermitted` for the root directory, the home directory, a directory of another user and one with the
    /// sticky bit, such as `/tmp`, which no container takes over; `notEmpty` for a directory with contents without
    /// `adopting`
    public convenience init(
        path: String, creating: Bool = false, adopting: Bool = false, unixGroup: String? = nil,
        retention: JournalRetention = .standard, timeout: Duration? = Container.openingTimeout
    ) throws(CoordinationError) {
        try self.init(Array(path.utf8), nil, creating, unixGroup, retention, timeout, adopting: adopting)
    }

    /// Opens the container at a path that need not be text. See
    /// `init(path:creating:adopting:unixGroup:retention:timeout:)`.
    public convenience init(
        path: AbsolutePath, creating: Bool = false, adopting: Bool = false, unixGroup: String? = nil,
        retention: JournalRetention = .standard, timeout: Duration? = Container.openingTimeout
    ) throws(CoordinationError) {
        try self.init(path.bytes, nil, creating, unixGroup, retention, timeout, adopting: adopting)
    }

    /// Opens the container of a name.
    package convenience init(
        _ name: ContainerName, creating: Bool = false, adopting: Bool = false, unixGroup: String? = nil,
        retention: JournalRetention = .standard, timeout: Duration? = Container.openingTimeout
    ) throws(CoordinationError) {
        try self.init(
            try name.location(), name.identifier, creating, unixGroup, retention, timeout, adopting: adopting)
    }

    private init(
        _ path: [UInt8], _ identifier: String?, _ creating: Bool, _ unixGroup: String?, _ retention: JournalRetention,
        _ timeout: Duration?, adopting: Bool = false
    ) throws(CoordinationError) {
        var creation = creating ? Membership.Creation(identifier: identifier, retention: retention) : nil
        creation?.isAdopting = adopting
        if let unixGroup {
            if identifier != nil { try ContainerLocation.checkIsFoundByOthers(unixGroup) }
            guard let number = groupNumber(named: unixGroup) else {
                throw CoordinationError(
                    .invalidArgument, operation: "create", item: printable(path),
                    reason: "there is no Unix group of that name: '\(printable(Array(unixGroup.utf8)))'",
                    remedy: .init(.checkUnixGroup, "check the name of the Unix group"))
            }
            creation?.unixGroup = number
        }
        if path.contains(0) || path.isEmpty {
            throw CoordinationError(
                .invalidArgument, operation: "open", item: printable(path),
                reason: "a path is not empty, and has no NUL byte")
        }
        do throws(CoordinationError) {
            opened = try Membership.join(path: path, creating: creation, until: Deadline(after: timeout))
        } catch {
            throw OpeningErrors.withoutProc(error)
                ?? OpeningErrors.knowingInodes(ContainerLocation.hinting(error, identifier), at: path).located(in: path)
        }
    }

    /// Returns what this process could not remove from staging since the last call, as sentences.
    package func takeLeftInStaging() -> [String] {
        opened.leftInStaging.withLock { left in
            defer { left = [] }
            return left
        }
    }

    /// The absolute path at which the container is now, without symbolic links. System calls: readlinkat(2)
    package var resolvedPath: [UInt8] { opened.directory.resolvedPath }

    /// The absolute path at which the container was opened, also where it was named relative to the working directory.
    public var path: AbsolutePath { opened.directory.absolutePath }

    /// The group identifier with which the container was created, if any.
    public var groupIdentifier: String? { opened.format.identifier }

    /// Checks that the container was neither removed nor moved since it was opened. Error: `notFound`, which names the
    /// path that it has now. Nine system calls.
    package func checkIsInPlace(_ operation: String) throws(CoordinationError) { try opened.checkIsThere(operation) }
}
