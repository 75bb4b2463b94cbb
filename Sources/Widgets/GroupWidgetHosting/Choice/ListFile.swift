import GroupCommandLine
package import GroupContainer
import GroupManifests
import GroupSystemCalls

/// The file of a user's choice of widgets: one for each container, outside of the container, as others share the
/// container, and it may be copied or restored while the choice stays.
package struct ListFile: Sendable {
    /// The file's directory; nil if the user has none. Then all widgets are shown, and no choice can be stored.
    private let directory: String?
    private let name: String

    /// The file cannot be read or written, or is damaged.
    package struct Fault: Error, CustomStringConvertible, Sendable {
        package let description: String
    }

    /// Finds the file for a container, in `$XDG_STATE_HOME/widget-host`, else `~/.local/state/widget-host`.
    package init(for container: Container) throws {
        let identifier = try container.status().containerIdentifier
        let home: String
        if let state = environmentValue("XDG_STATE_HOME"), state.hasPrefix("/") {
            home = state
        } else if let user = environmentValue("HOME"), user.hasPrefix("/") {
            home = user + "/.local/state"
        } else {
            directory = nil
            name = identifier + ".json"
            return
        }
        directory = home + "/widget-host"
        name = identifier + ".json"
    }

    package var path: String? { directory.map { "\($0)/\(name)" } }

    /// The path to watch for changes of the list; empty if there is none.
    var watchedPaths: [[UInt8]] { path.map { [Array($0.utf8)] } ?? [] }

    var identity: FileIdentity? { path.flatMap { FileIdentity(path: Array($0.utf8)) } }

    /// Reads the list. A missing file means that the user has not chosen.
    package func read() throws(Fault) -> ShownList {
        guard let path else { return ShownList() }
        let content: [UInt8]
        do throws(Errno) {
            let file = try FileDescriptor.open(path: Array(path.utf8), [.reading, .nonBlocking])
            content = try file.readAll(limit: 1 << 20)
        } catch {
            if error == .noSuchEntry || error == .notADirectory { return ShownList() }
            throw Fault(description: "cannot read '\(path)': \(error)")
        }
        guard let fields = try? ManifestFields(content, path, deepest: 4) else {
            throw damaged(path, "it is not a JSON object")
        }
        do throws(ManifestError) {
            if let version = try fields.number("version", 1...Int(Int32.max)), version > 1 {
                throw fields.error("version", "it is newer than this program's")
            }
            return ShownList(try fields.texts("shown"), expanded: Set(try fields.texts("expanded") ?? []))
        } catch {
            throw damaged(path, "\(error.field ?? ""): \(error.cause)")
        }
    }

    private func damaged(_ path: String, _ cause: String) -> Fault {
        Fault(description: "'\(path)' cannot be used: \(cause); remove the file to show all widgets again")
    }

    /// Writes the list: the file changes as a whole or not at all. Errors: `Fault` with the reason.
    package func write(_ list: ShownList) throws(Fault) {
        guard let directory, let path else {
            throw Fault(description: "neither XDG_STATE_HOME nor HOME is set, so the list of widgets cannot be kept")
        }
        let shown = list.chosen.map { JSONValue.array($0.map(JSONValue.string)) } ?? .null
        let content = JSONValue.object([
            ("version", 1), ("shown", shown), ("expanded", .array(list.expanded.sorted().map(JSONValue.string))),
        ])
        do throws(Errno) {
            try UserFile.replace(
                name, in: directory, by: Array((content.encoded() + "\n").utf8), isSynchronized: true)
        } catch {
            throw Fault(description: "cannot write '\(path)': \(error)")
        }
    }

    /// The files of the widgets' last views, beside the list.
    var views: ViewFiles { ViewFiles(directory: directory.map { "\($0)/\(name.dropLast(5)).views" }) }
}
