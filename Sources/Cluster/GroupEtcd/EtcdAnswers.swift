import FoundationEssentials

/// Decodes the JSON of etcd's answers, as etcd 3.4, 3.5 and 3.6 write it. Numbers of 64 bits are strings, and keys and
/// values are base64. etcd leaves out fields that are 0, false or empty; answers that have such fields are decoded,
/// too. Only errors have another form in 3.6: see `Failure`. Whatever the bytes are, a function returns a value, or
/// throws the error that the bytes describe or `EtcdFailure.malformed`.
enum EtcdAnswers {
    /// A number, which JSON has as a string or as a number.
    struct Number<Value: FixedWidthInteger & Decodable>: Decodable {
        var value: Value

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                guard let value = Value(text) else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
                }
                self.value = value
            } else {
                value = try container.decode(Value.self)
            }
        }
    }

    /// A number that etcd counts up, or a size. A value above 2^62 is refused, because sums with it could overflow. No
    /// real count or size comes near that.
    struct Count: Decodable {
        var value: UInt64

        init(from decoder: any Decoder) throws {
            value = try Number<UInt64>(from: decoder).value
            if value > 1 << 62 {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "a count that is too large"))
            }
        }
    }

    struct Header: Decodable {
        var cluster_id, member_id: Number<UInt64>?
        var revision, raft_term: Count?
    }

    struct KeyValue: Decodable {
        var key, value: Data?
        var create_revision, mod_revision, version: Count?
        var lease: Number<Int64>?

        var etcd: EtcdKeyValue {
            EtcdKeyValue(
                key: key.map { Array($0) } ?? [], value: value.map { Array($0) } ?? [],
                createRevision: create_revision?.value ?? 0, modRevision: mod_revision?.value ?? 0,
                version: version?.value ?? 0, lease: lease?.value ?? 0)
        }
    }

    struct Range: Decodable {
        var header: Header?
        var kvs: [KeyValue]?
        var more: Bool?
        var count: Count?

        func result(_ outer: Header) -> EtcdRangeResult {
            EtcdRangeResult(
                revision: header?.revision?.value ?? outer.revision?.value ?? 0,
                clusterIdentifier: outer.cluster_id?.value ?? 0, keyValues: kvs?.map(\.etcd) ?? [],
                hasMore: more ?? false, count: count?.value ?? 0)
        }
    }

    struct Deletion: Decodable {
        var deleted: Count?
    }

    struct Nothing: Decodable {}

    struct Response: Decodable {
        var response_range: Range?
        var response_put: Nothing?
        var response_delete_range: Deletion?
    }

    struct Transaction: Decodable {
        var header: Header?
        var succeeded: Bool?
        var responses: [Response]?
    }

    struct Lease: Decodable {
        var ID, TTL: Number<Int64>?
        var error: String?
    }

    struct Authentication: Decodable {
        var token: String?
    }

    struct Status: Decodable {
        var header: Header?
        var version: String?
        var dbSize, dbSizeInUse, raftIndex, raftTerm, raftAppliedIndex: Count?
        var leader: Number<UInt64>?
        var isLearner: Bool?
        var errors: [String]?
    }

    struct Event: Decodable {
        var type: String?
        var kv: KeyValue?
    }

    struct Watch: Decodable {
        var header: Header?
        var watch_id: Number<Int64>?
        var created, canceled, fragment: Bool?
        var compact_revision: Count?
        var cancel_reason: String?
        var events: [Event]?
    }

    /// An error. etcd 3.4 and 3.5 have the form of grpc-gateway 1, and 3.6 has the form of grpc-gateway 2:
    ///
    ///     1, a request:  {"error":"etcdserver: …","message":"etcdserver: …","code":5}
    ///     1, a stream:   {"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: …","http_status":"…"}}
    ///     2, a request:  {"code":5,"message":"etcdserver: …","details":[]}
    ///     2, a stream:   {"error":{"code":14,"message":"etcdserver: …","details":[]}}
    ///
    /// The error of a stream that cannot begin has the form of a request or that of a stream.
    struct Failure: Decodable {
        private struct Status: Decodable {
            var grpc_code, code: Number<Int>?
            var message: String?
        }

        private enum CodingKeys: String, CodingKey { case code, error, message }

        private static let unknown = 2
        private static let codes = 1...16

        let etcd: EtcdFailure

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let text = try? container.decode(String.self, forKey: .error) {
                let code = try container.decodeIfPresent(Number<Int>.self, forKey: .code)
                etcd = EtcdFailure(code: code?.value ?? Self.unknown, message: text)
            } else if let status = try container.decodeIfPresent(Status.self, forKey: .error) {
                let code = status.grpc_code ?? status.code
                etcd = EtcdFailure(code: code?.value ?? Self.unknown, message: status.message ?? "")
            } else {
                // Other servers may have errors with the same fields, but the code of these is the status of HTTP.
                let code = try container.decode(Number<Int>.self, forKey: .code).value
                guard Self.codes.contains(code) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .code, in: container, debugDescription: "no code of gRPC")
                }
                etcd = EtcdFailure(code: code, message: try container.decode(String.self, forKey: .message))
            }
        }
    }

    struct Streamed<Value: Decodable>: Decodable {
        var result: Value?
    }

    /// Decodes the body of a response with status 200. Error: `malformed`
    static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: some Collection<UInt8>) throws(EtcdFailure)
        -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw .malformed("\(bytes.count) bytes that are not the JSON of an answer")
        }
    }

    /// Decodes one object of a stream. Errors: the one that the object describes; `malformed`
    static func decodeStreamed<Value: Decodable>(_ type: Value.Type, _ bytes: some Collection<UInt8>)
        throws(EtcdFailure) -> Value
    {
        if let value = try decode(Streamed<Value>.self, bytes).result { return value }
        throw failure(status: nil, bytes)
    }

    /// Returns the failure that the body of a response describes; `malformed` if the body is no error of etcd.
    static func failure(status: Int?, _ bytes: some Collection<UInt8>) -> EtcdFailure {
        guard bytes.count <= 65_536, let failure = try? JSONDecoder().decode(Failure.self, from: Data(bytes)) else {
            let status = status.map { ", with status \($0) of HTTP" } ?? ""
            return .malformed("\(bytes.count) bytes that are no error of etcd\(status)")
        }
        return failure.etcd
    }
}

