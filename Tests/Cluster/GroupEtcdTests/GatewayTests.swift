#if Curl
import EtcdSupport
import GroupEtcd
import TestSupport
import Testing

/// What the client does with the answers of each version. The node is the etcd of this machine; a proxy before it gives
/// its answers the version's form.
@Suite(
    .tags(.etcd),
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .enabled(if: succeeds(["python3", "--version"]), "needs python3"))
struct `A client of several versions of etcd` {
    private static let versions = ["3.4", "3.5", "3.6"]

    private func isRefused(_ code: Int, _ failure: EtcdFailure?) -> Bool {
        if case .refused(code, _)? = failure { failure?.isSurelyNotWritten ?? false } else { false }
    }

    /// Whether the errors that were sent, one at least, have the form of this version.
    private func hasForm(_ version: String, _ gateway: Gateway) -> Bool {
        // What ends a stream has the same key in each version.
        func errors() -> [String] { gateway.errors.filter { !$0.hasPrefix(#"{"error": {"#) } }
        return eventually { !errors().isEmpty }
            && errors().allSatisfy { $0.contains(#""error":"#) == (version != "3.6") }
    }

    @Test(arguments: versions) func `writes, reads, transactions and leases work, and a refusal is told apart`(
        version: String
    ) throws {
        let server = try EtcdServer()
        let gateway = try Gateway(version, before: server)
        let client = EtcdClient(try .patient([gateway.endpoint]))
        let key = bytes("k")
        let first = try client.transaction(then: [.put(key, [1]), .put(bytes("l"), [])])
        let second = try client.transaction(
            if: [.absent(key)], then: [.delete(key)], else: [.range(.key(key)), .delete(bytes("l")), .put(key, [2])])
        #expect(!second.succeeded)
        #expect(second.ranges.first?.keyValues.first?.value == [1])
        #expect(second.deleted == [1])
        let read = try client.range(.prefix(key))
        #expect(read.keyValues.map(\.value) == [[2]])
        #expect(read.revision == first.revision + 1)
        #expect(try client.status().revision == read.revision)

        try client.compact(read.revision)
        var range = EtcdRange.key(key)
        range.revision = first.revision
        #expect(failure { () throws(EtcdFailure) in try client.range(range) } == .compacted(0))
        #expect(failure { () throws(EtcdFailure) in try client.compact(read.revision) } == .compacted(0))
        range.revision = read.revision + 1
        #expect(isRefused(11, failure { () throws(EtcdFailure) in try client.range(range) }))
        let twice = [EtcdOperation.put(key, []), .put(key, [])]
        #expect(isRefused(3, failure { () throws(EtcdFailure) in try client.transaction(then: twice) }))
        let large = [EtcdOperation.put(key, [UInt8](repeating: 1, count: 4_000_000))]
        #expect(isRefused(8, failure { () throws(EtcdFailure) in try client.transaction(then: large) }))

        let lease = try client.grantLease(seconds: 60)
        #expect(try client.keepLeaseAlive(lease) == 60)
        try client.revokeLease(lease)
        #expect(try client.keepLeaseAlive(lease) == 0)
        #expect(isRefused(5, failure { () throws(EtcdFailure) in try client.revokeLease(lease) }))
        let late = [EtcdOperation.put(key, [], lease: lease)]
        #expect(isRefused(5, failure { () throws(EtcdFailure) in try client.transaction(then: late) }))
        #expect(hasForm(version, gateway))
    }

    @Test(arguments: versions) func `a watch has the events, the end of a lease, compaction, and the end of its member`(
        version: String
    ) throws {
        let server = try EtcdServer()
        let gateway = try Gateway(version, before: server)
        let configuration = try EtcdConfiguration.patient([gateway.endpoint])
        let client = EtcdClient(configuration)
        let lease = try client.grantLease(seconds: 60)
        let revision = try client.transaction(then: [.put(bytes("w"), [1], lease: lease)]).revision
        var events: [EtcdEvent] = []
        var isRevoked = false
        try EtcdWatch(configuration, prefix: bytes("w"), from: revision).run { response in
            events += response.events
            if events.count == 1 && !isRevoked {
                isRevoked = true
                do throws(EtcdFailure) { try client.revokeLease(lease) } catch { Issue.record(error) }
            }
            return events.count < 2
        }
        #expect(events.map(\.kind) == [.put, .delete])
        #expect(events.map(\.keyValue.lease) == [lease, 0])

        try client.compact(revision + 1)
        let old = EtcdWatch(configuration, prefix: bytes("w"), from: revision)
        #expect(failure { () throws(EtcdFailure) in try old.run { _ in true } } == .compacted(revision + 1))

        let last = EtcdWatch(configuration, prefix: bytes("w"), from: 0, silence: .seconds(600))
        let found = failure { () throws(EtcdFailure) in
            try last.run { _ in
                server.terminate()
                return true
            }
        }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
    }

    @Test(arguments: versions) func `a wrong password is denied, and a token that has ended is renewed`(
        version: String
    ) throws {
        let directory = try TemporaryDirectory()
        // The key of tokens that have the revision of the users and roles in them.
        let key = "\(directory.path)/key"
        try directory.put("a key", at: "key", mode: 0o600)
        var options = EtcdOptions()
        options.arguments = ["--auth-token", "jwt,sign-method=HS256,priv-key=\(key),pub-key=\(key)"]
        for options in [EtcdOptions(), options] {
            let server = try EtcdServer.withUsers(options)
            let gateway = try Gateway(version, before: server)
            var configuration = try EtcdConfiguration.patient([gateway.endpoint])
            configuration.user = "app"
            configuration.passwordFile = "\(directory.path)/password"
            try directory.put("wrong", at: "password", mode: 0o600)
            let stranger = EtcdClient(configuration)
            let refused = failure { () throws(EtcdFailure) in try stranger.transaction(then: []) }
            #expect(refused?.isDenied == true, "\(String(describing: refused))")

            try directory.put("app-\"password\"", at: "password", mode: 0o600)
            let client = EtcdClient(configuration)
            let put = [EtcdOperation.put(bytes("app/a"), [1])]
            let revision = try client.transaction(then: put).revision
            let other = failure { () throws(EtcdFailure) in try client.range(.key(bytes("other"))) }
            #expect(other?.isDenied == true, "\(String(describing: other))")
            let watch = EtcdWatch(configuration, prefix: bytes("other"), from: 0)
            let watched = failure { () throws(EtcdFailure) in try watch.run { _ in false } }
            #expect(watched?.isDenied == true, "\(String(describing: watched))")

            // Simple tokens end with the process, others with a change of the roles.
            try server.grantMore()
            #expect(try client.transaction(then: put).revision == revision + 1)
            try server.restart()
            #expect(try client.transaction(then: put).revision == revision + 2)
            #expect(hasForm(version, gateway))
        }
    }

    @Test(arguments: versions) func `a user where etcd has none works`(version: String) throws {
        let directory = try TemporaryDirectory()
        try directory.put("password", at: "password", mode: 0o600)
        let server = try EtcdServer()
        let gateway = try Gateway(version, before: server)
        var configuration = try EtcdConfiguration.patient([gateway.endpoint])
        configuration.user = "app"
        configuration.passwordFile = "\(directory.path)/password"
        _ = try EtcdClient(configuration).transaction(then: [.put(bytes("a"), [1])])
        #expect(hasForm(version, gateway))
    }

    @Test(arguments: versions) func `a full etcd has no space`(version: String) throws {
        var options = EtcdOptions()
        options.quota = 4 << 20
        let server = try EtcdServer(options)
        let gateway = try Gateway(version, before: server)
        let client = EtcdClient(try .patient([gateway.endpoint]))
        let put = [EtcdOperation.put(bytes("k"), [UInt8](repeating: 1, count: 500_000))]
        var found: EtcdFailure?
        for _ in 0..<20 where found == nil {
            do throws(EtcdFailure) { try client.transaction(then: put) } catch { found = error }
        }
        #expect(found?.isNoSpace == true, "\(String(describing: found))")
        #expect(found?.isSurelyNotWritten == false)
        #expect(hasForm(version, gateway))
    }
}
#endif
