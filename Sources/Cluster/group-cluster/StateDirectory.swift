import GroupContainer
import GroupSystemCalls

/// The directory `.group/cluster`, which has the program's state. Only the program's user may enter it. The state has
/// the addresses of etcd and the names of the files with the password and the authority's certificate. Another user who
/// could write it could have this user's password, or any other file of this user, sent to any address.
///
/// In a container that a Unix group shares, earlier versions made the directory for the group. Such a directory is
/// closed, and stays untrusted until this user has stated the options once more:
///
///     02770, with a state ──▶ 03700: closed, files copied, as other users may have them open ── `trust` ──▶ 02700
///
/// If another user has put a directory in its place, that directory belongs to the other user, and is refused.
final class StateDirectory {
    static let name = "cluster"
    private let descriptor: FileDescriptor
    /// Whether no other user can have written what is in the directory.
    private(set) var isTrusted = true

    /// The sticky bit, which marks an untrusted directory. The bit has no other effect if only one user may write
    /// there.
    private static let mark: UInt32 = 0o1000
    private static let untrusted: UInt32 = mark | 0o022
    private static let files = ["state", "state-wal", "state-journal"]

    /// Opens the directory, and closes it to all other users. Makes it if it is missing. Error: `notPermitted` for a
    /// directory of another user
    init(_ container: Container) throws(CoordinationError) {
        // `open` alone would make the directory for the Unix group. Errors of this call are left to `open`, which meets
        // them again.
        try? FileDescriptor.createDirectory(
            path: container.resolvedPath + Array("/.group/\(Self.name)".utf8), mode: 0o700)
        descriptor = try PrivateDirectory(Self.name, in: container).open()
        do throws(Errno) {
            isTrusted = try Self.close(descriptor)
        } catch {
            throw Self.error(error, (try? descriptor.status())?.owner, container)
        }
    }

    /// Takes all permissions of other users from the directory. Returns whether no other user can have written the
    /// state.
    private static func close(_ directory: borrowing FileDescriptor) throws(Errno) -> Bool {
        let status = try directory.status()
        if status.owner != effectiveUser() { throw .notPermitted }
        let closed = status.permissions & 0o2000 | 0o700
        var mode = closed
        if status.permissions & untrusted != 0 {
            try directory.setMode(closed | mark)
            for name in files.map({ Array($0.utf8) }) where try directory.statusIfPresent(of: name) != nil {
                mode = closed | mark
                try copy(name, in: directory)
            }
        }
        if mode != status.permissions { try directory.setMode(mode) }
        return mode & mark == 0
    }

    private static func error(_ errno: Errno, _ owner: UInt32?, _ container: Container) -> CoordinationError {
        let item = ".group/\(name)"
        guard let owner, owner != effectiveUser() else {
            return CoordinationError(errno, operation: "open", item: item)
        }
        return CoordinationError(
            .notPermitted, operation: "open", item: item, containerPath: "\(container.path)",
            reason: "the directory belongs to user \(owner), and this program runs as user \(effectiveUser()); the "
                + "addresses of etcd and the name of the password's file are kept there, and no other user may "
                + "choose them",
            remedy: .init(
                .init(rawValue: "runAsOwner"),
                "run the program as that user; or, if you do not know how the directory came there, rename it, "
                    + "and join again"))
    }

    /// Replaces a file by a copy, since another user may have it open for writing, or may have given it another name.
    private static func copy(_ name: [UInt8], in directory: borrowing FileDescriptor) throws(Errno) {
        // An item of another type is refused when the database is opened.
        if try !directory.status(of: name).isRegularFile { return }
        let new = Array("new.".utf8) + name
        let source = try FileDescriptor.open(name, in: directory, [.reading, .notFollowing])
        let copy = try FileDescriptor.createAnew(new, in: directory)
        try copy.copyContent(of: source)
        try copy.synchronizeData()
        try directory.rename(new, to: name, in: directory, replacing: true)
    }

    /// Notes that this user has stated all options.
    func trust() throws(CoordinationError) {
        if isTrusted { return }
        do throws(Errno) {
            try descriptor.setMode(try descriptor.status().permissions & ~Self.mark)
        } catch {
            throw CoordinationError(error, operation: "change the mode of", item: ".group/\(Self.name)")
        }
        isTrusted = true
    }

    /// The error for a state that another user may have written.
    static var isNotTrusted: CoordinationError {
        CoordinationError(
            .notPermitted, operation: "use", item: ".group/\(Self.name)",
            reason: "other users could write it until now, and have the password sent to any address",
            remedy: .init(
                .init(rawValue: "joinAgain"),
                "state the options of this machine once more: --name and --etcd, and --user, --password-file, "
                    + "--authority and --budget where it has them"))
    }
}
