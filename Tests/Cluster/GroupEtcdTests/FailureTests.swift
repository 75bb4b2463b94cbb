#if Curl
import EtcdSupport
import Glibc
import GroupEtcd
import GroupSystemCalls
import TestSupport
import Testing

/// Nodes that are killed or stopped, and what a caller knows then.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `A client whose etcd fails` {
    private func put(_ client: EtcdClient, _ value: UInt8 = 1) throws(EtcdFailure) -> UInt64 {
        try client.transaction(then: [.put(bytes("k"), [value])]).revision
    }

    @Test func `a write to a killed etcd was surely not sent, and works again after its restart`() throws {
        let server = try EtcdServer()
        let client = EtcdClient(try .patient(server.endpoints))
        let revision = try put(client)
        server.kill()
        let found = failure { () throws(EtcdFailure) in try put(client) }
        #expect(found?.isUnreachable == true, "\(String(describing: found))")
        #expect(found?.isSurelyNotWritten == true)
        try server.restart()
        #expect(try put(client) == revision + 1)
    }

    @Test func `a stopped etcd has not answered within the limit, and a write is not taken for unsent`() throws {
        let server = try EtcdServer()
        let client = EtcdClient(try .hasty(server.endpoints))
        _ = try? put(client)
        server.stop()
        for _ in 0..<2 {
            let start = awakeNanoseconds()
            let found = failure { () throws(EtcdFailure) in try put(client, 9) }
            #expect(found?.isNoAnswer == true, "\(String(describing: found))")
            #expect(found?.isSurelyNotWritten == false)
            // On a busy machine later than the limit; but not when some other, longer limit ends.
            #expect(awakeNanoseconds() - start < 10_000_000_000)
        }
        server.resume()
        _ = try EtcdClient(.patient(server.endpoints)).range(.key(bytes("k")))
    }

    /// libcurl repeats a request by itself if a kept connection ends before its answer; then the second attempt finds
    /// no server, and the failure would be `unreachable`.
    @Test func `a write whose etcd is killed in the middle is not taken for unsent`() throws {
        let server = try EtcdServer()
        let client = EtcdClient(try .patient(server.endpoints))
        _ = try put(client)
        server.stop()
        let endpoint = server.endpoints
        let side = Side { () -> Bool in
            // The stopped process does not read; the kernel has the request. There is no event for that.
            var configuration = try EtcdConfiguration(endpoints: endpoint)
            configuration.requestLimit = .seconds(1)
            let waiting = EtcdClient(configuration)
            var found: EtcdFailure?
            do throws(EtcdFailure) { _ = try waiting.range(.key(bytes("x"))) } catch { found = error }
            server.kill()
            return found?.isNoAnswer ?? false
        }
        let found = failure { () throws(EtcdFailure) in try put(client, 9) }
        #expect(try side.answer())
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
    }

    @Test func `an endpoint that fails is tried last the next time`() throws {
        let stopped = try EtcdServer()
        let server = try EtcdServer()
        stopped.stop()
        let client = EtcdClient(try .hasty(stopped.endpoints + server.endpoints))
        let first = failure { () throws(EtcdFailure) in try put(client) }
        #expect(first?.isNoAnswer == true, "\(String(describing: first))")
        for _ in 0..<3 { #expect(eventually { (try? put(client)) != nil }) }
        #expect(try server.control("get", "k", "--print-value-only") == "\u{1}\n")
        // A read goes on by itself.
        let reader = EtcdClient(try .hasty(stopped.endpoints + server.endpoints))
        #expect(eventually { (try? reader.range(.key(bytes("k"))).keyValues.count) == 1 })
    }

    @Test func `a cluster whose leader is killed goes on, and loses no write that it has confirmed`() throws {
        let cluster = try EtcdCluster(nodes: 3)
        let client = EtcdClient(try .hasty(cluster.endpoints))
        var confirmed: [Int] = []
        func write(_ numbers: Range<Int>) {
            for number in numbers {
                let key = bytes("w/\(number)")
                if (try? client.transaction(then: [.put(key, [])])) != nil { confirmed.append(number) }
            }
        }
        write(0..<50)
        let leader = try cluster.leader()
        leader.kill()
        let before = confirmed.count
        var next = 50
        #expect(
            eventually {
                write(next..<next + 1)
                next += 1
                return confirmed.count >= before + 50
            })
        try leader.restart()
        var found: Set<Int> = []
        #expect(
            eventually {
                guard let read = try? client.range(.prefix(bytes("w/"))) else { return false }
                found = Set(read.keyValues.compactMap { Int(String(decoding: $0.key.dropFirst(2), as: UTF8.self)) })
                return true
            })
        #expect(found.isSuperset(of: confirmed))
    }

    @Test func `a full etcd has no space, and goes on after compaction and defragmentation`() throws {
        var options = EtcdOptions()
        options.quota = 4 << 20
        let server = try EtcdServer(options)
        let client = EtcdClient(try .patient(server.endpoints))
        var found: EtcdFailure?
        for number in 0..<100 where found == nil {
            do throws(EtcdFailure) {
                try client.transaction(then: [.put(bytes("k"), [UInt8](repeating: UInt8(number), count: 200_000))])
            } catch {
                found = error
            }
        }
        #expect(found?.isNoSpace == true, "\(String(describing: found))")
        #expect(found?.isSurelyNotWritten == false)
        #expect(try eventually { try client.status().errors.contains { $0.contains("NOSPACE") } })
        // Reading and deleting work.
        try client.transaction(then: [.delete(bytes("k"))])
        #expect(try client.range(.key(bytes("k"))).keyValues.isEmpty)
        try server.compact()
        try server.defragment()
        #expect(try put(client) > 0)
    }
}

