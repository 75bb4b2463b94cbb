import GroupCurl
import GroupSystemCalls

/// The endpoints of a cluster, in the order in which they are tried, and the token of the user.
final class EtcdConnection {
    let configuration: EtcdConfiguration
    let canceller: CurlCanceller
    let transfer: CurlTransfer
    /// The endpoints in the order in which the next call tries them. An endpoint that has failed is moved to the end.
    private(set) var order: [String]
    private var token: String?
    /// Whether etcd has answered that its authentication is off. If etcd requires a token later, one is requested.
    private var hasNoUsers = false

    static let largestResponse = 64 << 20
    private static let longestToken = 4_096

    init(_ configuration: EtcdConfiguration, _ canceller: CurlCanceller) {
        self.configuration = configuration
        self.canceller = canceller
        transfer = CurlTransfer(canceller)
        order = configuration.endpoints
    }

    /// Moves an endpoint to the end of `order`.
    func demote(_ endpoint: String) {
        guard let index = order.firstIndex(of: endpoint) else { return }
        order.append(order.remove(at: index))
    }

    /// Sends a request to one endpoint after the other until there is an answer, and decodes the answer.
    ///
    /// - Parameter isRepeatable: whether a second execution of the request does no harm, so that the request may be
    ///   sent again when it was perhaps sent before.
    func call<Answer>(
        _ path: String, _ body: [UInt8], isRepeatable: Bool, _ decode: ([UInt8]) throws(EtcdFailure) -> Answer
    ) throws(EtcdFailure) -> Answer {
        try onEndpoints(isRepeatable: isRepeatable) { endpoint throws(EtcdFailure) in
            try decode(
                try self.authorized(endpoint) { fields throws(EtcdFailure) in
                    try self.request(
                        endpoint + path, .post(body), fields, limit: self.configuration.requestLimit)
                })
        }
    }

    /// Runs a call at one endpoint after the other, as long as `goesOn` allows another try.
    func onEndpoints<Answer>(
        isRepeatable: Bool, _ call: (_ endpoint: String) throws(EtcdFailure) -> Answer
    ) throws(EtcdFailure) -> Answer {
        var failures: [EtcdFailure] = []
        for endpoint in order {
            do throws(EtcdFailure) {
                return try call(endpoint)
            } catch {
                let failure = explained(error, endpoint)
                let goesOn = goesOn(after: failure, isRepeatable: isRepeatable)
                if goesOn || !failure.isSurelyNotWritten { demote(endpoint) }
                failures.append(failure)
                if !goesOn || canceller.isCancelled { break }
            }
        }
        throw Self.summary(failures)
    }

    private func goesOn(after failure: EtcdFailure, isRepeatable: Bool) -> Bool {
        switch failure {
        case .unreachable, .noGateway: true
        case .noAnswer, .malformed: isRepeatable
        case .denied: failure.refusal == .certificate
        case .refused(let code, _): failure.isOfTheMember || (code == 14 && isRepeatable)
        case .noSpace, .compacted: false
        }
    }

    /// Returns the failure of the whole call: the last one that concerns the whole cluster; if there is none, the last
    /// one of an endpoint that has answered; and if there is none either, one with the texts of all endpoints.
    private static func summary(_ failures: [EtcdFailure]) -> EtcdFailure {
        let answered = failures.filter { if case .unreachable = $0 { false } else { true } }
        if let failure = answered.last(where: { !isOfOneEndpoint($0) }) ?? answered.last { return failure }
        let texts = failures.map { if case .unreachable(let text) = $0 { text } else { "" } }
        return .unreachable(texts.joined(separator: "; "))
    }

    /// Returns whether a failure concerns only what is at one address, and not the whole cluster.
    private static func isOfOneEndpoint(_ failure: EtcdFailure) -> Bool {
        failure.refusal == .certificate || failure.refusal == .noGateway
    }

    /// Runs a call with the user's token. If etcd refuses the token, or requires one that was not sent, runs the call
    /// once more with a new token.
    func authorized<Answer>(
        _ endpoint: String, _ call: (_ fields: [String]) throws(EtcdFailure) -> Answer
    ) throws(EtcdFailure) -> Answer {
        guard configuration.user != nil else { return try call(Self.fields) }
        if token == nil && !hasNoUsers { try authenticate(endpoint) }
        do throws(EtcdFailure) {
            return try call(fields)
        } catch {
            // A token names an index of etcd's log, and a member with a shorter log does not refuse the token but waits
            // until its log has that index (`isValidSimpleToken` in etcd's auth/simple_token.go). A cluster that was
            // restored from a backup has a shorter log, so that each call with an old token would go unanswered.
            if case .noAnswer = error, !canceller.isCancelled { token = nil }
            guard error.isOfTheToken else { throw error }
            try authenticate(endpoint)
            return try call(fields)
        }
    }

    private var fields: [String] { Self.fields + (token.map { ["Authorization: " + $0] } ?? []) }

    /// The header field by which a member without a leader refuses a request at once. Without the field, the request
    /// waits for a leader.
    private static let fields = ["Grpc-Metadata-hasleader: true"]

