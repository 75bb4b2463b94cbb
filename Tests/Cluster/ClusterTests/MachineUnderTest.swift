#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// A machine of a cluster: a container with its program.
final class MachineUnderTest {
    let temporary: TemporaryContainer
    let host: String
    /// The name of the cluster.
    let name: String
    private let arguments: [String]
    private var program: RunningProcess?
    /// How far the program's clock is from the machine's: `+20m`.
    var clock: String?
    /// The small file system that the container is on; only programs that are started there see it.
    private let disk: SmallFileSystem?

    /// What the names of all keys of the cluster begin with.
    var keys: String { "/group-container/\(name)/" }

    var path: String { disk.map { "\($0.path)/c" } ?? temporary.path }

    init(_ host: String, etcd endpoints: [String], name: String = "shared", _ further: [String] = []) throws {
        temporary = try TemporaryContainer()
        disk = nil
        self.host = host
        self.name = name
        arguments = ["--etcd", endpoints.joined(separator: ","), "--name", name, "--host", host] + further
    }

    /// Makes a container on a small file system.
    init(_ host: String, etcd endpoints: [String], on disk: SmallFileSystem) throws {
        temporary = try TemporaryContainer()
        self.disk = disk
        self.host = host
        name = "shared"
        arguments = ["--etcd", endpoints.joined(separator: ","), "--name", name, "--host", host]
        let (status, text) = try groupctl("create", path, "--journal-size", "4M")
        #expect(status == 0, "\(text)")
    }

    /// Returns the words that start a program where the container is visible.
    private func words(_ program: String, _ words: [String]) -> [String] {
        var all = [BuildDirectory.resolve(program)] + words
        if let clock, words.first == "join" {
            all = ["env"] + FakedClock.variables(clock) + all
        }
        return disk?.words(all) ?? all
    }

    /// The container's path for this process, as long as the program runs.
    private var visiblePath: String { disk == nil ? path : "/proc/\(program?.identifier ?? 0)/root\(path)" }

    /// Returns the content of an item, as long as the program runs.
    func content(of item: String) -> Data? { FileManager.default.contents(atPath: "\(visiblePath)/\(item)") }

