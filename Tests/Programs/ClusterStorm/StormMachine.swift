import Foundation
import Glibc
import GroupSystemCalls
import TestSupport

/// A machine of the storm: a container, the program that keeps it together with the others, its ways to etcd, and its
/// users.
final class StormMachine {
    let name: String
    let directory: String
    let container: String
    private let logs: String
    let proxies: [Proxy]
    private var program: RunningProcess?
    private(set) var isStopped = false
    private(set) var users: [User] = []
    private(set) var faults: [String] = []
    private var starts = 0
    /// The library through which the program's clock is moved.
    private let clockLibrary: String?

    struct User {
        var kind: String
        var name: String
        var life: Int
        var process: RunningProcess
        /// What earlier lives have printed.
        var text: String
    }

    init(_ name: String, in directory: String, proxies: [Proxy], disk: SmallDisk?, clockLibrary: String?) throws {
        self.name = name
        self.proxies = proxies
        self.clockLibrary = clockLibrary
        self.directory = "\(directory)/\(name)"
        container = "\(self.directory)/container"
        logs = "\(directory)/logs-\(name)"
        try FileManager.default.createDirectory(atPath: logs, withIntermediateDirectories: true)
        for part in ["away"] {
            try FileManager.default.createDirectory(
                atPath: "\(self.directory)/\(part)", withIntermediateDirectories: true)
        }
        if clockLibrary != nil { try setClock(0) }
        let made = try RunningProcess(["groupctl", "create", container], input: "").finish()
        if made.status != 0 { throw TemporaryContainer.Failed(description: made.text) }
    }

    // MARK: The program

    func start() throws {
        if program != nil { return }
        starts += 1
        let endpoints = proxies.map { "http://\($0.host):\(Proxy.port)" }.joined(separator: ",")
        let environment: [String: String?] =
            clockLibrary.map { library in
                [
                    "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                ]
            } ?? [:]
        program = try RunningProcess.bound(
            [
                "\(BuildDirectory.path)/group-cluster", "join", container, "--etcd", endpoints, "--name", "storm",
                "--host",
                name,
            ], environment: environment)
        isStopped = false
    }

    /// Moves the clock of the program.
    func setClock(_ seconds: Int) throws {
        try Data("\(seconds < 0 ? "" : "+")\(seconds)".utf8).write(to: URL(fileURLWithPath: clock))
    }

    private var clock: String { "\(logs)/clock" }

    var isRunning: Bool { program != nil }

    /// Ends the program by SIGKILL, or by SIGTERM.
    func end(_ signal: Int32 = SIGKILL) throws {
        guard let program else { return }
        if hasEnded { return }
        if isStopped { program.signal(SIGCONT) }
        program.signal(signal)
        let (status, text) = try program.finish()
        keep(text)
        // The signal may come before the program has begun to note it.
        if status != 128 + signal && status != 0 {
            faults.append("\(name): the program ended with \(status): \(text.suffix(500))")
        }
        if clockLibrary != nil { FakedClock.removeTraces(of: program.identifier) }
        self.program = nil
        isStopped = false
    }

    func stop() { if let program, !isStopped { isStopped = program.stop() } }

    func resume() {
        program?.resume()
        isStopped = false
    }

    /// Whether the program has ended by itself, which is noted.
    private var hasEnded: Bool {
        guard let program else { return false }
        let file = FileManager.default.contents(atPath: "/proc/\(program.identifier)/stat") ?? Data()
        let text = String(decoding: file, as: UTF8.self)
        guard text.isEmpty || text.contains(") Z ") else { return false }
        let output = (try? program.finish()) ?? (-1, "")
        keep(output.1)
        faults.append("\(name): the program ended by itself, with \(output.0): \(output.1.suffix(500))")
        if clockLibrary != nil { FakedClock.removeTraces(of: program.identifier) }
        self.program = nil
        isStopped = false
        return true
    }

    /// Starts a program that has ended by itself again.
    func watch() throws { if hasEnded { try start() } }

    private func keep(_ text: String) {
        try? Data(text.utf8).write(to: URL(fileURLWithPath: "\(logs)/program.\(starts)"))
    }

    func keepLogs() {
        if let program { keep(program.text) }
        for user in users {
            try? Data((user.text + user.process.text).utf8).write(
                to: URL(fileURLWithPath: "\(logs)/\(user.name)"))
        }
    }

    // MARK: Users

    func startUser(_ kind: String, _ number: Int, seed: UInt64, _ more: [String] = []) throws {
        let user = "\(name)-\(kind)\(number)"
        users.append(
            User(
                kind: kind, name: user, life: 0, process: try process(kind, user, 0, seed, more), text: ""))
    }

    private func process(_ kind: String, _ user: String, _ life: Int, _ seed: UInt64, _ more: [String]) throws
        -> RunningProcess
    {
        try RunningProcess(
            ["cluster-storm", "worker", kind, container, user, "\(life)", "\(seed)", "\(directory)/away"]
                + more)
    }

    /// Kills a user in the middle of its work, and starts it again.
    func killUser(_ index: Int, seed: UInt64) throws {
        let old = users[index]
        old.process.signal(SIGKILL)
        let text = try old.process.finish().text
        users[index].text += text.hasSuffix("\n") || text.isEmpty ? text : text + "\n"
        users[index].life += 1
        users[index].process = try process(old.kind, old.name, old.life + 1, seed, [])
    }

    /// Lets the users end what they do.
    func endUsers() throws {
        for user in users { user.process.closeInput() }
        for user in users {
            let (status, text) = try user.process.finish(within: .seconds(90))
            if status != 0 { faults.append("\(user.name) ended with \(status): \(text.suffix(500))") }
        }
    }

    var lines: [Substring] { users.flatMap { ($0.text + $0.process.text).split(separator: "\n") } }

    // MARK: What is there

    struct Status: Decodable {
        var connected: Bool
        var index: Int
        var behind: Int
        var toApply: Int
        var toSend: Int
        var paused: String?
        var failure: String?
        struct Unmirrored: Decodable { var path, reason: String }
        var unmirrored: [Unmirrored]
    }

    func status() throws -> (Status?, String) {
        let text = try RunningProcess(["group-cluster", "status", container, "--json"], input: "").finish().text
        return (try? JSONDecoder().decode(Status.self, from: Data(text.utf8)), text)
    }

    struct Entry: Equatable, CustomStringConvertible {
        var kind: String
        var mode: Int
        var content: String
        var description: String { "\(kind) \(String(mode, radix: 8)) \(content.debugDescription.prefix(120))" }
    }

    /// Returns the tree without `.group`.
    func tree() throws -> [String: Entry] {
        var tree: [String: Entry] = [:]
        try walk("", &tree)
        return tree
    }

    private func walk(_ path: String, _ tree: inout [String: Entry]) throws {
        let full = path.isEmpty ? container : "\(container)/\(path)"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: full)) ?? [] {
            if path.isEmpty && name == ".group" { continue }
            let child = path.isEmpty ? name : "\(path)/\(name)"
            var information = stat()
            if unsafe lstat("\(container)/\(child)", &information) != 0 { continue }
            let mode = information.st_mode
            switch mode & S_IFMT {
            case S_IFDIR:
                tree[child] = Entry(kind: "directory", mode: 0, content: "")
                try walk(child, &tree)
            case S_IFLNK:
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(container)/\(child)")
                tree[child] = Entry(kind: "link", mode: 0, content: target ?? "?")
            default:
                let bytes = FileManager.default.contents(atPath: "\(container)/\(child)") ?? Data()
                tree[child] = Entry(
                    kind: "file", mode: Int(mode & 0o777), content: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
