package import GroupSystemCalls

/// A directory that an app process and its widgets, helpers or plug-ins share. However often a process opens it, it is
/// one member of it; it leaves with the last `Container`, or by its death. There is no daemon: the kernel and the files
/// are the runtime.
///
/// Opening waits at most `timeout` for others that open it, which take milliseconds unless one is stopped; for ever
/// with nil. Errors of the initialisers: `lockTimedOut`, which names who is opening it, `notFound`, `invalidArgument`
/// (a malformed identifier), `notPermitted`, `damaged`, `newerFormat`, `olderFormat`, `unsupportedFileSystem`,
/// `noSpace`. Where this process may only read it, it can be opened all the same, unless with `creating`: see
/// `isReadOnly`.
public final class Container: Sendable {
    let member: Member

    /// How long opening waits unless told: 30 s.
    public static let openingTimeout = Duration.seconds(30)

    /// Another one of a member.
    init(_ member: Member) { self.member = member }

    /// Opens the container of a group identifier, such as `group.com.example.todo`. With `creating` it is made if it
    /// does not exist: for the user alone (mode 0700), or, with `unixGroup`, for that Unix group (2770, setgid).
    /// `retention` is of a container that is made now.
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

    /// Opens the container at a path.
    public convenience init(
        path: String, creating: Bool = false, unixGroup: String? = nil, retention: JournalRetention = .standard,
        timeout: Duration? = Container.openingTimeout
    ) throws(CoordinationError) {
        try self.init(Array(path.utf8), nil, creating, unixGroup, retention, timeout)
    }

    /// What a command's GROUP argument names: a path if there is a `/` in it, else an identifier.
    public convenience init(
        named name: [UInt8], creating: Bool = false, unixGroup: String? = nil, retention: JournalRetention = .standard,
        timeout: Duration? = Container.openingTimeout
    ) throws(CoordinationError) {
        try self.init(
            try Self.location(named: name), name.contains(UInt8(ascii: "/")) ? nil : printable(name), creating,
            unixGroup, retention, timeout)
    }

    private init(
        _ path: [UInt8], _ identifier: String?, _ creating: Bool, _ unixGroup: String?, _ retention: JournalRetention,
        _ timeout: Duration?
    ) throws(CoordinationError) {
        var creation = creating ? Member.Creation(identifier: identifier, retention: retention) : nil
        if let unixGroup {
            if identifier != nil { try ContainerLocation.checkIsFoundByOthers(unixGroup) }
            guard let number = groupNumber(named: unixGroup) else {
                throw CoordinationError(
                    .invalidArgument, item: printable(path), operation: "create",
                    cause: "there is no Unix group of that name: '\(printable(Array(unixGroup.utf8)))'",
                    advice: "getent group shows those that there are")
            }
            creation?.unixGroup = number
        }
        if path.contains(0) || path.isEmpty {
            throw CoordinationError(
                .invalidArgument, item: printable(path), operation: "open",
                cause: "a path is not empty and has no NUL byte")
        }
        do throws(CoordinationError) {
            member = try Member.join(path: path, creating: creation, until: Deadline(after: timeout))
        } catch {
            throw OpeningErrors.withoutProc(error) ?? ContainerLocation.hinting(error, identifier)
        }
    }

    /// Where the container that a GROUP argument names is, or would be. No I/O.
    public static func location(named name: [UInt8]) throws(CoordinationError) -> [UInt8] {
        name.contains(UInt8(ascii: "/")) ? name : try ContainerLocation.path(ofGroup: printable(name))
    }

    /// `./NAME` where a GROUP argument is a group identifier, and a directory here of that name is a container, too.
    package static func namesake(of name: [UInt8]) -> String? {
        name.contains(UInt8(ascii: "/")) ? nil : ContainerLocation.here(printable(name))
    }

    /// The root directory, as it was named. Members keep their own files in it, in any layout, outside `.group`.
    public var path: ItemPath { ItemPath(bytes: member.directory.path) }

    /// The group identifier that it was created by, if any.
    public var identifier: String? { member.format.identifier }

    /// Asks for access on behalf of `purpose`: what this process says it is, in the journal and in others' errors.
    public func coordinator(purpose: String) -> Coordinator {
        member.memberTable.setPurpose(purpose)
        return Coordinator(member: member, purpose: purpose)
    }
}

extension Container {
    /// From the root of all files, also where it was named from the working directory: for a program that somebody
    /// starts later, from another one. System calls: open(2), readlink(2)
    package func wholePath() throws(Errno) -> String { String(decoding: try wholePathBytes(), as: UTF8.self) }

    /// The same for a command that may go to another working directory; as it was named, where the kernel does not say
    /// it.
    package var pathForCommands: [UInt8] { (try? wholePathBytes()) ?? path.bytes }

    private func wholePathBytes() throws(Errno) -> [UInt8] {
        try FileDescriptor.open(path: path.bytes, [.placeOnly, .directory]).absolutePath()
    }
}