/// Answers that are no answers of etcd.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: succeeds(["python3", "--version"]), "needs python3"),
    .tags(.process, .etcd))
struct `A client of a server that is no etcd` {
    private func read(_ how: String) throws -> EtcdFailure? {
        let server = try FakeServer(how)
        let client = EtcdClient(try .patient([server.endpoint]))
        return failure { () throws(EtcdFailure) in try client.range(.key(bytes("a"))) }
    }

    @Test(arguments: ["good", "slow"]) func `an answer is read in whatever pieces it comes`(how: String) throws {
        let server = try FakeServer(how)
        let client = EtcdClient(try .patient([server.endpoint]))
        let read = try client.range(.key(bytes("a")))
        #expect(read.keyValues == [EtcdKeyValue(key: bytes("a"), value: bytes("b"), modRevision: 5)])
        #expect(read.revision == 5)
    }

    @Test(arguments: ["garbage", "half-json", "nested", "html", "html-200", "endless"])
    func `bytes that are no answer are malformed, and perhaps written`(how: String) throws {
        let found = try read(how)
        #expect(found?.isMalformed == true, "\(String(describing: found))")
        #expect(found?.isSurelyNotWritten == false)
        if how == "endless" { #expect("\(String(describing: found))".contains("more than 64 MiB")) }
    }

    @Test(arguments: ["half", "closed", "noise", "endless-head"])
    func `an answer that breaks off is lost`(how: String) throws {
        let found = try read(how)
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
    }

    @Test func `a server that is silent is given up at the limit`() throws {
        let server = try FakeServer("silent")
        let client = EtcdClient(try .hasty([server.endpoint]))
        let found = failure { () throws(EtcdFailure) in try client.range(.key(bytes("a"))) }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
    }

    @Test func `an answer that takes longer than the limit comes, if something of it always comes`() throws {
        let server = try FakeServer("unhurried")
        var configuration = try EtcdConfiguration(endpoints: [server.endpoint])
        configuration.requestLimit = .seconds(4)
        // 54 pieces, 100 ms apart
        #expect(try EtcdClient(configuration).range(.key(bytes("a"))).keyValues.count == 1)
    }

    @Test func `a redirection is not followed`() throws {
        let other = try FakeServer("good")
        let server = try FakeServer("redirect", other.endpoint)
        let client = EtcdClient(try .patient([server.endpoint]))
        let found = failure { () throws(EtcdFailure) in try client.range(.key(bytes("a"))) }
        #expect(found?.isMalformed == true, "\(String(describing: found))")
        #expect(other.requests.isEmpty)
    }

    @Test func `a write that was perhaps sent goes to no other endpoint, a read does`() throws {
        let first = try FakeServer("closed")
        let second = try FakeServer("good")
        let endpoints = [first.endpoint, second.endpoint]
        let writer = EtcdClient(try .patient(endpoints))
        let found = failure { () throws(EtcdFailure) in try writer.transaction(then: [.put(bytes("a"), [])]) }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
        #expect(second.requests.isEmpty)
        let other = EtcdClient(try .patient(endpoints))
        let lease = failure { () throws(EtcdFailure) in try other.grantLease(seconds: 5) }
        #expect(lease?.isNoAnswer == true, "\(String(describing: lease))")
        let reader = EtcdClient(try .patient(endpoints))
        #expect(try reader.range(.key(bytes("a"))).count == 1)
        try first.waitForRequests(3)
        #expect(first.requests == ["/v3/kv/txn", "/v3/lease/grant", "/v3/kv/range"])
        try second.waitForRequests(1)
        #expect(second.requests == ["/v3/kv/range"])
    }

    /// libcurl repeats a request by itself if a kept connection ends before the answer.
    @Test func `a write is not repeated when its kept connection ends`() throws {
        let server = try FakeServer("once")
        let client = EtcdClient(try .patient([server.endpoint]))
        _ = try client.range(.key(bytes("a")))
        let found = failure { () throws(EtcdFailure) in try client.transaction(then: [.put(bytes("a"), [])]) }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
        _ = try client.range(.key(bytes("a")))
        try server.waitForRequests(3)
        #expect(server.requests == ["/v3/kv/range", "/v3/kv/txn", "/v3/kv/range"])
    }

    @Test func `a write goes to the next endpoint where none listens at the first`() throws {
        let server = try FakeServer("html")
        // Nothing listens at the address that systems use for discarding.
        let client = EtcdClient(try .patient(["http://127.0.0.1:9", server.endpoint]))
        let found = failure { () throws(EtcdFailure) in try client.transaction(then: []) }
        #expect(found?.isMalformed == true, "\(String(describing: found))")
        try server.waitForRequests(1)
    }

    @Test func `a failure of all endpoints names each`() throws {
        let client = EtcdClient(try .patient(["http://127.0.0.1:9", "http://127.0.0.2:9"]))
        guard
            case .unreachable(let text)? = failure(of: { () throws(EtcdFailure) in
                try client.transaction(then: [])
            })
        else {
            Issue.record("not unreachable")
            return
        }
        #expect(text.contains("127.0.0.1"))
        #expect(text.contains("127.0.0.2"))
    }

    @Test(arguments: ["watch-garbage", "endless-line", "html", "html-200", "half"])
    func `a watch of such a server fails`(how: String) throws {
        let server = try FakeServer(how)
        let watch = EtcdWatch(try .hasty([server.endpoint]), prefix: bytes("a"), from: 1)
        let found = failure { () throws(EtcdFailure) in try watch.run { _ in true } }
        #expect(found?.isMalformed == true || found?.isNoAnswer == true, "\(String(describing: found))")
    }

    @Test(arguments: ["watch-closed", "watch-ended"]) func `a watch that breaks off is lost`(how: String) throws {
        let server = try FakeServer(how)
        let watch = EtcdWatch(try .patient([server.endpoint]), prefix: bytes("a"), from: 1, silence: .seconds(600))
        let found = failure { () throws(EtcdFailure) in try watch.run { _ in true } }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
    }

    @Test func `a proxy of the environment is not used`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let proxy = try FakeServer("good")
            unsafe setenv("http_proxy", proxy.endpoint, 1)
            unsafe setenv("ALL_PROXY", proxy.endpoint, 1)
            let client = EtcdClient(try .patient(["http://127.0.0.1:9"]))
            let found = failure { () throws(EtcdFailure) in try client.range(.key(bytes("a"))) }
            guard found?.isUnreachable == true, proxy.requests.isEmpty else { exit(1) }
        }
    }
}
#endif
