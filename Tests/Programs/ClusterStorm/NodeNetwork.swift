import EtcdSupport
import Foundation
import TestSupport

/// A network of the nodes of etcd, each in a network namespace of its own, so that any two of them can be parted while
/// both reach their clients. The network is a bridge in the network namespace of this process. No other program may use
/// that namespace, because the bridge and its addresses would be in its way. System programs: ip(8), nsenter(1)
final class NodeNetwork {
    private let keepers: [RunningProcess]
    static let hosts = (1...3).map { "10.77.0.\($0)" }

    init() throws {
        let words = "ip link set lo up && ip link add storm type bridge && ip addr add 10.77.0.254/24 dev storm"
        try Self.run(["sh", "-c", words + " && ip link set storm up"])
        keepers = try (1...3).map { number in
            let keeper = try RunningProcess.bound(["unshare", "-n", "sh", "-c", "echo ready; exec sleep infinity"])
            try keeper.waitForText { $0.contains("ready") }
            let process = "\(keeper.identifier)"
            let port = "storm\(number)"
            try Self.run(
                ["ip", "link", "add", port, "type", "veth", "peer", "name", "node", "netns", process])
            try Self.run(["ip", "link", "set", port, "master", "storm", "up"])
            let inside = "ip link set lo up && ip addr add 10.77.0.\(number)/24 dev node && ip link set node up"
            try Self.run(Self.entering(process) + ["sh", "-c", inside])
            return keeper
        }
    }

    private static func entering(_ process: String) -> [String] { ["nsenter", "-t", process, "-n", "--"] }

    private static func run(_ words: [String]) throws {
        let (status, text) = try RunningProcess(words, input: "").finish()
        if status != 0 { throw TemporaryContainer.Failed(description: "\(words): status \(status), \(text)") }
    }

    /// The words that start a program where the node is.
    var prefixes: [[String]] { keepers.map { Self.entering("\($0.identifier)") } }

    /// Lets nothing through from one node to another. The other direction is another call.
    func part(_ node: Int, from other: Int) throws { try route("add", node, other) }
    func join(_ node: Int, _ other: Int) throws { try route("del", node, other) }

    private func route(_ action: String, _ node: Int, _ other: Int) throws {
        try Self.run(
            Self.entering("\(keepers[node].identifier)")
                + ["ip", "route", action, "blackhole", Self.hosts[other] + "/32"])
    }
}
