import Foundation
import TestSupport

/// The container of a storm, where possible on a file system of its own that can be filled.
final class StormPlace {
    private let small: SmallFileSystem?
    private let surroundings: TemporaryContainer
    let container: String
    /// A directory outside the file system, which is never full.
    let directory: String
    private(set) var isFull = false

    init(megabytes: Int) async throws {
        small = SmallFileSystem.isPossible ? try await SmallFileSystem(megabytes: megabytes) : nil
        surroundings = try TemporaryContainer(creating: false)
        directory = surroundings.directory
        container = (small?.path ?? directory) + "/container"
        // The whole journal is checked in the end.
        let made = try run(["groupctl", "create", container, "--journal-size", "64G", "--journal-age", "365d"])
        if made.status != 0 { throw TemporaryContainer.Failed(description: made.text) }
    }

    var canBeFilled: Bool { small != nil }

    /// Starts a program where the file system is visible; the process is the program's own.
    func start(_ words: [String], input: String? = nil) throws -> RunningProcess {
        try RunningProcess(small?.words(words) ?? words, input: input, environment: surroundings.environment)
    }

    func run(_ words: [String]) throws -> (status: Int32, text: String) { try start(words, input: "").finish() }

    func fill() throws {
        guard let small, !isFull else { return }
        isFull = true
        let done = try run(["sh", "-c", small.filling + "fill"])
        if done.status != 0 { throw TemporaryContainer.Failed(description: done.text) }
    }

    func makeRoom() throws {
        guard let small, isFull else { return }
        _ = try run(["sh", "-c", small.filling + "make_room"])
        isFull = false
    }

    /// Returns the files' contents by path.
    func files() throws -> [String: [UInt8]] {
        // Reading through the namespace of a process that is in it would be shorter, and is not allowed everywhere.
        let script =
            #"cd "$1" && find . -path ./.group -prune -o -type f -printf '%P\n' -exec base64 -w0 {} \; -printf '\n'"#
        let lines = try run(["sh", "-c", script, "sh", container]).text.split(
            separator: "\n", omittingEmptySubsequences: false)
        var files: [String: [UInt8]] = [:]
        for place in stride(from: 0, to: lines.count - 1, by: 2) {
            files[String(lines[place])] = Data(base64Encoded: String(lines[place + 1])).map { Array($0) } ?? []
        }
        return files
    }

    func tree() throws -> [String: StreamedTree.Entry] {
        StreamedTree.entries(found: Array(try run(["sh", "-c", StreamedTree.find, "sh", container]).text.utf8))
    }

    /// Returns what changes have left in staging.
    func staging() throws -> [String] {
        try run(["ls", "\(container)/.group/staging"]).text.split(separator: "\n").map(String.init)
            .filter { !$0.hasSuffix(".intent") }
    }

    /// Returns the processes whose words name the container.
    func processes() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.compactMap { process in
            guard let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { return nil }
            let text = String(decoding: words.map { $0 == 0 ? 32 : $0 }, as: UTF8.self)
            return text.contains(container) ? "\(process): \(text)" : nil
        }
    }
}
