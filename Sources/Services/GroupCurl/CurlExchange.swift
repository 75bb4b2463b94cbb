#if Curl
import CGroupCurl
#endif

/// One request of HTTP by libcurl, on the calling thread. Redirections are not followed: each is a request of its own.
package final class CurlExchange {
    package enum Outcome {
        /// The response is complete.
        case done
        /// The body could not be written, or is not wanted; `stopped` says which.
        case stopped
        /// The connection failed, or stood still.
        case failed(String, isPermanent: Bool)
    }

    package struct Request {
        package var url: String
        package var fields: [String] = []
        /// The length of the body to send, of which `onSource` returns the pieces; nil for a request without a body.
        package var length: UInt64?
        /// The time without a byte after which the connection is given up, in seconds.
        package var stall: Int

        package init(url: String, length: UInt64? = nil, stall: Int) {
            self.url = url
            self.length = length
            self.stall = stall
        }
    }

    /// The address of a redirection.
    package private(set) var redirection: String?
    /// Called with each line of the response's head.
    package var onHead: (String) -> Void = { _ in }
    /// Called with each piece of the body; returns whether to go on.
    package var onBody: (Span<UInt8>) -> Bool = { _ in true }
    /// Called about once a second and with each piece; returns whether to go on.
    package var onProgress: (_ sent: UInt64) -> Bool = { _ in true }
    /// Returns the next piece of the body, of at most that many bytes; empty at the end, nil for a failure.
    package var onSource: (Int) -> [UInt8]? = { _ in nil }

    package init() {}

    #if Curl
    /// The largest head that is kept, in bytes.
    private static let largestHead = 65_536
    private var headSize = 0

    package func perform(_ request: Request) -> Outcome {
        guard CurlLibrary.isPrepared, let handle = unsafe curl_easy_init() else {
            return .failed("libcurl cannot be used", isPermanent: true)
        }
        defer { unsafe curl_easy_cleanup(handle) }
        var errors = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        var list: UnsafeMutablePointer<curl_slist>?
        for field in request.fields + ["Accept-Encoding: identity", "Expect:"] {
            unsafe list = curl_slist_append(list, field)
        }
        defer { unsafe curl_slist_free_all(list) }
        unsafe group_curl_set_text(handle, CURLOPT_URL, request.url)
        unsafe group_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        unsafe group_curl_set_list(handle, CURLOPT_HTTPHEADER, list)
        unsafe group_curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        unsafe group_curl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        unsafe group_curl_set_number(handle, CURLOPT_CONNECTTIMEOUT, 30)
        unsafe group_curl_set_number(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
        unsafe group_curl_set_number(handle, CURLOPT_LOW_SPEED_TIME, request.stall)
        unsafe group_curl_set_number(handle, CURLOPT_BUFFERSIZE, 512 << 10)
        if let length = request.length {
            unsafe group_curl_set_number(handle, CURLOPT_UPLOAD, 1)
            unsafe group_curl_set_size(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(clamping: length))
        }
        unsafe group_curl_set_calls(
            handle,
            { bytes, size, count, context in unsafe CurlExchange.of(context)?.header(bytes, size * count) ?? 0 },
            { bytes, size, count, context in unsafe CurlExchange.of(context)?.body(bytes, size * count) ?? 0 },
            { bytes, size, count, context in
                guard let exchange = unsafe CurlExchange.of(context), let bytes = unsafe bytes else {
                    return CurlExchange.abort
                }
                return unsafe exchange.read(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            },
            { context, _, _, _, sent in
                unsafe CurlExchange.of(context)?.onProgress(UInt64(clamping: sent)) == true ? 0 : 1
            },
            unsafe Unmanaged.passUnretained(self).toOpaque())
        let code = unsafe errors.withUnsafeMutableBufferPointer { buffer in
            unsafe group_curl_set_errors(handle, buffer.baseAddress)
            let code = unsafe curl_easy_perform(handle)
            unsafe group_curl_set_errors(handle, nil)
            return code
        }
        if let url = unsafe group_curl_redirect(handle) { redirection = unsafe String(cString: url) }
        switch code {
        case CURLE_OK: return .done
        case CURLE_WRITE_ERROR where headSize > Self.largestHead:
            return .failed("the head of the response has more than \(Self.largestHead) bytes", isPermanent: false)
        case CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK: return .stopped
        default:
            let text = String(decoding: errors.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let reason = text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
            let permanent = [
                CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_PEER_FAILED_VERIFICATION,
                CURLE_SSL_CACERT_BADFILE,
            ]
            return .failed(reason, isPermanent: permanent.contains(code))
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlExchange? {
        unsafe context.map { unsafe Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    private func header(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes = unsafe bytes else { return 0 }
        headSize += count
        if headSize > Self.largestHead { return 0 }
        let raw = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        onHead(unsafe String(decoding: raw, as: UTF8.self))
        return count
    }

    private func body(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes = unsafe bytes else { return 0 }
        let raw = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        let piece = unsafe raw.bindMemory(to: UInt8.self)
        return unsafe onBody(piece.span) ? count : (count == 0 ? 1 : 0)
    }

    private func read(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard let piece = onSource(room.count), piece.count <= room.count else { return Self.abort }
        unsafe room.copyBytes(from: piece)
        return piece.count
    }

    /// CURL_READFUNC_ABORT
    private static let abort = 0x1000_0000
    #else
    /// Fails: this package was built without the trait `Curl`.
    package func perform(_ request: Request) -> Outcome { .failed(CurlLibrary.isMissing, isPermanent: true) }
    #endif
}
