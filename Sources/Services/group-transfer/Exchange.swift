import GroupCurl
import Transfers

/// One request of a transfer, and the head of its response.
final class Exchange {
    typealias Request = CurlExchange.Request
    typealias Outcome = CurlExchange.Outcome

    let http = CurlExchange()
    /// The head of the response; nil until its first line.
    private(set) var response: TransferResponse?

    init() {
        http.onHead = { [unowned self] line in TransferResponse.take(line, &response) }
    }
}
