#if Curl
import EtcdSupport
import Glibc
import GroupEtcd
import GroupSystemCalls
import TestSupport
import Testing

/// The nodes that tests start.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `Nodes of etcd for tests` {
    private func value(_ client: EtcdClient) throws -> [UInt8]? {
        try client.range(.key(bytes("k"))).keyValues.first?.value
    }

    @Test func `a snapshot is restored, as the same cluster or as another one`() throws {
        let server = try EtcdServer()
        let client = EtcdClient(try .patient(server.endpoints))
        let first = try client.transaction(then: [.put(bytes("k"), [1])])
        let file = "\(server.directory.path)/backup"
        try server.saveSnapshot(to: file)
        try client.transaction(then: [.put(bytes("k"), [2])])
        try server.restore(from: file)
        let restored = try client.range(.key(bytes("k")))
        #expect(restored.keyValues.first?.value == [1])
        #expect(restored.revision == first.revision)
        #expect(restored.clusterIdentifier == first.clusterIdentifier)
        try server.restore(from: file, token: "another")
        let other = try client.range(.key(bytes("k")))
        #expect(other.keyValues.first?.value == [1])
        #expect(other.clusterIdentifier != first.clusterIdentifier)
        try server.restartEmpty()
        #expect(try value(client) == nil)
    }

    @Test func `a cluster is restored from a snapshot, and goes on when one node is stopped`() throws {
        let cluster = try EtcdCluster(nodes: 3)
        let client = EtcdClient(try .patient(cluster.endpoints))
        try client.transaction(then: [.put(bytes("k"), [1])])
        let file = "\(cluster.nodes[0].directory.path)/backup"
        try cluster.saveSnapshot(to: file)
        try client.transaction(then: [.put(bytes("k"), [2])])
        try cluster.restore(from: file)
        #expect(try value(client) == [1])
        try cluster.compact()
        let stopped = try #require(try cluster.followers().first)
        stopped.stop()
        let others = EtcdClient(try .patient(cluster.nodes.filter { $0 !== stopped }.map(\.endpoint)))
        try others.transaction(then: [.put(bytes("k"), [3])])
        stopped.resume()
        let resumed = EtcdClient(try .patient(stopped.endpoints))
        #expect(try value(resumed) == [3])
    }

    @Test func `a node ends when the tests' process is killed`() async throws {
        let result = await #expect(
            processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
        ) {
            limitLifetime()
            let server = try EtcdServer()
            print("etcd \(server.identifier ?? 0) \(server.directory.path) etcd")
            fflush(nil)
            kill(getpid(), SIGKILL)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let words = output.split(whereSeparator: \.isWhitespace)
        let index = try #require(words.firstIndex(of: "etcd"))
        let identifier = try #require(pid_t(words[index + 1]))
        #expect(identifier > 0)
        #expect(await eventually { kill(identifier, 0) != 0 })
        // The killed process could not do that.
        _ = succeeds(["rm", "-rf", "--", String(words[index + 2])])
    }
}
#endif
