import GroupCurl
import GroupSystemCalls

/// A watch at one endpoint: a request whose body stays open, and the lines of its answer.
struct EtcdWatchStream {
    private let connection: EtcdConnection
    private let url: String
    private var lines = EtcdWatchLines()
    /// The responses that have come and were not returned yet.
    private var ready: [EtcdWatchResponse] = []
    /// The times of the last byte that came, and of the last request for a sign of life.
    private var lastByte = awakeNanoseconds()
    private var lastRequest = awakeNanoseconds()
    /// Whether the caller has worked since the last wait. Nothing was read meanwhile, so that time is no silence.
    private var wasWorking = true
    /// The reason why the stream has ended. The reason is thrown when all earlier responses were returned.
    private var end: EtcdFailure?

    /// Begins a watch, and waits until etcd confirms it, for as long as an authentication may take.
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

    /// Returns the responses that have come. If there are none, waits for more once, and perhaps returns none. Error:
    /// `noAnswer` after `silence` without a byte; those that end the stream
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
            // With these codes, the gateway has lost its own connection to the member (14), or is closing it (1). The
            // member still has its leader.
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
