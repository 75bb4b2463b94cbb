import FoundationEssentials
import GroupBytes
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Files with values of this machine that the cluster has replaced. A value that was set before the machine joined
/// counts only if the cluster has none for its key. The same holds when a machine joins another history.
///
/// The files are beside the container, in `CONTAINER.replaced/DATE`, one for each suite, in the format that `groupctl
/// defaults import` reads. If this user may not write there, they are in the program's directory below `.group`. Used
/// by the machine's thread.
final class ReplacedValues {
    private let container: Container
    private let report: Report
    private let date = Date().formatted(.iso8601).utf8.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "-") : $0 }

    init(_ container: Container, _ report: Report) { (self.container, self.report) = (container, report) }

    /// Writes values that are about to be replaced to the disk, and reports where they are. Errors: `noSpace`, and
    /// others of the file system
    func note(_ values: [String: DefaultsValue], of suite: String) throws {
        if values.isEmpty { return }
        let path = try place()
        let name = Array("\(suite).plist".utf8)
        do throws(Errno) {
            let directory = try FileDescriptor.open(path: path, [.reading, .directory, .notFollowing])
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

    /// Returns the directory of this run. Makes it, for this user only, if it is missing.
    private func place() throws(CoordinationError) -> [UInt8] {
        do throws(Errno) {
            return try Self.made(container.resolvedPath + Array(".replaced".utf8), date)
        } catch {
            let isClosed = error == .accessDenied || error == .notPermitted || error == .readOnly
            if !isClosed { throw failure(error) }
        }
        do throws(Errno) {
            return try Self.made(
                container.resolvedPath + Array("/.group/\(StateDirectory.name)/replaced".utf8), date)
        } catch {
            throw failure(error)
        }
    }

    private static func made(_ directory: [UInt8], _ name: [UInt8]) throws(Errno) -> [UInt8] {
        let path = directory + [UInt8(ascii: "/")] + name
        for path in [directory, path] {
            do throws(Errno) {
                try FileDescriptor.createDirectory(path: path, mode: 0o700)
            } catch {
                if error != .exists { throw error }
            }
        }
        return path
    }

    private func failure(_ error: Errno) -> CoordinationError {
        CoordinationError(error, operation: "keep values that the cluster replaces", item: nil)
    }
}
