import Foundation
import GroupContainer
import GroupSystemCalls

/// A container for one test, in memory where that is possible. It is deleted, with the directory around it, when the
/// test releases it.
package final class TemporaryContainer: Sendable {
    private let temporary: TemporaryDirectory
    /// The directory around the container, for other files, links' targets and the containers of identifiers.
    package var directory: String { temporary.path }
    /// The container, as a GROUP argument.
    package let path: String

    /// A command that should have succeeded failed.
    package struct Failed: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Makes a container, without a program; this process does not stay a member.
    package init(creating: Bool = true) throws {
        temporary = try TemporaryDirectory()
        path = temporary.path + "/container"
        if creating { try Self.make(at: path) }
    }

    /// Makes a container whose key of hashes is always the same: with a random one, two items of a test share a range of
    /// the lock file, or a bucket of the member table, once in a while. An access to the one is an access to the other
    /// then.
    package static func make(at path: String) throws {
        _ = try Container(path: path, creating: true)
        let file = URL(fileURLWithPath: "\(path)/.group/format")
        let text = try String(contentsOf: file, encoding: .utf8)
        let parts = text.components(separatedBy: "\"hashKey\" : \"")
        guard parts.count == 2, parts[1].utf8.count > 32 else {
            throw Failed(description: "the format file has no key: \(text)")
        }
        let rest = String(decoding: parts[1].utf8.dropFirst(32), as: UTF8.self)
        try Data("\(parts[0])\"hashKey\" : \"000102030405060708090a0b0c0d0e0f\(rest)".utf8).write(to: file)
    }

    /// An environment in which group identifiers are the test's own, and the user's settings have no effect.
    package var environment: [String: String?] {
        [
            "GROUP_CONTAINERS_HOME": directory + "/home", "HOME": directory, "XDG_DATA_HOME": nil,
            "NO_COLOR": nil,
        ]
    }

    /// Starts any program.
    package func start(
        _ program: String, _ words: [any BytesConvertible], input: (any BytesConvertible)? = "",
        output: RunningProcess.Output = .readOnDemand, environment changes: [String: String?] = [:]
    ) throws -> RunningProcess {
        try RunningProcess(
            program, words, environment: environment.merging(changes) { $1 }, input: input, output: output)
    }

    /// Starts `groupctl SUBCOMMAND <this container> WORDS…`; a subcommand may be two words.
    package func start(
        _ subcommand: String, _ words: any BytesConvertible..., input: any BytesConvertible = "",
        output: RunningProcess.Output = .readOnDemand
    ) throws -> RunningProcess {
        try start(
            "groupctl", subcommand.split(separator: " ").map(String.init) + [path] + words, input: input, output: output
        )
    }

    /// Runs `groupctl SUBCOMMAND <this container> WORDS…` to its end.
    package func run(
        _ subcommand: String, _ words: any BytesConvertible..., input: any BytesConvertible = "",
        output: RunningProcess.Output = .readOnDemand
    ) async throws -> RunningProcess.Outcome {
        try await start(
            "groupctl", subcommand.split(separator: " ").map(String.init) + [path] + words, input: input, output: output
        ).finish()
    }

    /// Runs `groupctl SUBCOMMAND <this container> WORDS…` to its end, and throws unless it succeeds.
    @discardableResult
    package func done(
        _ subcommand: String, _ words: any BytesConvertible..., input: any BytesConvertible = ""
    ) async throws -> RunningProcess.Outcome {
        let outcome = try await start(
            "groupctl", subcommand.split(separator: " ").map(String.init) + [path] + words, input: input
        ).finish()
        if outcome.status != 0 { throw Failed(description: "groupctl \(subcommand): \(outcome)") }
        return outcome
    }

    /// Runs a shell script to its end; `$1` is the container.
    package func shell(_ script: String, _ words: any BytesConvertible...) async throws -> RunningProcess.Outcome {
        try await start("sh", ["-c", script, "sh", path] + words).finish()
    }

    /// Starts `watch-group WORDS… <this container>`.
    package func watch(_ words: any BytesConvertible..., output: RunningProcess.Output = .readOnDemand) throws
        -> RunningProcess
    {
        try start("watch-group", words + [path], output: output)
    }

    /// Starts `watch-group`, or the follower in another language that GROUP_CONTAINER_FOLLOWER names, and returns once
    /// every later change will be seen.
    package func watching(_ words: any BytesConvertible...) async throws -> RunningProcess {
        let follower = environmentValue("GROUP_CONTAINER_FOLLOWER") ?? "watch-group"
        let watcher = try start(follower, ["--verbose"] + words + [path])
        guard try await watcher.readLine(from: .errors)?.hasPrefix("watching") == true else {
            throw Failed(description: "watch-group did not begin: \(try await watcher.finish())")
        }
        return watcher
    }

    /// Returns a file's content, read without any coordination.
    package func content(_ item: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(item)", encoding: .utf8)
    }

    /// Returns the permissions of an item, or of the container.
    package func mode(_ item: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(item)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}
