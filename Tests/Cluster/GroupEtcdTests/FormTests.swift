#if Curl
@testable import GroupEtcd
import TestSupport
import Testing

/// An error of etcd, and the bytes in which versions of etcd send it.
struct Refusal: Sendable, CustomTestStringConvertible {
    var failure: EtcdFailure
    /// What the client concludes from it besides its case.
    var meaning: Set<Meaning> = []
    /// One answer a line: of 3.4, of 3.5, of 3.6.
    var answers: String

    enum Meaning { case notWritten, ofTheToken, ofTheMember }

    init(_ failure: EtcdFailure, _ meaning: Set<Meaning> = [], answers: String) {
        self.failure = failure
        self.meaning = meaning
        self.answers = answers
    }

    var testDescription: String { "\(failure)" }
    var lines: [Substring] { answers.split(separator: "\n") }
}

/// The forms of answers: of grpc-gateway 1 in etcd 3.4 and 3.5, of grpc-gateway 2 in 3.6. Those of 3.4 and 3.5 are as
/// etcd 3.4.23 and 3.5.1 sent them, where these could be made to; those of 3.6 are made after grpc-gateway's sources.
@Suite struct `Answers of etcd 3.4, 3.5 and 3.6` {
    private static let refusals: [Refusal] = [
        Refusal(
            .compacted(0), [.notWritten],
            answers: #"""
                {"error":"etcdserver: mvcc: required revision has been compacted",\#
                "message":"etcdserver: mvcc: required revision has been compacted","code":11}
                {"error":"etcdserver: mvcc: required revision has been compacted","code":11,\#
                "message":"etcdserver: mvcc: required revision has been compacted"}
                {"code":11,"message":"etcdserver: mvcc: required revision has been compacted"}
                """#),
        Refusal(
            .noSpace("etcdserver: mvcc: database space exceeded"),
            answers: #"""
                {"error":"etcdserver: mvcc: database space exceeded",\#
                "message":"etcdserver: mvcc: database space exceeded","code":8}
                {"error":"etcdserver: mvcc: database space exceeded","code":8,\#
                "message":"etcdserver: mvcc: database space exceeded"}
                {"code":8,"message":"etcdserver: mvcc: database space exceeded"}
                """#),
        Refusal(
            .denied("etcdserver: permission denied"), [.notWritten],
            answers: #"""
                {"error":"etcdserver: permission denied","message":"etcdserver: permission denied","code":7}
                {"error":"etcdserver: permission denied","code":7,"message":"etcdserver: permission denied"}
                {"code":7,"message":"etcdserver: permission denied"}
                """#),
        Refusal(
            .denied("etcdserver: invalid auth token"), [.notWritten, .ofTheToken],
            answers: #"""
                {"error":"etcdserver: invalid auth token","message":"etcdserver: invalid auth token","code":16}
                {"error":"etcdserver: invalid auth token","code":16,"message":"etcdserver: invalid auth token"}
                {"code":16,"message":"etcdserver: invalid auth token"}
                """#),
        Refusal(
            .denied("etcdserver: user name is empty"), [.notWritten, .ofTheToken],
            answers: #"""
                {"error":"etcdserver: user name is empty","message":"etcdserver: user name is empty","code":3}
                {"error":"etcdserver: user name is empty","code":3,"message":"etcdserver: user name is empty"}
                {"code":3,"message":"etcdserver: user name is empty"}
                """#),
        Refusal(
            .denied("etcdserver: revision of auth store is old"), [.notWritten, .ofTheToken],
            answers: #"""
                {"error":"etcdserver: revision of auth store is old",\#
                "message":"etcdserver: revision of auth store is old","code":3}
                {"error":"etcdserver: revision of auth store is old","code":3,\#
                "message":"etcdserver: revision of auth store is old"}
                {"code":3,"message":"etcdserver: revision of auth store is old"}
                """#),
        // Some patch releases, like 3.5.1, have another text for that.
        Refusal(
            .denied("auth: revision in header is old"), [.notWritten, .ofTheToken],
            answers: #"""
                {"error":"auth: revision in header is old","message":"auth: revision in header is old","code":2}
                {"error":"auth: revision in header is old","code":2,"message":"auth: revision in header is old"}
                """#),
        Refusal(
            .denied("etcdserver: authentication failed, invalid user ID or password"), [.notWritten],
            answers: #"""
                {"error":"etcdserver: authentication failed, invalid user ID or password",\#
                "message":"etcdserver: authentication failed, invalid user ID or password","code":3}
                {"error":"etcdserver: authentication failed, invalid user ID or password","code":3,\#
                "message":"etcdserver: authentication failed, invalid user ID or password"}
                {"code":3, "message":"etcdserver: authentication failed, invalid user ID or password", "details":[]}
                """#),
        Refusal(
            .refused(code: 9, "etcdserver: authentication is not enabled"), [.notWritten],
            answers: #"""
                {"error":"etcdserver: authentication is not enabled",\#
                "message":"etcdserver: authentication is not enabled","code":9}
                {"error":"etcdserver: authentication is not enabled","code":9,\#
                "message":"etcdserver: authentication is not enabled"}
                {"code":9,"message":"etcdserver: authentication is not enabled"}
                """#),
        Refusal(
            .refused(code: 5, "etcdserver: requested lease not found"), [.notWritten],
            answers: #"""
                {"error":"etcdserver: requested lease not found",\#
                "message":"etcdserver: requested lease not found","code":5}
                {"error":"etcdserver: requested lease not found","code":5,\#
                "message":"etcdserver: requested lease not found"}
                {"code":5,"message":"etcdserver: requested lease not found"}
                """#),
        Refusal(
            .refused(code: 11, "etcdserver: mvcc: required revision is a future revision"), [.notWritten],
            answers: #"""
                {"error":"etcdserver: mvcc: required revision is a future revision",\#
                "message":"etcdserver: mvcc: required revision is a future revision","code":11}
                {"error":"etcdserver: mvcc: required revision is a future revision","code":11,\#
                "message":"etcdserver: mvcc: required revision is a future revision"}
                {"code":11,"message":"etcdserver: mvcc: required revision is a future revision"}
                """#),
        Refusal(
            .refused(code: 3, "etcdserver: duplicate key given in txn request"), [.notWritten],
            answers: #"""
                {"error":"etcdserver: duplicate key given in txn request",\#
                "message":"etcdserver: duplicate key given in txn request","code":3}
                {"error":"etcdserver: duplicate key given in txn request","code":3,\#
                "message":"etcdserver: duplicate key given in txn request"}
                {"code":3,"message":"etcdserver: duplicate key given in txn request"}
                """#),
        Refusal(
            .refused(code: 8, "grpc: received message larger than max (4000008 vs. 2097152)"), [.notWritten],
            answers: #"""
                {"error":"grpc: received message larger than max (4000008 vs. 2097152)",\#
                "message":"grpc: received message larger than max (4000008 vs. 2097152)","code":8}
                {"error":"grpc: received message larger than max (4000008 vs. 2097152)","code":8,\#
                "message":"grpc: received message larger than max (4000008 vs. 2097152)"}
                {"code":8,"message":"grpc: received message larger than max (4000008 vs. 2097152)"}
                """#),
        Refusal(
            .refused(code: 8, "etcdserver: too many requests"), [.notWritten],
            answers: #"""
                {"error":"etcdserver: too many requests","message":"etcdserver: too many requests","code":8}
                {"error":"etcdserver: too many requests","code":8,"message":"etcdserver: too many requests"}
                {"code":8,"message":"etcdserver: too many requests"}
                """#),
        Refusal(
            .refused(code: 14, "etcdserver: no leader"), [.notWritten, .ofTheMember],
            answers: #"""
                {"error":"etcdserver: no leader","message":"etcdserver: no leader","code":14}
                {"error":"etcdserver: no leader","code":14,"message":"etcdserver: no leader"}
                {"code":14,"message":"etcdserver: no leader"}
                """#),
        Refusal(
            .refused(code: 14, "etcdserver: not capable"), [.notWritten, .ofTheMember],
            answers: #"""
                {"error":"etcdserver: not capable","message":"etcdserver: not capable","code":14}
                {"error":"etcdserver: not capable","code":14,"message":"etcdserver: not capable"}
                """#),
        Refusal(
            .refused(code: 9, "etcdserver: not capable"), [.notWritten, .ofTheMember],
            answers: #"{"code":9,"message":"etcdserver: not capable"}"#),
        Refusal(
            .refused(code: 14, "etcdserver: rpc not supported for learner"), [.notWritten, .ofTheMember],
            answers: #"""
                {"error":"etcdserver: rpc not supported for learner",\#
                "message":"etcdserver: rpc not supported for learner","code":14}
                {"error":"etcdserver: rpc not supported for learner","code":14,\#
                "message":"etcdserver: rpc not supported for learner"}
                """#),
        Refusal(
            .refused(code: 9, "etcdserver: rpc not supported for learner"), [.notWritten, .ofTheMember],
            answers: #"{"code":9,"message":"etcdserver: rpc not supported for learner"}"#),
        Refusal(
            .refused(code: 14, "etcdserver: request timed out"),
            answers: #"""
                {"error":"etcdserver: request timed out","message":"etcdserver: request timed out","code":14}
                {"error":"etcdserver: request timed out","code":14,"message":"etcdserver: request timed out"}
                {"code":14,"message":"etcdserver: request timed out"}
                """#),
        Refusal(
            .refused(code: 14, "etcdserver: leader changed"),
            answers: #"""
                {"error":"etcdserver: leader changed","message":"etcdserver: leader changed","code":14}
                {"error":"etcdserver: leader changed","code":14,"message":"etcdserver: leader changed"}
                {"code":14,"message":"etcdserver: leader changed"}
                """#),
        Refusal(
            .refused(code: 2, "invalid character 'x' looking for beginning of value"),
            answers: #"""
                {"error":"invalid character 'x' looking for beginning of value",\#
                "message":"invalid character 'x' looking for beginning of value","code":2}
                {"error":"invalid character 'x' looking for beginning of value","code":2,\#
                "message":"invalid character 'x' looking for beginning of value"}
                {"code":2,"message":"invalid character 'x' looking for beginning of value"}
                """#),
    ]

    @Test(arguments: refusals) func `an error is told apart in the form of each version`(refusal: Refusal) {
        for line in refusal.lines {
            let found = EtcdAnswers.failure(status: 400, line.utf8)
            #expect(found == refusal.failure, "\(line)")
            expectMeaning(found, refusal)
            // A stream that cannot begin.
            let streamed = failure { () throws(EtcdFailure) in
                try EtcdAnswers.decodeStreamed(EtcdAnswers.Lease.self, line.utf8)
            }
            #expect(streamed == refusal.failure, "\(line)")
        }
    }

    private func expectMeaning(_ found: EtcdFailure, _ refusal: Refusal) {
        #expect(found.isSurelyNotWritten == refusal.meaning.contains(.notWritten))
        #expect(found.isOfTheToken == refusal.meaning.contains(.ofTheToken))
        #expect(found.isOfTheMember == refusal.meaning.contains(.ofTheMember))
    }

    private static let ends: [Refusal] = [
        Refusal(
            .refused(code: 14, "etcdserver: no leader"), [.notWritten, .ofTheMember],
            answers: #"""
                {"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader",\#
                "http_status":"Service Unavailable"}}
                {"error":{"code":14,"message":"etcdserver: no leader"}}
                {"error":{"code":14, "message":"etcdserver: no leader", "details":[]}}
                """#),
        Refusal(
            .refused(code: 14, "error reading from server: EOF"),
            answers: #"""
                {"error":{"grpc_code":14,"http_code":503,"message":"error reading from server: EOF",\#
                "http_status":"Service Unavailable"}}
                {"error":{"code":14,"message":"error reading from server: EOF"}}
                """#),
        Refusal(
            .refused(code: 1, "etcdserver: watch canceled"),
            answers: #"""
                {"error":{"grpc_code":1,"http_code":408,"message":"etcdserver: watch canceled",\#
                "http_status":"Request Timeout"}}
                {"error":{"code":1,"message":"etcdserver: watch canceled"}}
                """#),
        Refusal(
            .denied("etcdserver: invalid auth token"), [.notWritten, .ofTheToken],
            answers: #"""
                {"error":{"grpc_code":16,"http_code":401,"message":"etcdserver: invalid auth token",\#
                "http_status":"Unauthorized"}}
                {"error":{"code":16,"message":"etcdserver: invalid auth token"}}
                """#),
        // An answer of the watch itself, which ends it: from 3.4.23, 3.5.1 and 3.6.
        Refusal(
            .compacted(3), [.notWritten],
            answers: #"""
                {"result":{"header":{"cluster_id":"7","raft_term":"2"},"canceled":true,"compact_revision":"3"}}
                """#),
        Refusal(
            .denied("rpc error: code = PermissionDenied desc = etcdserver: permission denied"), [.notWritten],
            answers: #"""
                {"result":{"header":{"revision":"4"},"watch_id":"-1","created":true,"canceled":true,\#
                "cancel_reason":"rpc error: code = PermissionDenied desc = etcdserver: permission denied"}}
                {"result":{"header":{"revision":"4"},"created":true,"canceled":true,\#
                "cancel_reason":"rpc error: code = PermissionDenied desc = etcdserver: permission denied"}}
                """#),
        Refusal(
            .denied("rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"),
            [.notWritten, .ofTheToken],
            answers: #"""
                {"result":{"header":{"revision":"4"},"watch_id":"-1","created":true,"canceled":true,\#
                "cancel_reason":"rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"}}
                """#),
        Refusal(
            .denied("rpc error: code = InvalidArgument desc = etcdserver: revision of auth store is old"),
            [.notWritten, .ofTheToken],
            answers: #"""
                {"result":{"header":{"revision":"4"},"watch_id":"-1","created":true,"canceled":true,\#
                "cancel_reason":"rpc error: code = InvalidArgument desc = etcdserver: revision of auth store is old"}}
                """#),
        Refusal(
            .refused(code: 14, "the watch was canceled"),
            answers: #"""
                {"result":{"header":{"revision":"4"},"canceled":true}}
                {"result":{"header":{"revision":"4"},"canceled":true,"compact_revision":"0","cancel_reason":""}}
                """#),
    ]

    @Test(arguments: ends) func `a watch ends with the same failure in each form`(end: Refusal) throws {
        for line in end.lines {
            var lines = EtcdWatchLines()
            _ = try lines.take(bytes(#"{"result":{"header":{"revision":"4"},"created":true}}"# + "\n"))
            // With and without the end of the line.
            for text in ["\(line)\n", "\(line)"] {
                var lines = lines
                let found = failure { () throws(EtcdFailure) in try lines.take(bytes(text), isAtEnd: true) }
                #expect(found == end.failure, "\(line)")
                if let found { expectMeaning(found, end) }
            }
        }
    }

    @Test(arguments: [
        #"{"code":404,"message":"page not found"}"#, #"{"code":5}"#, #"{"code":0,"message":"x"}"#,
        #"{"code":"five","message":"x"}"#, #"{"code":5,"message":null}"#, #"{"message":"x"}"#, #"{"error":5,"code":5}"#,
        #"{"error":["x"],"code":5,"message":"x"}"#, #"{"error":{"code":[],"message":"x"}}"#, "{}", "[]", "null", "",
    ])
    func `another server's error is malformed`(text: String) {
        let found = EtcdAnswers.failure(status: 404, bytes(text))
        #expect(found.isMalformed, "\(found)")
        #expect("\(found)".contains("status 404"))
    }

    @Test func `a number of an error may be a string, and its other form null`() {
        let expected = EtcdFailure.refused(code: 5, "x")
        for text in [
            #"{"code":"5","message":"x"}"#, #"{"error":null,"code":5,"message":"x"}"#,
            #"{"error":"x","code":"5","message":"x"}"#, #"{"error":{"grpc_code":"5","message":"x"}}"#,
            #"{"error":{"code":"5","message":"x"}}"#,
        ] {
            #expect(EtcdAnswers.failure(status: 404, bytes(text)) == expected, "\(text)")
        }
    }

    @Test func `fields with their default value are as good as none`() throws {
        let range = #"{"header":{"cluster_id":"7","member_id":"0","revision":"5","raft_term":"0"}"#
        let read = try EtcdAnswers.range(bytes(range + "}"))
        #expect(try EtcdAnswers.range(bytes(range + #","kvs":[],"more":false,"count":"0"}"#)) == read)

        let short = #"{"header":{"cluster_id":7,"revision":5},"responses":[{"response_delete_range":{}}]}"#
        let long =
            #"{"header":{"cluster_id":"7","revision":"5"},"succeeded":false,"responses":[{"response_delete_range":"#
            + #"{"header":null,"deleted":"0","prev_kvs":[]}}]}"#
        let operations = [EtcdOperation.delete([1])]
        #expect(
            try EtcdAnswers.transaction(bytes(long), [], operations)
                == EtcdAnswers.transaction(bytes(short), [], operations))

        // 3.6 has further fields.
        let status = #"{"header":{"revision":"5"},"version":"3.6.0","dbSize":"20480""#
        let newer =
            #","leader":"0","raftIndex":"0","raftTerm":"0","raftAppliedIndex":"0","errors":[],"dbSizeInUse":"0","#
            + #""isLearner":false,"storageVersion":"3.6.0","dbSizeQuota":"2147483648","#
            + #""downgradeInfo":{"enabled":false}}"#
        #expect(try EtcdAnswers.status(bytes(status + "}")) == EtcdAnswers.status(bytes(status + newer)))
    }

    @Test func `a sign of life with all fields is the same as a short one, between two fragments, too`() throws {
        let defaults =
            #""watch_id":"0","canceled":false,"compact_revision":"0","cancel_reason":"","fragment":false,"events":[]"#
        let created = #"{"result":{"header":{"revision":"4"},"created":true"#
        let event = #"{"result":{"header":{"revision":"4"},"events":[{"kv":{"key":"YQ==","mod_revision":"4"}}]"#
        let sign = #"{"result":{"header":{"revision":"4"}"#
        func responses(_ more: String) throws -> [EtcdWatchResponse] {
            var lines = EtcdWatchLines()
            return try lines.take(
                bytes(
                    [created + more, event + #","fragment":true"#, sign + more, event].map { $0 + "}}\n" }.joined()))
        }
        let short = try responses("")
        #expect(short.map(\.events.count) == [0, 0, 2])
        #expect(short.map(\.isProgress) == [true, true, false])
        #expect(try responses("," + defaults) == short)
    }
}
#endif
