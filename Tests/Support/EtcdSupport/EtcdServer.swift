import Foundation
import Glibc
import GroupSystemCalls
package import TestSupport
package import Testing

extension Tag {
    /// The test stops its node of etcd, compacts it, replaces its data, or looks at its revisions: the node is its own.
    @Tag package static var ownEtcd: Self
}

/// How the nodes of a cluster are started.
package struct EtcdOptions: Sendable {
    /// The quota of the database, in bytes; nil for etcd's 2 GiB.
    package var quota: Int?
    /// Signs the nodes' certificates; nil for `http`.
    package var authority: EtcdAuthority?
    /// Passwords are hashed as cheaply as etcd can, and not as slowly as it does by itself.
    package var hashesCheaply = true
    /// A program that starts etcd, and its words, such as nsenter(1).
    package var prefix: [String] = []
    /// More arguments of etcd.
    package var arguments: [String] = []

    package init() {}
}

/// A node of etcd on an address of its own of the loopback network, with its data in a temporary directory. It ends
/// with the object, and when the tests' process is killed.
package final class EtcdServer: Sendable {
    /// Whether etcd and etcdctl are here. Tests that need them are skipped otherwise.
    package static let isInstalled = succeeds(["etcd", "--version"]) && succeeds(["etcdctl", "version"])
    /// The reason for that.
    package static let needed: String = "needs etcd and etcdctl (tools/setup --tests)"

    package let name: String
    /// The address on the loopback network: any other process is unlikely to use it.
    package let host: String
    package let directory: TemporaryDirectory
    private let options: EtcdOptions
    private let isShared: Bool
    private let place: EtcdRoom.Place
    private let process = Guarded<RunningProcess?>(nil)
    /// The nodes that found the cluster: name=address of peers, …
    private let initialCluster: String

    /// Starts a cluster of one node, and waits until it serves.
    package convenience init(_ options: EtcdOptions = EtcdOptions()) throws {
        try self.init(options, isShared: false)
    }

    private convenience init(_ options: EtcdOptions = EtcdOptions(), isShared: Bool) throws {
        let host = Self.freeHost()
        let places = EtcdRoom.shared.take(1)
        try self.init("n1", host, cluster: Self.member("n1", host), options, places[0], isShared: isShared)
        try start()
        try awaitReady()
    }

    /// The node that tests share which write only below a name of their own. It runs until the end of the tests.
    package static func shared() throws -> EtcdServer { try sharedNode.get() }

    private static let sharedNode = Result { try EtcdServer(isShared: true) }

    /// Prepares a node, which `start` starts.
    init(
        _ name: String, _ host: String, cluster: String, _ options: EtcdOptions, _ place: EtcdRoom.Place,
        isShared: Bool = false
    ) throws {
        self.isShared = isShared
        self.name = name
        self.host = host
        self.options = options
        self.place = place
        initialCluster = cluster
        directory = try TemporaryDirectory()
        try options.authority?.sign(host)
    }

    /// Returns an address of the loopback network whose ports for clients and peers are not in use.
    static func freeHost() -> String {
        while true {
            let host = "127.\(Int.random(in: 64...250)).\(Int.random(in: 1...250)).\(Int.random(in: 2...250))"
            if [2379, 2380].allSatisfy({ isFree(host, $0) }) { return host }
        }
    }

    private static func isFree(_ host: String, _ port: in_port_t) -> Bool {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe inet_pton(AF_INET, host, &address.sin_addr)
        return unsafe withUnsafeBytes(of: address) { bytes in
            unsafe bytes.withMemoryRebound(to: sockaddr.self) { address in
                unsafe bind(listener, address.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    static func member(_ name: String, _ host: String) -> String { "\(name)=http://\(host):2380" }

    /// The address for clients.
    package var endpoint: String { "\(options.authority == nil ? "http" : "https")://\(host):2379" }
    package var endpoints: [String] { [endpoint] }

    private var data: String { "\(directory.path)/data" }

    /// The process; nil while none runs.
    private var running: RunningProcess? { process.withLock { $0 } }
    package var identifier: Int32? { running?.identifier }
    /// What the node has printed since its last start.
    package var log: String { running?.text ?? "" }

    /// Starts the node, with the data that it has.
    package func start() throws {
        var words = options.prefix
        words += [
            "etcd", "--name", name, "--data-dir", data, "--listen-client-urls", endpoint, "--advertise-client-urls",
            endpoint, "--listen-peer-urls", "http://\(host):2380", "--initial-advertise-peer-urls",
            "http://\(host):2380", "--initial-cluster", initialCluster,
        ]
        // A node that is alone elects itself as soon as its election timeout is over.
        let (heartbeat, election) = initialCluster.contains(",") ? ("100", "1000") : ("10", "100")
        words += ["--heartbeat-interval", heartbeat, "--election-timeout", election]
        if options.hashesCheaply { words += ["--bcrypt-cost", "4"] }
        if let quota = options.quota { words += ["--quota-backend-bytes", "\(quota)"] }
        if let authority = options.authority {
            words += ["--cert-file", authority.certificate(host), "--key-file", authority.key(host)]
        }
        let started = try RunningProcess.bound(words + options.arguments, environment: Self.environment)
        process.withLock { $0 = started }
    }

    /// Waits until the node serves clients: there is a leader.
    package func awaitReady() throws {
        try running?.waitForText { $0.contains("ready to serve client requests") }
    }

    /// No variable of the machine configures etcd or etcdctl.
    private static let environment: [String: String?] = Dictionary(
        uniqueKeysWithValues: ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("ETCD") }.map {
            ($0, String?.none)
        })

    /// Stops the process (SIGSTOP), and returns when the kernel has stopped it: its connections stand, and nothing
    /// answers.
    package func stop() {
        if mayBeDisturbed() { _ = running?.stop() }
    }

    package func resume() { running?.resume() }

    /// Lets the process end in order (SIGTERM), and returns when it has.
    package func terminate() {
        guard mayBeDisturbed(), let process = process.withLock({ $0.take() }) else { return }
        process.signal(SIGTERM)
        process.reap()
    }

    /// Kills the process (SIGKILL), and returns when it is gone.
    package func kill() {
        if mayBeDisturbed() { process.withLock { $0.take() }?.kill() }
    }

    /// Fails the test, and returns false, if other tests use this node.
    private func mayBeDisturbed() -> Bool {
        if isShared { Issue.record("the test disturbs the etcd of others: it needs the tag .ownEtcd") }
        return !isShared
    }

    /// Kills the process, if it runs, and starts it again with its data.
    package func restart() throws {
        kill()
        try start()
        try awaitReady()
    }

    /// Starts the node without data, as another cluster at the same address.
    package func restartEmpty() throws {
        kill()
        try? FileManager.default.removeItem(atPath: data)
        try start()
        try awaitReady()
    }

    /// Runs etcdctl with this node, and returns what it prints.
    @discardableResult package func control(_ words: [String]) throws -> String {
        try EtcdControl.run(words, endpoints: endpoints, options)
    }

    @discardableResult package func control(_ words: String...) throws -> String { try control(words) }

    /// Runs etcdctl with this standard input.
    @discardableResult package func controlWithInput(_ words: [String], _ input: String) throws -> String {
        try EtcdControl.run(words, input: input, endpoints: endpoints, options)
    }

    /// Writes a snapshot, a backup, into a file.
    package func saveSnapshot(to path: String) throws { try control("snapshot", "save", path) }

    /// Replaces the node's data by that of a snapshot, and starts it, without a wait. With another token it is another
    /// cluster.
    func restoreOnly(from path: String, token: String) throws {
        kill()
        try? FileManager.default.removeItem(atPath: data)
        try EtcdControl.run(
            [
                "snapshot", "restore", path, "--name", name, "--data-dir", data, "--initial-cluster", initialCluster,
                "--initial-cluster-token", token, "--initial-advertise-peer-urls", "http://\(host):2380",
            ], endpoints: [], options)
        try start()
    }

    /// Starts a cluster of one node from a snapshot.
    package func restore(from path: String, token: String = "etcd-cluster") throws {
        try restoreOnly(from: path, token: token)
        try awaitReady()
    }

    /// Removes the history before a revision, and returns when that is done.
    package func compact(_ revision: UInt64) throws {
        if mayBeDisturbed() { try control("compaction", "--physical", "\(revision)") }
    }

    /// Removes the history before the newest revision.
    package func compact() throws { try compact(try revision()) }

    /// Gives the space of removed history back, and ends the alarm that the quota is used up.
    package func defragment() throws {
        try control("defrag")
        try control("alarm", "disarm")
    }

    package func revision() throws -> UInt64 { try EtcdControl.status(endpoints, options).first?.revision ?? 0 }

    /// The member's number, and that of the leader which it knows.
    func status() throws -> EtcdControl.Status? { try EtcdControl.status(endpoints, options).first }
}

/// Runs etcdctl.
enum EtcdControl {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    struct Status {
        var member, leader, revision: UInt64
    }

    @discardableResult static func run(
        _ words: [String], input: String = "", endpoints: [String], _ options: EtcdOptions
    ) throws -> String {
        var start = ["etcdctl"]
        if !endpoints.isEmpty { start += ["--endpoints", endpoints.joined(separator: ",")] }
        if let authority = options.authority { start += ["--cacert", authority.file] }
        let (status, text) = try RunningProcess(start + words, input: input, environment: ["ETCDCTL_API": "3"]).finish()
        if status != 0 { throw Failed(description: "\(start + words): status \(status), \(text)") }
        return text
    }

    static func status(_ endpoints: [String], _ options: EtcdOptions) throws -> [Status] {
        struct Line: Decodable {
            struct Content: Decodable {
                struct Header: Decodable {
                    var member_id, revision: UInt64
                }
                var header: Header
                var leader: UInt64
            }
            var Status: Content
        }
        let text = try run(["endpoint", "status", "--write-out", "json"], endpoints: endpoints, options)
        // Warnings may come before it.
        let json = text.drop { $0 != "[" }
        return try JSONDecoder().decode([Line].self, from: Data(json.utf8)).map {
            Status(member: $0.Status.header.member_id, leader: $0.Status.leader, revision: $0.Status.header.revision)
        }
    }
}
