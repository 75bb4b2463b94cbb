#if Curl
import FoundationEssentials
@testable import GroupEtcd
import TestSupport
import Testing

/// Bytes of requests and answers, without etcd.
@Suite(.ownThreads) struct `Bytes from and to etcd` {
    private static let header =
        #""header":{"cluster_id":"14841639068965178418","member_id":"10276657743932975437","revision":"12","raft_term":"2"}"#
    private static let keyValue =
        #"{"key":"YS8x","create_revision":"3","mod_revision":"12","version":"2","value":"AP8K","lease":"7587869134132"}"#

    /// Answers of an etcd 3.4.23.
    private static let samples: [[UInt8]] = [
        "{\(header),\"kvs\":[\(keyValue),\(keyValue)],\"more\":true,\"count\":\"7\"}", "{\(header)}",
        "{\(header),\"succeeded\":true,\"responses\":[{\"response_put\":{\"header\":{\"revision\":\"12\"}}},"
            + "{\"response_range\":{\"header\":{\"revision\":\"12\"},\"kvs\":[\(keyValue)],\"count\":\"1\"}},"
            + "{\"response_delete_range\":{\"header\":{\"revision\":\"12\"},\"deleted\":\"2\"}}]}",
        "{\(header),\"ID\":\"7587869134132\",\"TTL\":\"60\"}",
        "{\"result\":{\(header),\"ID\":\"7587869134132\",\"TTL\":\"60\"}}",
        "{\(header),\"version\":\"3.4.23\",\"dbSize\":\"20480\",\"leader\":\"10276657743932975437\",\"raftIndex\":\"4\","
            + "\"raftTerm\":\"2\",\"raftAppliedIndex\":\"4\",\"dbSizeInUse\":\"16384\",\"errors\":[\"memberID:1 alarm:NOSPACE \"]}",
        "{\"result\":{\(header),\"created\":true}}\n{\"result\":{\(header),\"events\":[{\"kv\":\(keyValue)},"
            + "{\"type\":\"DELETE\",\"kv\":{\"key\":\"YS8x\",\"mod_revision\":\"13\"}}]}}\n{\"result\":{\(header)}}\n",
        "{\"result\":{\(header),\"created\":true}}\n{\"result\":{\(header),\"canceled\":true,\"compact_revision\":\"5\"}}\n",
        #"{"error":"etcdserver: mvcc: database space exceeded","message":"etcdserver: mvcc: database space exceeded","code":8}"#,
        #"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader","http_status":"Service Unavailable"}}"#,
        #"{"header":{},"token":"abcdefgh.12"}"#,
        // Errors of an etcd 3.6.
        #"{"code":8,"message":"etcdserver: mvcc: database space exceeded","details":[]}"#,
        #"{"error":{"code":14,"message":"etcdserver: no leader","details":[]}}"#,
    ].map { Array($0.utf8) }

    /// Decodes bytes as every kind of answer.
    private static func decode(_ bytes: [UInt8]) -> Int {
        var values = 0
        func count<Value>(_ decode: () throws(EtcdFailure) -> Value) {
            do throws(EtcdFailure) {
                _ = try decode()
                values += 1
            } catch {
                _ = error.description
            }
        }
        let operations: [EtcdOperation] = [.put([], []), .range(.key([])), .delete([])]
        count { () throws(EtcdFailure) in try EtcdAnswers.range(bytes) }
        count { () throws(EtcdFailure) in try EtcdAnswers.transaction(bytes, operations, []) }
        count { () throws(EtcdFailure) in try EtcdAnswers.status(bytes) }
        count { () throws(EtcdFailure) in try EtcdAnswers.decode(EtcdAnswers.Lease.self, bytes) }
        count { () throws(EtcdFailure) in try EtcdAnswers.decodeStreamed(EtcdAnswers.Lease.self, bytes) }
        count { () throws(EtcdFailure) in try EtcdAnswers.decode(EtcdAnswers.Authentication.self, bytes) }
        _ = EtcdAnswers.failure(status: 500, bytes)
        var lines = EtcdWatchLines()
        count { () throws(EtcdFailure) in try lines.take(bytes, isAtEnd: true) }
        return values
    }

    @Test func `20,000 changed answers are values or typed errors`() {
        var random = SeededGenerator(seed: faultSeed)
        var values = 0
        for round in 0..<20_000 {
            values += Self.decode(mutated(Self.samples[round % Self.samples.count], using: &random))
        }
        // Both happen.
        #expect(values > 1_000)
    }