    /// Returns the names in a directory of the container, as long as the program runs.
    func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(visiblePath)/\(directory)")) ?? []
    }

    /// Takes a container that is there.
    init(_ host: String, copying other: MachineUnderTest) throws {
        temporary = try TemporaryContainer()
        disk = nil
        self.host = host
        name = other.name
        arguments = []
        try FileManager.default.removeItem(atPath: temporary.path)
        try FileManager.default.copyItem(atPath: other.path, toPath: temporary.path)
    }

    /// Starts the program, and waits until it is connected, or is paused.
    func start() throws {
        let program = try RunningProcess.bound(words("group-cluster", ["join", path + "/"] + arguments))
        self.program = program
        try program.waitForText { $0.contains("connected at index") || $0.contains("paused:") }
    }

    /// Starts the program without waiting for a connection.
    func begin() throws {
        program = try RunningProcess.bound(words("group-cluster", ["join", path + "/"] + arguments))
    }

    /// Puts strace(1) around the running program, and returns when it is there.
    func traced(_ options: [String]) throws -> RunningProcess {
        let tracer = try RunningProcess(
            ["strace", "-f", "-o", "/dev/null"] + options + ["-p", "\(program?.identifier ?? 0)"], input: "")
        try tracer.waitForText { $0.contains("attached") }
        return tracer
    }

    var hasEnded: Bool { program?.hasEnded ?? true }

    func kill() {
        program?.kill()
        program = nil
    }

    func end() throws {
        program?.signal(SIGTERM)
        let status = try program?.finish().status
        #expect(status == 0)
        if clock != nil, let program { FakedClock.removeTraces(of: program.identifier) }
        program = nil
    }

    /// Ends the program, and returns what it has printed.
    func endedText() throws -> String {
        program?.signal(SIGTERM)
        return try finish().text
    }

    /// Waits for the end of the program, and returns its status and what it has printed.
    func finish() throws -> (status: Int32, text: String) {
        defer { program = nil }
        return try program?.finish() ?? (-1, "")
    }

    func waitForText(_ text: String) throws { try program?.waitForText { $0.contains(text) } }
    func stop() { _ = program?.stop() }
    func resume() { program?.resume() }

    func write(_ content: String, to item: String) throws {
        let file = "\(path)/\(item)"
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        // Made outside and renamed to its place: of a file that is written inside, a part may be sent first, as a
        // version of its own.
        let outside = "\(temporary.directory)/\(UUID().uuidString)"
        try Data(content.utf8).write(to: URL(fileURLWithPath: outside))
        guard unsafe rename(outside, file) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func groupctl(_ words: String..., input: String = "") throws -> (status: Int32, text: String) {
        try RunningProcess(self.words("groupctl", words), input: input).finish()
    }

    func cluster(_ words: String..., input: String = "") throws -> (status: Int32, text: String) {
        try RunningProcess(["group-cluster"] + words, input: input).finish()
    }

    /// Ends the session of this machine, as if the machine had been stopped for longer than that lasts.
    func endSession(in etcd: EtcdServer) throws {
        let name = try #require(try status()["machine"] as? String)
        let session = try etcd.control("get", "\(keys)n/\(name)", "-w", "json")
        let lease = try #require(session.split(separator: "\"lease\":").last?.prefix { $0.isNumber })
        _ = try etcd.control("lease", "revoke", String(try #require(Int64(lease)), radix: 16))
    }

    /// The values of `group-cluster status --json`.
    func status() throws -> [String: Any] {
        let (_, text) = try RunningProcess(words("group-cluster", ["status", path + "/", "--json"]), input: "").finish()
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    /// What the program has recorded last, read without starting another one: for waits, which look often. The machine
    /// may not be on a small disk.
    func recorded() throws -> ClusterStatus? { try ClusterRecords(temporary.open()).status }

    /// The names of what `groupctl doctor` finds.
    func findings() throws -> String { try groupctl("doctor", path + "/", "--json").text }

    /// The items with a conflict name that the status has.
    func conflicts() throws -> [String] { try status()["conflicts"] as? [String] ?? [] }

    /// Returns whether everything that was made anywhere is applied and stored here.
    func isSettled(with other: MachineUnderTest) throws -> Bool {
        guard let here = try recorded(), let there = try other.recorded() else { return false }
        return here.index == there.index && there.toSend == 0 && here.toApply == 0 && here.toSend == 0
            && !keepsWhatCameOut
    }

    /// Whether a file that came out of the container is not removed yet.
    private var keepsWhatCameOut: Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/.group/cluster-contents")) ?? []
        return names.contains { $0.hasPrefix("out.") }
    }

    /// All items: their types, modes, targets and contents, without those of the library.
    var tree: [String: String] {
        var tree: [String: String] = [:]
        let manager = FileManager.default
        for item in (try? manager.subpathsOfDirectory(atPath: path)) ?? []
        where item != ".group" && !item.hasPrefix(".group/") {
            let file = "\(path)/\(item)"
            guard let attributes = try? manager.attributesOfItem(atPath: file) else { continue }
            let mode = (attributes[.posixPermissions] as? Int) ?? 0
            switch attributes[.type] as? FileAttributeType {
            case .typeDirectory?: tree[item] = "directory"
            case .typeSymbolicLink?: tree[item] = "to \((try? manager.destinationOfSymbolicLink(atPath: file)) ?? "")"
            default:
                let content = manager.contents(atPath: file) ?? Data()
                tree[item] =
                    "\(mode) \(content.count > 200 ? "\(content.hashValue)" : String(decoding: content, as: UTF8.self))"
            }
        }
        return tree
    }

    /// The contents of all files, whatever their names.
    var contents: Set<String> {
        Set(
            tree.values.compactMap {
                $0.split(separator: " ", maxSplits: 1).count == 2
                    ? String($0.split(separator: " ", maxSplits: 1)[1]) : nil
            })
    }
}

/// Starts two machines of a new cluster, with these options of their program; and a node of etcd, if the test has the tag
/// `.ownEtcd`, because it stops that node or looks at its revisions.
func startTwoMachines(_ options: [String] = []) throws -> (EtcdServer, MachineUnderTest, MachineUnderTest) {
    let isAlone = Test.current?.tags.contains(.ownEtcd) ?? true
    let etcd = try isAlone ? EtcdServer() : EtcdServer.shared()
    let name = "cluster-\(randomWord())"
    let machines = try ["alpha", "beta"].map { try MachineUnderTest($0, etcd: etcd.endpoints, name: name, options) }
    for machine in machines { try machine.start() }
    return (etcd, machines[0], machines[1])
}

/// Waits until machines have the same items, which `isDone` accepts. Returns whether that came.
func agree(_ machines: MachineUnderTest..., until isDone: ([String: String]) -> Bool = { _ in true }) -> Bool {
    let doAgree = eventually {
        let trees = machines.map(\.tree)
        return trees.allSatisfy { $0 == trees[0] } && isDone(trees[0])
    }
    if doAgree { return true }
    for machine in machines { print(machine.host, machine.tree.sorted { $0.key < $1.key }) }
    return false
}
#endif
