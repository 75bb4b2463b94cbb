import GroupCurl
import GroupSystemCalls

/// A watch at one endpoint: a request whose body stays open, and the lines of its answer.
struct EtcdWatchStream {
    private let connection: EtcdConnection
    private let url: String
    private var lines = EtcdWatchLines()
    /// What has come and was not returned.
    private var ready: [EtcdWatchResponse] = []
    /// The moments of the last byte, and of the last sign of life that was requested.
    private var lastByte = awakeNanoseconds()
    private var lastRequest = awakeNanoseconds()
    /// Whether the caller has worked since the last wait: nothing was read meanwhile.
    private var wasWorking = true
    /// Why the stream has ended; thrown when all that came before was returned.
    private var end: EtcdFailure?

    /// Begins a watch. It has as long for its first answer as an authentication.
    init(
        _ connection: EtcdConnection, _ endpoint: String, _ fields: [String], prefix: [UInt8], from revision: UInt64
    ) throws(EtcdFailure) {
        self.connection = connection
        url = endpoint + "/v3/watch"
        let limit = connection.configuration.requestLimit * 4
        let request = CurlTransfer.Request(
            url: url, fields: fields, body: EtcdRequestBytes.watch(.prefix(prefix), from: revision), isOpen: true,
            limit: limit, authorityFile: connection.configuration.authorityFile,
            largest: EtcdConnection.largestResponse)
        if let ending = connection.transfer.begin(request) { throw connection.failure(ending, url) }
        let deadline = awakeNanoseconds() + limit.nanoseconds
        while !lines.isCreated {
            let left = deadline - awakeNanoseconds()
            if left <= 0 {
                let isSent = connection.transfer.isSent
                connection.transfer.finish()
                throw isSent ? .noAnswer("\(url): no watch in time") : .unreachable("\(url): no connection in time")
            }
            try step(atMost: .nanoseconds(left))
        }
    }

    /// Returns what has come, after a wait for more if that is nothing; perhaps nothing.
    mutating func next(silence: Duration) throws(EtcdFailure) -> [EtcdWatchResponse] {
        if ready.isEmpty {
            let third = max(1_000_000, silence.nanoseconds / 3)
            let now = awakeNanoseconds()
            if wasWorking { (lastByte, wasWorking) = (now, false) }
            if now - lastByte >= silence.nanoseconds {
                connection.transfer.finish()
                throw .noAnswer("\(url): silent for \(silence)")
            }
            if now - max(lastByte, lastRequest) >= third && !connection.transfer.isSending {
                connection.transfer.send(EtcdRequestBytes.progress)
                lastRequest = now
            }
            let wait = min(max(lastByte, lastRequest) + third, lastByte + silence.nanoseconds) - now
            try step(atMost: .nanoseconds(max(1_000_000, wait)))
        }
        if !ready.isEmpty { wasWorking = true }
        defer { ready = [] }
        return ready
    }

    /// Waits for the network, and reads the lines that are complete.
    private mutating func step(atMost limit: Duration) throws(EtcdFailure) {
        if connection.canceller.isCancelled { throw EtcdConnection.cancelled }
        let transfer = connection.transfer
        if let end { throw end }
        let ending = transfer.step(atMost: limit)
        let bytes = transfer.takeReceived()
        if !bytes.isEmpty { lastByte = awakeNanoseconds() }
        var isComplete = false
        switch ending {
        case nil: break
        case .answered?:
            isComplete = true
            end = .noAnswer("\(url): the watch has ended")
        case let ending?: end = connection.failure(ending, url)
        }
        do throws(EtcdFailure) {
            ready += try lines.take(bytes, isAtEnd: isComplete)
        } catch {
            transfer.finish()
            // The gateway's own connection to its member has ended (14), or is being ended (1), and not the member's leader.
            switch error {
            case .refused(14, let text) where lines.isCreated && !error.isOfTheMember,
                .refused(1, let text) where lines.isCreated:
                throw .noAnswer("\(url): \(text)")
            default: throw error
            }
        }
        if let end, ready.isEmpty { throw end }
    }
}
