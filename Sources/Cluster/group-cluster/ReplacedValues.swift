import FoundationEssentials
import GroupBytes
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Files with values of this machine that the cluster has replaced. A value that was set before the machine joined
/// counts only if the cluster has none for its key. A machine that joins another history replaces its values by the
/// same rule.
///
/// The files are in the program's own directory, which no other user can write: `.group/cluster/replaced/DATE`, one for
/// each suite, in the format that `groupctl defaults import` reads. They outlive the membership. Used by the machine's
/// thread.
final class ReplacedValues {
    private let container: Container
    private let report: Report
    private let date = Date().formatted(.iso8601).utf8.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "-") : $0 }

    init(_ container: Container, _ report: Report) { (self.container, self.report) = (container, report) }

    /// Writes values that are about to be replaced to the disk, and reports where they are. Errors: `noSpace`, and
    /// others of the file system
    func note(_ values: [String: DefaultsValue], of suite: String) throws {
        if values.isEmpty { return }
        let own = try PrivateDirectory(StateDirectory.name, in: container).open()
        let path = container.resolvedPath + Array("/.group/\(StateDirectory.name)/replaced/".utf8) + date
        let name = Array(suite.utf8.prefix(200)) + Array(".plist".utf8)
        do throws(Errno) {
            let all = try Self.made(Array("replaced".utf8), in: own)
            let directory = try Self.made(date, in: all)
            var members: [String: DefaultsValue] = [:]
            if let old = try directory.statusIfPresent(of: name), old.isRegularFile {
                let text = try FileDescriptor.content(of: name, in: directory)
                members = (try? PropertyList.members(of: text)) ?? [:]
            }
            members.merge(values) { _, new in new }
            let new = name + Array(".new".utf8)
            let file = try FileDescriptor.createAnew(new, in: directory)
            try file.writeAll(Array(text(of: members, suite).utf8))
            try file.synchronize()
            try directory.rename(new, to: name, in: directory, replacing: true)
            try directory.synchronize()
        } catch {
            throw CoordinationError(error, operation: "keep the values of", item: suite)
        }
        report.note(replaced: path + [UInt8(ascii: "/")] + name)
    }

    private func text(of members: [String: DefaultsValue], _ suite: String) -> String {
        var members = members
        while true {
            do throws(PropertyList.Fault) {
                return try PropertyList.text(of: members)
            } catch {
                // The value cannot be exported either.
                report.log("not kept: the value of the key '\(error.key)' of the suite '\(suite)': \(error.cause)")
                members[error.key] = nil
            }
        }
    }

    /// Opens a directory, which is made if it is missing.
    private static func made(_ name: [UInt8], in parent: borrowing FileDescriptor) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            try parent.createDirectory(name, mode: 0o700)
        } catch {
            if error != .exists { throw error }
        }
        return try FileDescriptor.open(name, in: parent, [.reading, .directory, .notFollowing])
    }
}
