#if Curl
import CGroupCurl
#endif
import GroupSystemCalls

#if Curl
/// Requests of HTTP by libcurl, one after the other, on connections that are kept. A request is begun, and then stepped
/// on, by the calling thread. Redirections are not followed, and proxies are not used.
@safe package final class CurlTransfer {
    private let easy: UnsafeMutableRawPointer?
    private let multi: UnsafeMutableRawPointer?
    private let canceller: CurlCanceller
    private var list: UnsafeMutablePointer<curl_slist>?
    private let errors: UnsafeMutablePointer<CChar>
    private var isActive = false

    private var source: [UInt8] = []
    private var sourceOffset = 0
    private var isOpen = false
    private var isPaused = false
    private var largest = 0
    private var isTooLarge = false

    /// The body of the response as far as it has not been taken.
    package private(set) var received: [UInt8] = []
    /// Whether a part of the request's body was handed to the network. Without its body no server acts on a request.
    package private(set) var isSent = false

    package init(_ canceller: CurlCanceller) {
        self.canceller = canceller
        let isPrepared = CurlLibrary.isPrepared
        unsafe easy = isPrepared ? curl_easy_init() : nil
        unsafe multi = isPrepared ? curl_multi_init() : nil
        unsafe errors = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errors.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe canceller.setHandle(multi)
    }

    deinit {
        unsafe canceller.setHandle(nil)
        finish()
        withoutBrokenPipeSignals {
            if let easy = unsafe easy { unsafe curl_easy_cleanup(easy) }
            if let multi = unsafe multi { unsafe _ = curl_multi_cleanup(multi) }
        }
        unsafe errors.deallocate()
    }

    /// Begins a request; nil, or why it cannot begin.
    package func begin(_ request: Request) -> Ending? {
        finish()
        guard let easy = unsafe easy, let multi = unsafe multi else { return .failed("libcurl cannot be used") }
        (source, sourceOffset, isOpen, isPaused) = (request.body, 0, request.isOpen, false)
        (received, largest, isTooLarge, isSent) = ([], request.largest, false, false)
        unsafe curl_easy_reset(easy)
        var fields = request.fields + ["Content-Type: application/json", "Accept-Encoding: identity", "Expect:"]
        // Go's server answers while the body is still open only on a connection that ends with the request.
        if isOpen { fields += ["Transfer-Encoding: chunked", "Connection: close"] }
        for field in fields { unsafe list = curl_slist_append(list, field) }
        let limit = Int(clamping: max(1, request.limit.nanoseconds / 1_000_000))
        unsafe errors.pointee = 0
        unsafe group_curl_set_errors(easy, errors)
        unsafe group_curl_set_text(easy, CURLOPT_URL, request.url)
        unsafe group_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        unsafe group_curl_set_text(easy, CURLOPT_PROXY, "")
        unsafe group_curl_set_list(easy, CURLOPT_HTTPHEADER, list)
        unsafe group_curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
        unsafe group_curl_set_number(easy, CURLOPT_FOLLOWLOCATION, 0)
        unsafe group_curl_set_number(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        unsafe group_curl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, limit)
        if isOpen {
            unsafe group_curl_set_number(easy, CURLOPT_FORBID_REUSE, 1)
            unsafe group_curl_set_number(easy, CURLOPT_FRESH_CONNECT, 1)
        } else {
            unsafe group_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(source.count))
        }
        unsafe group_curl_close_on_exec(easy)
        unsafe group_curl_leave_lookups(easy)
        unsafe group_curl_set_number(easy, CURLOPT_TCP_KEEPALIVE, 1)
        unsafe group_curl_set_number(easy, CURLOPT_TCP_KEEPIDLE, 10)
        unsafe group_curl_set_number(easy, CURLOPT_TCP_KEEPINTVL, 5)
        unsafe group_curl_set_number(easy, CURLOPT_BUFFERSIZE, 256 << 10)
        unsafe group_curl_set_number(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256 << 10)
        if let file = request.authorityFile {
            unsafe group_curl_set_text(easy, CURLOPT_CAINFO, file)
            // The system's authorities are in a directory.
            unsafe group_curl_set_text(easy, CURLOPT_CAPATH, nil)
        }
        unsafe group_curl_set_number(easy, request.isGet ? CURLOPT_HTTPGET : CURLOPT_POST, 1)
        // With a function for the body and none to rewind it, libcurl does not repeat by itself a request that it has
        // sent on a kept connection: CURLE_SEND_FAIL_REWIND. It does so with CURLOPT_POSTFIELDS.
        unsafe group_curl_set_bodies(
            easy,
            { bytes, size, count, context in unsafe CurlTransfer.of(context)?.take(bytes, size * count) ?? 0 },
            { bytes, size, count, context in
                guard let transfer = unsafe CurlTransfer.of(context), let bytes = unsafe bytes else {
                    return CurlTransfer.abort
                }
                return unsafe transfer.give(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            },
            unsafe Unmanaged.passUnretained(self).toOpaque())
        guard unsafe curl_multi_add_handle(multi, easy) == CURLM_OK else { return .failed("libcurl cannot be used") }
        isActive = true
        return nil
    }

    /// Does what can be done, and waits for the network if that was nothing: until something comes, the canceller wakes
    /// this thread, or the time is over. Returns how the request ended, or nil as long as it goes on.
    package func step(atMost limit: Duration) -> Ending? {
        guard isActive, let multi = unsafe multi else { return .failed("no request is going on") }
        let before = received.count
        if let ending = unsafe perform(multi) { return ending }
        // After the whole answer, or the beginning of a refusal, libcurl drops what of the body is to come, but waits
        // on for the end of its pause.
        if isPaused {
            goOnSending()
            if let ending = unsafe perform(multi) { return ending }
        }
        if received.count != before { return nil }
        let milliseconds = Int32(clamping: max(0, limit.nanoseconds / 1_000_000))
        unsafe _ = curl_multi_poll(multi, nil, 0, milliseconds, nil)
        return nil
    }

    /// Appends to an open body.
    package func send(_ bytes: [UInt8]) {
        guard isActive, isOpen else { return }
        source.removeFirst(sourceOffset)
        sourceOffset = 0
        source += bytes
        if isPaused { goOnSending() }
    }

    private func perform(_ multi: UnsafeMutableRawPointer) -> Ending? {
        var running: Int32 = 0
        return ending(withoutBrokenPipeSignals { unsafe curl_multi_perform(multi, &running) })
    }

    private func goOnSending() {
        guard let easy = unsafe easy else { return }
        isPaused = false
        withoutBrokenPipeSignals { unsafe _ = curl_easy_pause(easy, CURLPAUSE_CONT) }
    }

    /// How many bytes of the body were handed to the network, and how many of the answer have come.
    package var progress: Int { sourceOffset + received.count }

    /// Whether bytes of an open body wait to be sent.
    package var isSending: Bool { sourceOffset < source.count }

    /// Removes the response, and returns it.
    package func takeReceived() -> [UInt8] {
        defer { received = [] }
        return received
    }

    /// Ends the request, if one is going on; its connection, too, if it was not complete.
    package func finish() {
        if isActive, let easy = unsafe easy, let multi = unsafe multi {
            withoutBrokenPipeSignals { unsafe _ = curl_multi_remove_handle(multi, easy) }
        }
        isActive = false
        source = []
        sourceOffset = 0
        unsafe curl_slist_free_all(list)
        unsafe list = nil
    }

    /// Returns how the request ended, if it has.
    private func ending(_ code: CURLMcode) -> Ending? {
        guard code == CURLM_OK, let multi = unsafe multi, let easy = unsafe easy else {
            return .failed("libcurl failed")
        }
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let result = unsafe message.pointee.data.result
            var status = 0
            unsafe group_curl_status(easy, &status)
            // The error's text lives as long as the handle has the buffer.
            let text = unsafe String(cString: errors)
            let reason = unsafe text.isEmpty ? String(cString: curl_easy_strerror(result)) : text
            finish()
            if isTooLarge { return .tooLarge }
            switch result {
            case CURLE_OK: return .answered(status: status)
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
                CURLE_SSL_ISSUER_ERROR:
                return .untrusted(reason)
            case CURLE_SEND_FAIL_REWIND: return .failed("the connection ended before the answer")
            case CURLE_GOT_NOTHING, CURLE_RECV_ERROR: return .closed(reason)
            default: return .failed(reason)
            }
        }
        return nil
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes = unsafe bytes else { return 0 }
        if received.count + count > largest {
            isTooLarge = true
            return count == 0 ? 1 : 0
        }
        unsafe received.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    private func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(room.count, source.count - sourceOffset)
        if count == 0 {
            guard isOpen else { return 0 }
            isPaused = true
            return Self.pause
        }
        isSent = true
        unsafe source.withUnsafeBytes { bytes in
            unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sourceOffset..<sourceOffset + count]))
        }
        sourceOffset += count
        return count
    }

    /// CURL_READFUNC_ABORT and CURL_READFUNC_PAUSE
    private static let abort = 0x1000_0000
    private static let pause = 0x1000_0001
}
#else
/// Requests of HTTP, each of which fails: this package was built without the trait `Curl`.
package final class CurlTransfer {
    package let received: [UInt8] = []
    package let isSent = false
    package let progress = 0
    package let isSending = false

    package init(_ canceller: CurlCanceller) {}
    package func begin(_ request: Request) -> Ending? { .failed(CurlLibrary.isMissing) }
    package func step(atMost limit: Duration) -> Ending? { .failed(CurlLibrary.isMissing) }
    package func send(_ bytes: [UInt8]) {}
    package func takeReceived() -> [UInt8] { [] }
    package func finish() {}
}
#endif

