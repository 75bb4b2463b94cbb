import GroupCurl

/// A client of etcd's JSON gateway, for one thread at a time. The client keeps its connection and the user's token.
///
/// Each call tries the endpoints in turn; an endpoint that has failed comes at the end. A request that was surely not
/// sent, or that a member refused because of its own state, goes to the next endpoint. A request that was perhaps sent
/// is repeated only if a second execution does no harm: that is so for reads and for the renewal of a lease.
package final class EtcdClient {
    private let connection: EtcdConnection

    package init(_ configuration: EtcdConfiguration) {
        connection = EtcdConnection(configuration, CurlCanceller())
    }

    package func range(_ range: EtcdRange) throws(EtcdFailure) -> EtcdRangeResult {
        try connection.call("/v3/kv/range", EtcdRequestBytes.range(range), isRepeatable: true) {
            bytes throws(EtcdFailure) in
            try EtcdAnswers.range(bytes)
        }
    }

    /// Reads a range in pages, at one revision, and passes each key to `body`. The first page has at most `range.limit`
    /// keys, and the others have as many as fit in about a megabyte. If the answer for a page is malformed, for example
    /// too large, or does not come in time, the page is requested again with half as many keys. Errors: those of
    /// `range` for a page of one key, and those of `body`
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
            // An answer has the newest revision of the store, whatever revision was requested.
            if range.revision == 0 { range.revision = page.revision }
            if size < 1 << 19 { range.limit = min(range.limit * 2, 1_000) }
            if size > 1 << 20 { range.limit = max(range.limit / 2, 1) }
        }
    }

    /// Executes the operations of `then` if all conditions are true, and else those of `otherwise`, as one atomic step.
    /// etcd accepts at most 128 conditions, 128 operations in each branch, and 1.5 MiB, unless it is configured
    /// otherwise.
    @discardableResult package func transaction(
        if compares: [EtcdCompare] = [], then: [EtcdOperation], else otherwise: [EtcdOperation] = []
    ) throws(EtcdFailure) -> EtcdTransactionResult {
        let body = EtcdRequestBytes.transaction(compares, then, otherwise)
        return try connection.call("/v3/kv/txn", body, isRepeatable: false) { bytes throws(EtcdFailure) in
            try EtcdAnswers.transaction(bytes, then, otherwise)
        }
    }

    /// Grants a lease that ends `seconds` after it was last kept alive, and returns its identifier. etcd raises a time
    /// that is shorter than an election: by default, each lease lasts at least 2 seconds. If the answer is lost, the
    /// lease ends by itself.
    package func grantLease(seconds: Int64) throws(EtcdFailure) -> Int64 {
        try connection.call("/v3/lease/grant", EtcdRequestBytes.grant(seconds: seconds), isRepeatable: false) {
            bytes throws(EtcdFailure) in
            let identifier = try EtcdAnswers.decode(EtcdAnswers.Lease.self, bytes).ID?.value ?? 0
            if identifier == 0 { throw .malformed("a lease without an identifier") }
            return identifier
        }
    }

    /// Renews a lease. Returns the seconds that the lease now has left; 0 if it has ended.
    package func keepLeaseAlive(_ lease: Int64) throws(EtcdFailure) -> Int64 {
        try connection.call("/v3/lease/keepalive", EtcdRequestBytes.lease(lease), isRepeatable: true) {
            bytes throws(EtcdFailure) in
            // The answer is a stream of one object.
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
            let answer = try EtcdAnswers.decodeStreamed(EtcdAnswers.Lease.self, line)
            guard answer.ID?.value == lease else { throw .malformed("the answer is for another lease") }
            return max(0, answer.TTL?.value ?? 0)
        }
    }

    /// Ends a lease, and removes its keys. Error: `refused(code: 5, …)` if the lease has ended already
    package func revokeLease(_ lease: Int64) throws(EtcdFailure) {
        try connection.call("/v3/lease/revoke", EtcdRequestBytes.lease(lease), isRepeatable: false) {
            bytes throws(EtcdFailure) in
            _ = try EtcdAnswers.decode(EtcdAnswers.Nothing.self, bytes)
        }
    }

    /// Removes the history before a revision. Error: `compacted` if that was done before
    package func compact(_ revision: UInt64) throws(EtcdFailure) {
        try connection.call("/v3/kv/compaction", EtcdRequestBytes.compact(revision), isRepeatable: false) {
            bytes throws(EtcdFailure) in
            _ = try EtcdAnswers.decode(EtcdAnswers.Nothing.self, bytes)
        }
    }

    /// Returns the state of the first member that answers.
    package func status() throws(EtcdFailure) -> EtcdStatus {
        try connection.call("/v3/maintenance/status", EtcdRequestBytes.nothing, isRepeatable: true) {
            bytes throws(EtcdFailure) in
            try EtcdAnswers.status(bytes)
        }
    }
}