    @Test func `the lines of a watch are the same in pieces of any size`() throws {
        let bytes = Self.samples[6]
        var whole = EtcdWatchLines()
        let expected = try whole.take(bytes)
        #expect(expected.map(\.events.count) == [0, 2, 0])
        #expect(expected.map(\.isProgress) == [true, false, true])
        for size in 1...bytes.count {
            var lines = EtcdWatchLines()
            var found: [EtcdWatchResponse] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                found += try lines.take(Array(bytes[start..<min(bytes.count, start + size)]))
            }
            #expect(found == expected)
        }
    }

    @Test func `the events of a revision in several fragments are returned together`() throws {
        func line(_ revisions: [Int], isFragment: Bool) -> [UInt8] {
            let events = revisions.map { "{\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"\($0)\"}}" }
            return bytes(
                "{\"result\":{\"header\":{\"revision\":\"9\"},\"events\":[\(events.joined(separator: ","))]"
                    + (isFragment ? ",\"fragment\":true" : "") + "}}\n")
        }
        var lines = EtcdWatchLines()
        _ = try lines.take(bytes("{\"result\":{\"header\":{},\"created\":true}}\n"))
        #expect(try revisions(lines.take(line([3, 4, 4], isFragment: true))) == [[3]])
        #expect(try lines.take(line([4], isFragment: true)).isEmpty)
        // A sign of life does not end what is held.
        #expect(try lines.take(bytes("{\"result\":{\"header\":{\"revision\":\"9\"}}}\n")).map(\.isProgress) == [true])
        #expect(try revisions(lines.take(line([4, 5], isFragment: true))) == [[4, 4, 4, 4]])
        #expect(try revisions(lines.take(line([6], isFragment: false))) == [[5, 6]])
        #expect(failure { () throws(EtcdFailure) in try lines.take(line([6], isFragment: false)) }?.isMalformed == true)
        #expect(
            failure { () throws(EtcdFailure) in try lines.take(line([8, 7], isFragment: false)) }?.isMalformed == true)
    }

    private func revisions(_ responses: [EtcdWatchResponse]) -> [[UInt64]] {
        responses.map { $0.events.map(\.keyValue.modRevision) }
    }

    @Test func `a count at the end of its type is malformed, as it could not be added to`() {
        let keyValue = #"{"key":"YQ==","mod_revision":"18446744073709551615"}"#
        for answer in [
            #"{"header":{"revision":"18446744073709551615"}}"#, #"{"header":{},"count":"9223372036854775807"}"#,
            #"{"header":{},"kvs":[\#(keyValue)]}"#,
        ] {
            #expect(
                failure { () throws(EtcdFailure) in try EtcdAnswers.range(Array(answer.utf8)) }?.isMalformed == true,
                "\(answer)")
        }
        let status = #"{"header":{},"version":"3.4.23","dbSizeInUse":"18446744073709551615"}"#
        #expect(failure { () throws(EtcdFailure) in try EtcdAnswers.status(Array(status.utf8)) }?.isMalformed == true)
        // The identifiers of clusters, members and leaders are any numbers.
        let identifiers =
            #"{"header":{"cluster_id":"18446744073709551615"},"version":"3.4.23","leader":"18446744073709551615"}"#
        #expect(throws: Never.self) { try EtcdAnswers.status(Array(identifiers.utf8)) }
    }

    @Test func `an answer with another number of results than operations is malformed`() {
        let answer = Self.samples[2]
        let operations: [EtcdOperation] = [.put([], []), .range(.key([])), .delete([])]
        #expect(throws: Never.self) { try EtcdAnswers.transaction(answer, operations, []) }
        for wrong in [Array(operations.dropLast()), operations + [.delete([])], Array(operations.reversed())] {
            #expect(
                failure { () throws(EtcdFailure) in try EtcdAnswers.transaction(answer, wrong, []) }?.isMalformed
                    == true)
        }
    }

    @Test(arguments: [
        "http://127.0.0.1:2379", "https://etcd-1.example.org:2379/", "http://[::1]:2379", "http://host",
        "https://[fe80::1]",
    ])
    func `an address of a host is an endpoint`(address: String) throws {
        let configuration = try EtcdConfiguration(endpoints: [address])
        #expect(configuration.endpoints == [address.hasSuffix("/") ? String(address.dropLast()) : address])
    }

    @Test(arguments: [
        "", "127.0.0.1:2379", "ftp://host", "file:///etc/passwd", "http://", "http:///", "http://:2379", "http://host:",
        "http://host:0", "http://host:70000", "http://host:1:2", "http://user:password@host", "http://host/path",
        "http://host?x", "http://host#x", "http://ho st", "http://host\n", "http://host\r\nX: y", "http://[::1",
        "http://[::1]x",
        "HTTP://höst",
    ])
    func `anything else is no endpoint`(address: String) {
        #expect(throws: EtcdFailure.self) { try EtcdConfiguration(endpoints: ["http://host", address]) }
    }

    @Test func `no endpoint is no configuration`() {
        #expect(throws: EtcdFailure.self) { try EtcdConfiguration(endpoints: []) }
    }

    @Test func `a password with any characters is one string of JSON`() throws {
        struct Request: Decodable { var name, password: String }
        for text in ["a\"b\\c", "\u{0}\u{1}\n\t\u{1f}", "é🔒", "\u{7f}</script>"] {
            let bytes = EtcdRequestBytes.authenticate(text, text)
            let request = try JSONDecoder().decode(Request.self, from: Data(bytes))
            #expect(request.name == text)
            #expect(request.password == text)
        }
    }
}
#endif