extension CurlTransfer {
    package struct Request {
        package var url: String
        /// Fields of the header. They may have a secret, and are in no text of an error.
        package var fields: [String] = []
        package var body: [UInt8]
        /// Whether more of the body comes later, by `send`. The connection is the request's own then.
        package var isOpen = false
        /// Whether the request is a GET, without a body; otherwise it is a POST.
        package var isGet = false
        /// The limit of the connection. That of the request is the caller's business.
        package var limit: Duration
        package var authorityFile: String?
        /// The largest response that is kept until it is taken.
        package var largest: Int

        package init(
            url: String, fields: [String] = [], body: [UInt8], isOpen: Bool = false, isGet: Bool = false,
            limit: Duration, authorityFile: String?, largest: Int
        ) {
            self.url = url
            self.fields = fields
            self.body = body
            self.isOpen = isOpen
            self.isGet = isGet
            self.limit = limit
            self.authorityFile = authorityFile
            self.largest = largest
        }
    }

    package enum Ending: Equatable {
        case answered(status: Int)
        /// Whether the server was reached is `isSent`'s business.
        case failed(String)
        /// The server has closed the connection before the answer was complete.
        case closed(String)
        /// The certificate, or that of the authority, is not right.
        case untrusted(String)
        /// The response is larger than the request allows.
        case tooLarge
    }
}

#if Curl
import CGroupCurl
#endif
import GroupSystemCalls

/// Ends the requests of a `CurlTransfer` from any thread.
package final class CurlCanceller: Sendable {
    @safe private struct State {
        /// Wakes the thread that waits for the network; nil after the handle has ended.
        var wake: UnsafeMutableRawPointer?
        var isCancelled = false
    }
    private let state = Guarded(State())

    package init() {}

    /// Ends the call that is going on, and all later ones.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            unsafe Self.wake(state.wake)
        }
    }

    package var isCancelled: Bool { state.withLock { state in state.isCancelled } }

    /// Sets what is woken; nil before it ends.
    func setHandle(_ handle: UnsafeMutableRawPointer?) { state.withLock { state in unsafe state.wake = handle } }

    private static func wake(_ handle: UnsafeMutableRawPointer?) {
        #if Curl
        if let handle = unsafe handle { unsafe _ = curl_multi_wakeup(handle) }
        #endif
    }
}
