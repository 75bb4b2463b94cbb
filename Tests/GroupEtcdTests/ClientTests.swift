import EtcdSupport
import GroupEtcd
import GroupSystemCalls
import TestSupport
import Testing

extension EtcdConfiguration {
    /// A configuration for tests, on a machine that does other things, too.
    static func patient(_ endpoints: [String]) throws -> Self {
        var configuration = try EtcdConfiguration(endpoints: endpoints)
        configuration.requestLimit = .seconds(20)
        return configuration
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The calls of a client, with one node of etcd.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"))
struct `A client of etcd` {
    let server: EtcdServer
    let client: EtcdClient

    init() throws {
        server = try EtcdServer()
        client = EtcdClient(try .patient(server.endpoints))
    }

    @Test func `a put is read with its revisions, and a range with a prefix in the order of keys`() throws {
        let first = try client.transaction(then: [.put(bytes("a/2"), bytes("two")), .put(bytes("b"), [])])
        #expect(first.succeeded)
        #expect(first.clusterIdentifier != 0)
        let second = try client.transaction(then: [.put(bytes("a/1"), [0, 255, 10])])
        #expect(second.revision == first.revision + 1)
        let read = try client.range(.prefix(bytes("a/")))
        #expect(read.revision == second.revision)
        #expect(read.count == 2)
        #expect(!read.hasMore)
        #expect(
            read.keyValues == [
                EtcdKeyValue(
                    key: bytes("a/1"), value: [0, 255, 10], createRevision: second.revision,
                    modRevision: second.revision, version: 1),
                EtcdKeyValue(
                    key: bytes("a/2"), value: bytes("two"), createRevision: first.revision,
                    modRevision: first.revision, version: 1),
            ])
        #expect(try client.range(.key(bytes("b"))).keyValues.first?.value == [])
        #expect(try client.range(.key(bytes("c"))).keyValues.isEmpty)
    }

    @Test func `a watch from a revision returns what was and what comes`() throws {
        let first = try client.transaction(then: [.put(bytes("w/1"), bytes("one"))]).revision
        try client.transaction(then: [.put(bytes("x"), [])])
        let watch = EtcdWatch(try .patient(server.endpoints), prefix: bytes("w/"), from: first)
        var events: [EtcdEvent] = []
        try watch.run { response in
            if response.events.isEmpty { return true }
            events += response.events
            if events.count == 1 {
                _ = try? client.transaction(then: [.delete(bytes("w/1")), .put(bytes("w/2"), bytes("two"))])
            }
            return events.count < 3
        }
        #expect(events.map(\.kind) == [.put, .delete, .put])
        #expect(events.map(\.keyValue.key) == [bytes("w/1"), bytes("w/1"), bytes("w/2")])
        #expect(events.map(\.keyValue.modRevision) == [first, first + 2, first + 2])
    }

    @Test func `a lease is granted, kept alive and revoked, and its keys go with it`() throws {
        let lease = try client.grantLease(seconds: 60)
        try client.transaction(then: [.put(bytes("l"), [1], lease: lease)])
        #expect(try client.range(.key(bytes("l"))).keyValues.first?.lease == lease)
        #expect(try client.keepLeaseAlive(lease) == 60)
        try client.revokeLease(lease)
        #expect(try client.keepLeaseAlive(lease) == 0)
        #expect(try client.range(.key(bytes("l"))).keyValues.isEmpty)
    }
}
