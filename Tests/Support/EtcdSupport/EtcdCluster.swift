import GroupSystemCalls
import TestSupport

/// A cluster of several nodes, each at an address of its own. It ends with the object.
package final class EtcdCluster: Sendable {
    package let nodes: [EtcdServer]
    private let options: EtcdOptions

    /// Starts the nodes, and waits until all of them serve.
    package convenience init(nodes count: Int = 3, _ options: EtcdOptions = EtcdOptions()) throws {
        try self.init(at: (1...max(1, count)).map { _ in (EtcdServer.freeHost(), []) }, options)
    }

    /// Starts nodes at these addresses, each by a program that is named before its own words.
    package init(at places: [(host: String, prefix: [String])], _ options: EtcdOptions = EtcdOptions()) throws {
        self.options = options
        let names = (1...places.count).map { "n\($0)" }
        let cluster = zip(names, places).map { EtcdServer.member($0, $1.host) }.joined(separator: ",")
        let room = EtcdRoom.shared.take(places.count)
        nodes = try places.indices.map { index in
            var options = options
            options.prefix = places[index].prefix
            return try EtcdServer(names[index], places[index].host, cluster: cluster, options, room[index])
        }
        try start()
    }

    /// Starts all nodes with the data that they have, and waits until they serve.
    package func start() throws {
        for node in nodes { try node.start() }
        for node in nodes { try node.awaitReady() }
    }

    package var endpoints: [String] { nodes.map(\.endpoint) }

    /// Returns the node that leads, as the first of the others sees it. Waits for an election. All nodes must run.
    package func leader() throws -> EtcdServer {
        var found: EtcdServer?
        let isElected = eventually {
            for node in nodes {
                if let status = try? node.status(), status.leader != 0, status.leader == status.member {
                    found = node
                    return true
                }
            }
            return false
        }
        guard isElected, let found else { throw WaitedInVain(description: "waited in vain for a leader of etcd") }
        return found
    }

    /// Returns the nodes that do not lead.
    package func followers() throws -> [EtcdServer] {
        let leader = try leader()
        return nodes.filter { $0 !== leader }
    }

    /// Runs etcdctl with all nodes, and returns what it prints.
    @discardableResult package func control(_ words: String...) throws -> String {
        try EtcdControl.run(words, endpoints: endpoints, options)
    }

    /// Writes a snapshot, a backup, into a file.
    package func saveSnapshot(to path: String) throws { try nodes[0].saveSnapshot(to: path) }

    /// Replaces the data of all nodes by that of a snapshot. With another token it is another cluster.
    package func restore(from path: String, token: String = "etcd-cluster") throws {
        for node in nodes { node.kill() }
        for node in nodes { try node.restoreOnly(from: path, token: token) }
        for node in nodes { try node.awaitReady() }
    }

    /// Removes the history before the newest revision.
    package func compact() throws { try nodes[0].compact() }
}
