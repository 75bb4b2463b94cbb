package import GroupCurl

/// Requests to etcd's JSON gateway, for one thread at a time. It keeps its connection, and the user's token.
///
/// Each call tries the endpoints in turn, an endpoint that failed last. A request that was surely not sent goes to the
/// next endpoint. One that was perhaps sent is repeated only if it reads.
package final class EtcdClient {
    private let connection: EtcdConnection

    /// Ends a call from another thread.
    package var canceller: CurlCanceller { connection.canceller }

    package init(_ configuration: EtcdConfiguration) {
        connection = EtcdConnection(configuration, CurlCanceller())
    }

    /// Ends a call in progress, which fails with `noAnswer`; nothing else. From another thread, by `canceller`.
    package func cancel() { canceller.cancel() }

    package func range(_ range: EtcdRange) throws(EtcdFailure) -> EtcdRangeResult {
        try connection.call("/v3/kv/range", EtcdRequestBytes.range(range), isRepeatable: true) {
            bytes throws(EtcdFailure) in
            try EtcdAnswers.range(bytes)
        }
    }

    /// Reads a range in pages, at one revision, and hands each key to `body`. The range's limit is that of the first page; others
    /// have as many keys as fit in about a megabyte. A page that is too large, or is not there in time, is requested again with
    /// half as many keys.
    package func forEach(in range: EtcdRange, _ body: (EtcdKeyValue) throws(EtcdFailure) -> Void) throws(EtcdFailure) {
        var range = range
        range.limit = max(1, range.limit)
        while true {
            let page: EtcdRangeResult
            do throws(EtcdFailure) {
                page = try self.range(range)
            } catch {
                switch error {
                case .malformed where range.limit > 1, .noAnswer where range.limit > 1:
                    range.limit /= 2
                    continue
                default: throw error
                }
            }
            var size = 0
            for keyValue in page.keyValues {
                size += keyValue.key.count + keyValue.value.count
                try body(keyValue)
            }
            guard page.hasMore, let last = page.keyValues.last else { return }
            range.key = last.key + [0]
            // The answer's revision is the newest one, whatever was requested.
            if range.revision == 0 { range.revision = page.revision }
            if size < 1 << 19 { range.limit = min(range.limit * 2, 1_000) }
            if size > 1 << 20 { range.limit = max(range.limit / 2, 1) }
        }
    }

    /// Does the operations of `then` if all conditions are true, else those of `otherwise`, as one. At most 128
    /// operations and 1.5 MiB, unless etcd is configured otherwise.
    @discardableResult package func transaction(
        if compares: [EtcdCompare] = [], then: [EtcdOperation], else otherwise: [EtcdOperation] = []
    ) throws(EtcdFailure) -> EtcdTransactionResult {
        let body = EtcdRequestBytes.transaction(compares, then, otherwise)
        return try connection.call("/v3/kv/txn", body, isRepeatable: false) { bytes throws(EtcdFailure) in
            try EtcdAnswers.transaction(bytes, then, otherwise)
        }
    }

    /// Returns a new lease, which ends so many seconds after it was last kept alive. etcd may give it more: a lease
    /// lasts longer than an election (2 seconds). If the answer is lost, the lease ends by itself.
    package func grantLease(seconds: Int64) throws(EtcdFailure) -> Int64 {
        try connection.call("/v3/lease/grant", EtcdRequestBytes.grant(seconds: seconds), isRepeatable: false) {
            bytes throws(EtcdFailure) in
            let identifier = try EtcdAnswers.decode(EtcdAnswers.Lease.self, bytes).ID?.value ?? 0
            if identifier == 0 { throw .malformed("a lease without an identifier") }
            return identifier
        }
    }

    /// Returns the seconds that the lease has now; 0 if it has ended.
    package func keepLeaseAlive(_ lease: Int64) throws(EtcdFailure) -> Int64 {
        try connection.call("/v3/lease/keepalive", EtcdRequestBytes.lease(lease), isRepeatable: true) {
            bytes throws(EtcdFailure) in
            // A stream of one object.
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
            let answer = try EtcdAnswers.decodeStreamed(EtcdAnswers.Lease.self, line)
            guard answer.ID?.value == lease else { throw .malformed("the answer is for another lease") }
            return max(0, answer.TTL?.value ?? 0)
        }
    }

    /// Ends a lease; its keys are removed. Fails with `refused(code: 5, …)` if it has ended.
    package func revokeLease(_ lease: Int64) throws(EtcdFailure) {
        try connection.call("/v3/lease/revoke", EtcdRequestBytes.lease(lease), isRepeatable: false) {
            bytes throws(EtcdFailure) in
            _ = try EtcdAnswers.decode(EtcdAnswers.Nothing.self, bytes)
        }
    }

    /// Removes the history before a revision. Fails with `compacted` if that was done.
    package func compact(_ revision: UInt64) throws(EtcdFailure) {
        try connection.call("/v3/kv/compaction", EtcdRequestBytes.compact(revision), isRepeatable: false) {
            bytes throws(EtcdFailure) in
            _ = try EtcdAnswers.decode(EtcdAnswers.Nothing.self, bytes)
        }
    }

    /// Returns the state of the member that answers first.
    package func status() throws(EtcdFailure) -> EtcdStatus {
        try connection.call("/v3/maintenance/status", EtcdRequestBytes.nothing, isRepeatable: true) {
            bytes throws(EtcdFailure) in
            try EtcdAnswers.status(bytes)
        }
    }
}