extension EtcdAnswers {
    static func range(_ bytes: [UInt8]) throws(EtcdFailure) -> EtcdRangeResult {
        let answer = try decode(Range.self, bytes)
        guard let header = answer.header else { throw .malformed("a range without a header") }
        return answer.result(header)
    }

    /// Decodes the answer to a transaction with these operations.
    static func transaction(_ bytes: [UInt8], _ then: [EtcdOperation], _ otherwise: [EtcdOperation])
        throws(EtcdFailure) -> EtcdTransactionResult
    {
        let answer = try decode(Transaction.self, bytes)
        guard let header = answer.header, let revision = header.revision?.value else {
            throw .malformed("a transaction without a revision")
        }
        let succeeded = answer.succeeded ?? false
        let operations = succeeded ? then : otherwise
        let responses = answer.responses ?? []
        guard responses.count == operations.count else {
            throw .malformed("\(responses.count) results of \(operations.count) operations")
        }
        var result = EtcdTransactionResult(
            succeeded: succeeded, revision: revision, clusterIdentifier: header.cluster_id?.value ?? 0, ranges: [],
            deleted: [])
        for (operation, response) in zip(operations, responses) {
            switch operation {
            case .put:
                guard response.response_put != nil else { throw .malformed("a put without its result") }
            case .delete:
                guard let deletion = response.response_delete_range else {
                    throw .malformed("a deletion without its result")
                }
                result.deleted.append(deletion.deleted?.value ?? 0)
            case .range:
                guard let range = response.response_range else { throw .malformed("a range without its result") }
                result.ranges.append(range.result(header))
            }
        }
        return result
    }

    static func status(_ bytes: [UInt8]) throws(EtcdFailure) -> EtcdStatus {
        let answer = try decode(Status.self, bytes)
        guard let header = answer.header, let version = answer.version else {
            throw .malformed("a status without a version")
        }
        return EtcdStatus(
            version: version, clusterIdentifier: header.cluster_id?.value ?? 0,
            memberIdentifier: header.member_id?.value ?? 0, revision: header.revision?.value ?? 0,
            dbSize: answer.dbSize?.value ?? 0, dbSizeInUse: answer.dbSizeInUse?.value ?? 0,
            leader: answer.leader?.value ?? 0, raftTerm: answer.raftTerm?.value ?? 0,
            raftIndex: answer.raftIndex?.value ?? 0, raftAppliedIndex: answer.raftAppliedIndex?.value ?? 0,
            isLearner: answer.isLearner ?? false, errors: answer.errors ?? [])
    }

    static func event(_ event: Event) throws(EtcdFailure) -> EtcdEvent {
        guard let keyValue = event.kv?.etcd, keyValue.modRevision > 0 else {
            throw .malformed("an event without a key or a revision")
        }
        switch event.type {
        case nil, "PUT": return EtcdEvent(kind: .put, keyValue: keyValue)
        case "DELETE": return EtcdEvent(kind: .delete, keyValue: keyValue)
        case let kind?: throw .malformed("an event of the kind \(kind.prefix(40))")
        }
    }
}
