#if Curl
import EtcdSupport
import GroupEtcd
import GroupCurl
import GroupSystemCalls
import TestSupport
import Testing

/// The calls of a client, with one node of etcd.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"), .tags(.etcd))
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
        #expect(read.clusterIdentifier == first.clusterIdentifier)
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

    @Test func `a range has a limit, a revision, an order, and no values where none are wanted`() throws {
        var revisions: [UInt64] = []
        for name in ["c", "a", "b", "a"] {
            revisions.append(try client.transaction(then: [.put(bytes("r/" + name), bytes(name))]).revision)
        }
        var range = EtcdRange.prefix(bytes("r/"))
        func keys(_ range: EtcdRange) throws -> [String] {
            try client.range(range).keyValues.map { String(decoding: $0.key.dropFirst(2), as: UTF8.self) }
        }
        #expect(try keys(range) == ["a", "b", "c"])
        range.order = .modRevision
        #expect(try keys(range) == ["c", "b", "a"])
        range.limit = 2
        let limited = try client.range(range)
        #expect(limited.keyValues.map(\.modRevision) == [revisions[0], revisions[2]])
        #expect(limited.hasMore)
        #expect(limited.count == 3)
        range.limit = 0
        range.minimumModRevision = revisions[2]
        #expect(try keys(range) == ["b", "a"])
        range.minimumModRevision = 0
        range.revision = revisions[1]
        #expect(try keys(range) == ["c", "a"])
        range.revision = 0
        range.keysOnly = true
        range.isSerializable = true
        #expect(try client.range(range).keyValues.allSatisfy(\.value.isEmpty))
        range.countOnly = true
        let counted = try client.range(range)
        #expect(counted.count == 3)
        #expect(counted.keyValues.isEmpty)
    }

    @Test func `a prefix has all its keys and no others, whatever their bytes are`() throws {
        let keys: [[UInt8]] = [
            [0xFF], [0xFF, 0xFF], [0xFF, 0xFF, 0], [0xFE, 0xFF], [0xFE, 0xFF, 0xFF], [0], [0xFF, 1],
        ]
        try client.transaction(then: keys.map { .put($0, []) })
        for prefix: [UInt8] in [[], [0xFF], [0xFF, 0xFF], [0xFE, 0xFF], [0xFE], [0], [0x10]] {
            let found = try client.range(.prefix(prefix)).keyValues.map(\.key)
            #expect(Set(found) == Set(keys.filter { $0.starts(with: prefix) }), "\(prefix)")
        }
    }

    @Test func `a range that is larger than an answer comes in pages`() throws {
        var configuration = try EtcdConfiguration.patient(server.endpoints)
        configuration.largestAnswer = 1 << 20
        let client = EtcdClient(configuration)
        let value = [UInt8](repeating: 7, count: 100_000)
        for number in 0..<20 { try client.transaction(then: [.put(bytes("large/") + [UInt8(number)], value)]) }
        var range = EtcdRange.prefix(bytes("large/"))
        range.limit = 1_000
        #expect(failure { () throws(EtcdFailure) in try client.range(range) }?.isMalformed == true)
        var found: [UInt8] = []
        try client.forEach(in: range) { keyValue throws(EtcdFailure) in
            if keyValue.value == value { found.append(keyValue.key.last ?? 0) }
            // All pages are of one revision.
            if found.count == 1 { try client.transaction(then: [.put(bytes("large/\u{7F}"), value)]) }
        }
        #expect(found == Array(0..<20))
    }

    @Test func `a transaction is done if all its conditions are true, of each kind`() throws {
        let key = bytes("k")
        let missing = bytes("missing")
        try client.transaction(then: [.put(key, [0])])
        let revision = try client.transaction(then: [.put(key, [7, 0])]).revision
        let cases: [(EtcdCompare, Bool)] = [
            (.absent(missing), true), (.absent(key), false), (.present(key), true), (.present(missing), false),
            (.value(key, equals: [7, 0]), true), (.value(key, equals: [7]), false),
            (.value(missing, equals: []), false), (.version(key, equals: 2), true), (.version(key, equals: 1), false),
            (.version(missing, equals: 0), true), (.modRevision(key, equals: revision), true),
            (.modRevision(key, equals: revision - 1), false), (.modRevision(missing, equals: 0), true),
            (.allBefore(prefix: key, revision: revision + 1), true),
            (.allBefore(prefix: key, revision: revision), false),
            (.allBefore(prefix: missing, revision: 1), true),
        ]
        for (compare, isTrue) in cases {
            #expect(try client.transaction(if: [compare], then: []).succeeded == isTrue, "\(compare)")
        }
        #expect(try !client.transaction(if: [.present(key), .absent(key)], then: [.delete(key)]).succeeded)
        #expect(try client.range(.key(key)).keyValues.first?.version == 2)
        #expect(try client.range(.key(key)).revision == revision)
    }

    @Test func `the results of a transaction are those of the branch that ran, in order`() throws {
        try client.transaction(then: [.put(bytes("a"), [1]), .put(bytes("b"), [2]), .put(bytes("c"), [3])])
        let yes: [EtcdOperation] = [
            .range(.key(bytes("a"))), .delete(bytes("a"), end: bytes("c")), .range(.prefix([])), .delete(bytes("x")),
            .put(bytes("d"), [4]),
        ]
        let no: [EtcdOperation] = [.range(.key(bytes("d")))]
        let first = try client.transaction(if: [.absent(bytes("d"))], then: yes, else: no)
        #expect(first.succeeded)
        #expect(first.ranges.map { $0.keyValues.map(\.value) } == [[[1]], [[3]]])
        #expect(first.deleted == [2, 0])
        let second = try client.transaction(if: [.absent(bytes("d"))], then: yes, else: no)
        #expect(!second.succeeded)
        #expect(second.ranges.map { $0.keyValues.map(\.value) } == [[[4]]])
        #expect(second.deleted.isEmpty)
        #expect(second.revision == first.revision)
    }

    @Test func `what is too much, or has no sense, is surely not written`() throws {
        let most = (0..<128).map { EtcdOperation.put(bytes("m/\($0)"), []) }
        let revision = try client.transaction(then: most).revision
        let refused: [(String, [EtcdOperation])] = [
            ("too many operations", most + [.put(bytes("one more"), [])]),
            ("duplicate key", [.put(bytes("m/1"), [1]), .put(bytes("m/1"), [2])]),
            ("too large", [.put(bytes("m/1"), [UInt8](repeating: 1, count: 1_600_000))]),
            ("larger than max", [.put(bytes("m/1"), [UInt8](repeating: 1, count: 4_000_000))]),
            ("key is not provided", [.put([], [])]),
            ("lease not found", [.put(bytes("m/2"), [1]), .put(bytes("m/1"), [1], lease: 77)]),
        ]
        for (reason, operations) in refused {
            guard
                case .refused(let code, let text)? = failure(of: { () throws(EtcdFailure) in
                    try client.transaction(then: operations)
                })
            else {
                Issue.record("not refused: \(reason)")
                continue
            }
            #expect(text.contains(reason))
            #expect(EtcdFailure.refused(code: code, text).isSurelyNotWritten, "\(code) \(text)")
        }
        #expect(try client.range(.key(bytes("m/1"))).revision == revision)
    }

    @Test func `a request just below the limit is written and read, byte by byte`() throws {
        let value = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        try client.transaction(then: [.put(bytes("large"), value)])
        let read = try client.range(.key(bytes("large")))
        #expect(read.keyValues.first?.value == value)
        // Several of them make an answer of some megabytes.
        for number in 0..<6 { try client.transaction(then: [.put(bytes("large/\(number)"), value)]) }
        let all = try client.range(.prefix(bytes("large/")))
        #expect(all.keyValues.count == 6)
        #expect(all.keyValues.allSatisfy { $0.value == value })
    }

    @Test func `a lease is granted, kept alive and revoked, and its keys go with it`() throws {
        let lease = try client.grantLease(seconds: 60)
        try client.transaction(then: [.put(bytes("l"), [1], lease: lease)])
        #expect(try client.range(.key(bytes("l"))).keyValues.first?.lease == lease)
        #expect(try client.keepLeaseAlive(lease) == 60)
        try client.revokeLease(lease)
        #expect(try client.keepLeaseAlive(lease) == 0)
        #expect(try client.range(.key(bytes("l"))).keyValues.isEmpty)
        guard case .refused(code: 5, _)? = failure(of: { () throws(EtcdFailure) in try client.revokeLease(lease) })
        else {
            Issue.record("a lease was revoked twice")
            return
        }
    }

    @Test func `a lease that is not kept alive ends, and its keys are deleted`() throws {
        let lease = try client.grantLease(seconds: 1)
        let revision = try client.transaction(then: [.put(bytes("l"), [1], lease: lease)]).revision
        var events: [EtcdEvent] = []
        try EtcdWatch(.patient(server.endpoints), prefix: bytes("l"), from: revision).run { response in
            events += response.events
            return events.count < 2
        }
        #expect(events.map(\.kind) == [.put, .delete])
        #expect(try client.keepLeaseAlive(lease) == 0)
    }

    @Test func `a compacted revision is reported as that, and the history after it stands`() throws {
        var revisions: [UInt64] = []
        for number in 0..<4 {
            revisions.append(try client.transaction(then: [.put(bytes("k"), [UInt8(number)])]).revision)
        }
        try client.compact(revisions[2])
        var range = EtcdRange.key(bytes("k"))
        range.revision = revisions[1]
        #expect(failure { () throws(EtcdFailure) in try client.range(range) } == .compacted(0))
        range.revision = revisions[2]
        #expect(try client.range(range).keyValues.first?.value == [2])
        #expect(failure { () throws(EtcdFailure) in try client.compact(revisions[2]) } == .compacted(0))
        range.revision = revisions[3] + 1
        guard case .refused(code: 11, _)? = failure(of: { () throws(EtcdFailure) in try client.range(range) }) else {
            Issue.record("a revision of the future was read")
            return
        }
    }

    @Test func `the status has the version, the sizes and the leader`() throws {
        try client.transaction(then: [.put(bytes("k"), [UInt8](repeating: 1, count: 100_000))])
        let status = try client.status()
        #expect(status.version.hasPrefix("3."))
        #expect(status.leader == status.memberIdentifier)
        #expect(status.leader != 0)
        #expect(status.dbSize > 0)
        #expect(status.dbSizeInUse > 0)
        #expect(status.raftAppliedIndex > 0)
        #expect(status.revision == (try server.revision()))
        #expect(status.errors.isEmpty)
        #expect(!status.isLearner)
    }
}
#endif