    private func authenticate(_ endpoint: String) throws(EtcdFailure) {
        guard let user = configuration.user else { return }
        token = nil
        let body = EtcdRequestBytes.authenticate(user, try configuration.password())
        do throws(EtcdFailure) {
            let bytes = try request(
                endpoint + "/v3/auth/authenticate", .post(body), Self.fields, limit: configuration.requestLimit * 4)
            let answer = try EtcdAnswers.decode(EtcdAnswers.Authentication.self, bytes)
            // A token with a line break would add a field to the header.
            guard let token = answer.token, !token.isEmpty, token.utf8.count <= Self.longestToken,
                token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw EtcdFailure.malformed("an authentication without a token") }
            self.token = token
            hasNoUsers = false
        } catch {
            switch error {
            case .refused(9, let text) where text.contains("authentication is not enabled"): hasNoUsers = true
            // Only the authentication was perhaps sent, and the request itself was not.
            case .noAnswer(let text), .malformed(let text):
                throw canceller.isCancelled ? error : .unreachable("\(text), at the authentication")
            default: throw error
            }
        }
    }

    /// The additional time for each byte of a body that the system has accepted but perhaps not sent yet, in
    /// nanoseconds: that of a megabit a second.
    private static let nanosecondsForByte: Int64 = 8_000
    /// The number of limits after which a request ends even if it always makes progress.
    private static let longest = 60

    /// The method of a request, with the body of a POST.
    enum Request {
        case get
        case post([UInt8])
    }

    /// Sends one request and returns the body of its answer. The request fails after `limit` without progress.
    func request(_ url: String, _ request: Request, _ fields: [String], limit: Duration) throws(EtcdFailure) -> [UInt8]
    {
        let ending = try perform(url, request, fields, limit: limit)
        switch ending {
        case .answered(status: 200): return transfer.takeReceived()
        case .answered(let status): throw Self.failure(status: status, transfer.takeReceived())
        case .closed, .failed, .tooLarge, .untrusted: break
        }
        let failure = failure(ending, url)
        if case .closed = ending, try speaksTLS(url) { throw .noGateway("it speaks TLS; write https instead of http") }
        throw failure
    }

    /// Returns whether there is a server for TLS at an address with `http://`. etcd closes the connection of a client that
    /// does not speak TLS, without an answer.
    private func speaksTLS(_ url: String) throws(EtcdFailure) -> Bool {
        guard url.hasPrefix("http://"), let host = url.dropFirst(7).split(separator: "/").first else { return false }
        return switch try perform("https://\(host)/version", .get, [], limit: configuration.requestLimit) {
        case .answered, .untrusted, .tooLarge: true
        case .failed, .closed: false
        }
    }

    /// Sends one request, and returns how it ended: with `failed`, too, after `limit` without progress. Error: `noAnswer`
    /// where the client is cancelled
    private func perform(
        _ url: String, _ request: Request, _ fields: [String], limit: Duration
    ) throws(EtcdFailure) -> CurlTransfer.Ending {
        if canceller.isCancelled { throw Self.cancelled }
        let body = if case .post(let body) = request { body } else { [UInt8]() }
        var isGet = false
        if case .get = request { isGet = true }
        var ending = transfer.begin(
            CurlTransfer.Request(
                url: url, fields: fields, body: body, isGet: isGet, limit: limit,
                authorityFile: configuration.authorityFile, largest: configuration.largestAnswer))
        // The progress of bytes that the system has accepted cannot be seen, so the time for them depends on their
        // number.
        let sending = body.count > Self.small ? Int64(body.count) * Self.nanosecondsForByte : 0
        let begin = awakeNanoseconds()
        var (progress, last) = (0, begin + sending)
        while ending == nil {
            let now = awakeNanoseconds()
            if transfer.progress != progress { (progress, last) = (transfer.progress, max(last, now)) }
            let left = min(last + limit.nanoseconds, begin + sending + limit.nanoseconds * Int64(Self.longest)) - now
            if left <= 0 {
                transfer.finish()
                return .failed("nothing came for \(limit)")
            }
            ending = transfer.step(atMost: .nanoseconds(max(1_000_000, left)))
            if ending == nil && canceller.isCancelled {
                transfer.finish()
                throw Self.cancelled
            }
        }
        return ending ?? .failed("nothing")
    }

    /// The largest body without additional time, in bytes. Such a body is with the server at once.
    private static let small = 16 << 10

    static let cancelled = EtcdFailure.noAnswer("cancelled")

    /// Returns the failure of a request that has ended without an answer that can be used.
    func failure(_ ending: CurlTransfer.Ending, _ url: String) -> EtcdFailure {
        switch ending {
        case .answered(let status): .malformed("\(url): status \(status) of HTTP")
        case .failed(let reason), .closed(let reason):
            transfer.isSent ? .noAnswer("\(url): \(reason)") : .unreachable("\(url): \(reason)")
        case .untrusted(let reason): .denied("\(EtcdFailure.untrusted)\(url): \(reason)")
        case .tooLarge: .malformed("\(url): an answer of more than \(configuration.largestAnswer >> 20) MiB")
        }
    }
}
